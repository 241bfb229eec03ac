//! Conversion through the webhooks: what stays, what moves, and what is said where it can't be done.
// A helper of tests may panic: that is how a test fails.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, clippy::doc_markdown)]

mod carrying;
mod hostile;
mod long;
mod prefixes;
mod reviewing;
mod shop;
