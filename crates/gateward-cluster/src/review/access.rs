//! The outcome of an access review.

/// The outcome of an access review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// It is allowed.
    Granted,
    /// There is no token, or it isn't authenticated (401).
    Unauthenticated,
    /// Its owner is known and may not (403).
    Forbidden,
    /// The API server couldn't be asked, with the reason (503).
    Unknown(String),
}
