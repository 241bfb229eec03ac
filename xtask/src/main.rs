//! Generates what is kept in the repository and measures its shape.
fn main() {}
