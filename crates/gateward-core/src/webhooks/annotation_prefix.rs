//! What the keys of all annotations and labels begin with that are written for the operator.
//!
//! Follows <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set>.

use std::borrow::Cow;
use std::sync::Arc;

use crate::conversion::keys::ConversionKeys;
use crate::dns::is_subdomain;
use crate::webhooks::Webhooks;
use crate::webhooks::error::WebhooksError;

/// The longest prefix. One value of a label is made of it, and such values have at most 63 characters.
const LONGEST: usize = 50;

/// What groups and keys of Kubernetes itself end with.
const RESERVED: [&str; 2] = ["k8s.io", "kubernetes.io"];

impl Webhooks {
    /// What the keys of all annotations and labels begin with that are written for the operator, whether into the objects
    /// of its users or its own: `otter.example.org` makes `otter.example.org/preserved`.
    ///
    /// Without this it is the group of the first kind whose group is the operator's own. Objects in clusters keep the keys
    /// that they have, so an operator with kinds of several groups had better say it before its first release.
    pub fn with_annotation_prefix(mut self, prefix: impl Into<Cow<'static, str>>) -> Self {
        self.annotation_prefix = Some(prefix.into());
        self.name_keys();
        self
    }

    /// What the keys of annotations and labels begin with; `None` where it isn't said and no kind is of a group of the
    /// operator's own.
    pub fn annotation_prefix(&self) -> Option<&str> {
        let mut groups = self.declarations().map(|declared| declared.hub.group.as_str());
        self.annotation_prefix.as_deref().or_else(|| groups.find(|group| is_own(group)))
    }

    /// Tells all kinds the keys that follow from the prefix.
    pub(super) fn name_keys(&mut self) {
        let Some(keys) = self.annotation_prefix().map(|prefix| Arc::new(ConversionKeys::of(prefix))) else { return };
        for kind in &mut self.kinds {
            kind.use_keys(&keys);
        }
    }

    /// What is wrong with the prefix.
    pub(super) fn annotation_prefix_problem(&self) -> Option<WebhooksError> {
        let Some(prefix) = self.annotation_prefix() else {
            let converted = self.declarations().find(|declared| declared.converts())?;
            return Some(WebhooksError::NoAnnotationPrefix { kind: converted.hub.to_string() });
        };
        let problem = match () {
            () if !is_subdomain(prefix) => "must be a domain in lower case",
            () if prefix.len() > LONGEST => "must have at most 50 characters",
            () if is_reserved(prefix) => "is reserved for Kubernetes itself",
            () => return self.taken_annotation(),
        };
        Some(WebhooksError::BadAnnotationPrefix { prefix: prefix.to_owned(), problem })
    }

    fn taken_annotation(&self) -> Option<WebhooksError> {
        self.declarations().find_map(|declared| {
            let (kind, annotation) = (declared.hub.to_string(), declared.taken_annotation()?.to_owned());
            Some(WebhooksError::AnnotationTaken { kind, annotation })
        })
    }
}

/// Whether a group can be an operator's own: that of a CRD has a dot, which few of the API server's own have.
fn is_own(group: &str) -> bool {
    group.contains('.') && !is_reserved(group)
}

fn is_reserved(domain: &str) -> bool {
    RESERVED.iter().any(|end| domain.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_kubernetes_are_nobody_s_own() {
        for group in ["", "apps", "batch", "networking.k8s.io", "k8s.io", "kubernetes.io", "node.kubernetes.io"] {
            assert!(!is_own(group), "{group}");
        }
        for group in ["stable.example.com", "webhook.dev", "nok8s.io", "k8s.io.example.org"] {
            assert!(is_own(group), "{group}");
        }
    }
}
