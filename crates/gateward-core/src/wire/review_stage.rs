//! What a review is for.

/// What a path is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Review {
    /// A validating AdmissionReview.
    Validate,
    /// A mutating AdmissionReview.
    Mutate,
    /// A ConversionReview.
    Convert,
}

impl Review {
    /// The word that log lines and metrics use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Mutate => "mutate",
            Self::Convert => "convert",
        }
    }
}
