//! The status of each injection target: whether its `caBundle` verifies the certificate that this replica serves.

use std::fmt;

use crate::config::ServiceName;

/// The status of an entry with a `caBundle`, or of an object without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetStatus {
    /// The object, as kind and name.
    pub object: String,
    /// The entry in it; `None` where the whole object is meant.
    pub entry: Option<String>,
    /// Its state.
    pub state: TargetState,
}

/// The state of an injection target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetState {
    /// Its `caBundle` verifies the certificate that this replica serves.
    Trusts,
    /// Its `caBundle` doesn't verify it.
    Refuses,
    /// Its `caBundle` is empty.
    Empty,
    /// There is no such object.
    Absent,
    /// It is a CRD whose conversion stanza was changed or removed.
    Unconverted,
    /// It is a CRD that another Service converts until replicas of ours can.
    ConvertedBy(ServiceName),
    /// It is not ours to write.
    NotOurs(NotOurs),
}

/// Why an entry is not ours to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOurs {
    /// It has our labels, but another name.
    OtherName,
    /// It calls a URL.
    Url,
    /// It calls another Service than ours.
    OtherService(ServiceName),
    /// It converts in another way than by a webhook.
    NoWebhook,
}

impl fmt::Display for TargetStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.object)?;
        if let Some(entry) = &self.entry {
            write!(f, " ({entry})")?;
        }
        match &self.state {
            TargetState::Trusts => f.write_str(" has a caBundle that verifies this replica's certificate"),
            TargetState::Refuses => f.write_str(" has a caBundle that doesn't verify this replica's certificate"),
            TargetState::Empty => f.write_str(" has no caBundle yet"),
            TargetState::Absent => f.write_str(" is not there; it is waited for"),
            TargetState::Unconverted => f.write_str(" lacks our conversion stanza, which is restored"),
            TargetState::ConvertedBy(service) => {
                write!(
                    f,
                    " is converted by the Service {service} until replicas of this release have been ready a while"
                )
            }
            TargetState::NotOurs(why) => write!(f, " {why}"),
        }
    }
}

impl fmt::Display for NotOurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherName => f.write_str("carries our labels but is not ours to write: its name is another"),
            Self::Url => f.write_str("is not ours to write: it calls a URL"),
            Self::OtherService(service) => write!(f, "is not ours to write: it calls the Service {service}"),
            Self::NoWebhook => f.write_str("is not ours to write: it names no webhook for conversion"),
        }
    }
}
