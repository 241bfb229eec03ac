//! What a body may cost, whatever is in it: memory of at most 12 times the body and 16 MB, the answer included, and CPU
//! of at most 2 ms, 150 ms a megabyte, and 0.1 ms an object of a ConversionReview.
//!
//! Both are asked of the released code: `make test-cost`. `EVERY_SHAPE` set asks about all hostile parts instead of the
//! worst. `COST_SECONDS` says how long the fuzzer draws, `PROPTEST_RNG_SEED` what.

#![allow(clippy::unwrap_used, reason = "a test")]

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
