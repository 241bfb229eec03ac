#![doc = include_str!("../docs/manual.md")]
