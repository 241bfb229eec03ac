//! The gateward binary.
fn main() {}
