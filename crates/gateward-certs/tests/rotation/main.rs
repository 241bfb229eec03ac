//! The CA rotation, on a cluster in memory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod cluster;
mod leader;
mod model;
mod scenarios;
