//! The likeliest mistakes of an operator author, and what the compiler says about them.
//!
//! The texts are those of the toolchain that the repository pins; `TRYBUILD=overwrite cargo test --test mistakes` writes
//! them anew, to be read before they are committed.

#[test]
fn the_compiler_says_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
