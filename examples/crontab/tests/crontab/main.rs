//! What the operator promises: its rules, its conversion, what it installs.

mod cluster;
mod installed;
mod objects;
mod rules;
mod versions;
