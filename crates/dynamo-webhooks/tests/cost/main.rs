//! What a body may cost, whatever is in it: memory of at most 12 times the body and 16 MB, the answer included, and CPU
//! of at most 2 ms, and 150 ms a megabyte.
//!
//! Both are asked of the released code: `make test-cost`. `EVERY_SHAPE` set asks about all hostile parts instead of the
//! worst. `COST_SECONDS` says how long the fuzzer draws, `PROPTEST_RNG_SEED` what. `COST_KEEP` names a directory
//! for the bodies that take more than their share in this build.

#![allow(clippy::unwrap_used, reason = "a test")]

mod dear;
mod document;
mod fuzz;
mod hostile;
mod input;
mod lists;
mod meter;
mod random;
mod seeds;
mod shape;
mod step;
mod target;
