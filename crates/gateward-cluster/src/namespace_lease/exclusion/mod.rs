//! The selector expression by which our own webhooks leave claimed namespaces out, at the API server too.
//!
//! It is an expression of its own beside those of the chart, known by a value that no namespace can have as its name.

use std::collections::BTreeSet;

use gateward_core::{Operation, Review, ReviewSubject};
use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation, TestOperation};
use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use serde_json::json;

use super::claims::{ClaimState, Claims};
use super::webhook::NAMESPACE_NAME;
use crate::config::ClaimedNamespaces;

/// The value that marks the expression, by the prefix of the operator's labels. A namespace's name has no dots.
pub(crate) fn marker(prefix: &str) -> String {
    format!("claimed.{prefix}")
}

/// What our webhooks leave out.
pub(crate) struct ExcludedClaims<'a> {
    pub(crate) claims: &'a Claims,
    pub(crate) setting: ClaimedNamespaces,
    pub(crate) marker: &'a str,
}

/// The most namespaces that are left out: objects have a limit, and so has what each request is compared with.
const MOST: usize = 500;

/// One of our own webhook configurations, as far as selectors go.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnConfiguration {
    pub(crate) review: Review,
    pub(crate) name: String,
    pub(crate) resource_version: String,
    pub(crate) webhooks: Vec<OwnWebhook>,
}

/// An entry of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnWebhook {
    pub(crate) name: String,
    pub(crate) rules: Vec<RuleWithOperations>,
    pub(crate) selector: LabelSelector,
}

impl OwnConfiguration {
    /// The patch that has each entry leave out what is claimed of it; `None` if they do already. It fails if the object
    /// has changed since it was read.
    pub(crate) fn patch(&self, exclusion: &ExcludedClaims<'_>) -> Option<Patch> {
        let mut operations = vec![test("/metadata/resourceVersion", &self.resource_version)?];
        for (index, webhook) in self.webhooks.iter().enumerate() {
            let wanted = match exclusion.setting {
                ClaimedNamespaces::Called => BTreeSet::new(),
                ClaimedNamespaces::Excluded => webhook.claimed(self.review, exclusion.claims),
            };
            if let Some(selector) = webhook.selector_without(&wanted, exclusion.marker) {
                operations.push(test(&format!("/webhooks/{index}/name"), &webhook.name)?);
                let path = PointerBuf::parse(format!("/webhooks/{index}/namespaceSelector")).ok()?;
                operations.push(PatchOperation::Add(AddOperation { path, value: json!(selector) }));
            }
        }
        (operations.len() > 1).then_some(Patch(operations))
    }
}

impl OwnWebhook {
    /// The namespaces in which every request of every rule is claimed.
    fn claimed(&self, review: Review, claims: &Claims) -> BTreeSet<String> {
        let counted = claims.namespaces().filter(|(_, claim)| claim.state == ClaimState::Counted);
        let whole = counted.map(|(namespace, _)| namespace).filter(|namespace| {
            !self.rules.is_empty() && self.rules.iter().all(|rule| is_claimed(rule, review, namespace, claims))
        });
        whole.map(str::to_owned).take(MOST).collect()
    }

    /// The selector with our expression as it should be; `None` if it is.
    fn selector_without(&self, claimed: &BTreeSet<String>, marker: &str) -> Option<LabelSelector> {
        let present = self.selector.match_expressions.as_deref().unwrap_or_default();
        let mut expressions: Vec<_> =
            present.iter().filter(|expression| !is_ours(expression, marker)).cloned().collect();
        if !claimed.is_empty() {
            let values = std::iter::once(marker.to_owned()).chain(claimed.iter().cloned()).collect();
            let (key, operator) = (NAMESPACE_NAME.to_owned(), "NotIn".to_owned());
            expressions.push(LabelSelectorRequirement { key, operator, values: Some(values) });
        }
        let match_labels = self.selector.match_labels.clone();
        let differs = expressions != present;
        differs.then_some(LabelSelector { match_labels, match_expressions: Some(expressions) })
    }
}

/// Whether everything that a rule of ours calls for in a namespace is claimed. A rule that says "all" is never.
fn is_claimed(rule: &RuleWithOperations, review: Review, namespace: &str, claims: &Claims) -> bool {
    let versions: Vec<&str> = words(rule.api_versions.as_deref()).collect();
    let operations = || words(rule.operations.as_deref()).map(Operation::named);
    let lists = [&rule.api_groups, &rule.api_versions, &rule.operations, &rule.resources];
    let is_complete = lists.iter().all(|list| list.as_ref().is_some_and(|list| !list.is_empty()));
    let claimed = |group: &str, resource: &str, version: &str, operation: Option<Operation>| {
        let versions = versions.as_slice();
        claims.covers(&ReviewSubject { namespace, group, resource, version, versions, operation, review })
    };
    is_complete
        && words(rule.api_groups.as_deref()).all(|group| {
            words(rule.resources.as_deref()).all(|resource| {
                versions.iter().all(|version| operations().all(|it| claimed(group, resource, version, it)))
            })
        })
}

fn is_ours(expression: &LabelSelectorRequirement, marker: &str) -> bool {
    expression.values.iter().flatten().any(|value| value == marker)
}

fn words(list: Option<&[String]>) -> impl Iterator<Item = &str> {
    list.unwrap_or_default().iter().map(String::as_str)
}

fn test(path: &str, value: &str) -> Option<PatchOperation> {
    let path = PointerBuf::parse(path).ok()?;
    Some(PatchOperation::Test(TestOperation { path, value: value.into() }))
}

#[cfg(test)]
mod tests;
