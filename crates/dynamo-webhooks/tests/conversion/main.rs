//! Conversion of the Dynamo kinds, end to end: the rule book's cases and ours (staged edits are those with `edit`), the
//! published manifests, and the two promises of a round trip on arbitrary objects.
//!
//! `PROPTEST_CASES` sets the number of objects of each property, `PROPTEST_RNG_SEED` which ones.

#![allow(clippy::unwrap_used, clippy::panic, clippy::needless_pass_by_value, reason = "a test")]

mod case;
mod cases;
#[path = "../support/corpus.rs"]
mod corpus;
mod documents;
mod kinds;
mod limit;
mod manifests;
mod meaning;
mod properties;
mod required;
mod small;
mod stashes;
