//! The listeners, as metrics and the log name them.

/// A listener, as metrics and the log name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// Reviews.
    Webhooks,
    /// Probes.
    Health,
    /// Metrics.
    Metrics,
}

impl Port {
    pub(crate) const ALL: [Self; 3] = [Self::Webhooks, Self::Health, Self::Metrics];

    /// The word that metrics and the log use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhooks => "webhooks",
            Self::Health => "health",
            Self::Metrics => "metrics",
        }
    }
}
