//! Changes of the good bundle.

/// One change of the good bundle.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// The first occurrence of a text in a file, by another.
    Replace(&'static str, &'static str, &'static str),
    /// A further file.
    Add(&'static str, &'static str),
    /// A file less.
    Remove(&'static str),
    /// A file that is longer by 4 MiB.
    Pad(&'static str),
}

/// The id of a rule, and changes that break it.
pub(super) type Broken = (&'static str, &'static [Change]);
