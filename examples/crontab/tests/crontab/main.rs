//! What the operator promises: its rules, its conversion, what it installs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod cluster;
mod installed;
mod names;
mod objects;
mod rules;
mod server;
mod versions;
