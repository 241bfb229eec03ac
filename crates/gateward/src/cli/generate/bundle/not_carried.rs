//! What is declared and has no place in a bundle.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

/// Something that is declared and has no place in a bundle.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NotCarried {
    /// A webhook's `namespaceSelector`.
    NamespaceSelector { webhook: String, selector: Value },
    /// A webhook's `matchConditions`.
    MatchConditions { webhook: String, names: Vec<String> },
    /// Another member of a webhook.
    Member { webhook: String, member: String },
    /// The conversion of a kind without a CRD.
    Conversion { kind: String },
    /// A sample of a kind that isn't the operator's, or of a version that isn't served.
    Sample { file: PathBuf, kind: String },
}

impl fmt::Display for NotCarried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NamespaceSelector { webhook, selector } => write!(
                f,
                "{webhook}: namespaceSelector {selector}: OLM selects the namespaces of the OperatorGroup; a selection of \
                 objects (.object_selector) is carried"
            ),
            Self::MatchConditions { webhook, names } => write!(
                f,
                "{webhook}: matchConditions {}: a webhook description has none, so the webhook is called for all objects; \
                 have the handler pass what it shouldn't judge",
                names.join(", ")
            ),
            Self::Member { webhook, member } => write!(f, "{webhook}: {member}: a webhook description has none"),
            Self::Conversion { kind } => {
                write!(f, "the conversion of {kind}: the operator has no CRD of it; give it one with .crd")
            }
            Self::Sample { file, kind } => {
                write!(f, "{}: {kind} is not a kind of the operator's CRDs in a served version", file.display())
            }
        }
    }
}
