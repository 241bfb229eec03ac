//! The stretches of a document in which white space has a meaning of its own.

use std::ops::Range;

use granit_parser::ScalarStyle;

/// A stretch of a chunk, by its own offsets.
pub(super) struct Region {
    pub(super) bytes: Range<usize>,
    pub(super) style: RegionStyle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegionStyle {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Block,
    Flow,
}

impl RegionStyle {
    pub(super) fn of(style: ScalarStyle) -> Self {
        match style {
            ScalarStyle::Plain => RegionStyle::Plain,
            ScalarStyle::SingleQuoted => RegionStyle::SingleQuoted,
            ScalarStyle::DoubleQuoted => RegionStyle::DoubleQuoted,
            ScalarStyle::Literal | ScalarStyle::Folded => RegionStyle::Block,
        }
    }
}
