//! All rules, and the checks that enforce them.

use super::files::Bundle;
use super::findings::Findings;
use super::rule::BundleRule;
use super::{
    annotations, conversion, crd_versions, crds, csv, deployments, deprecated, examples, hook_names, hooks,
    install_modes, layout, object_meta, objects, operator_hub, ports, practices, schemas, stanza, webhook_rules,
};

/// The rules of one concern, and the check that enforces them.
type Concern = (fn(&Bundle, &mut Findings), &'static [&'static BundleRule]);

/// The concerns, in the order of the findings that a file without lines has.
static CONCERNS: [Concern; 20] = [
    (layout::check, layout::RULES),
    (object_meta::check, object_meta::RULES),
    (annotations::check, annotations::RULES),
    (csv::check, csv::RULES),
    (install_modes::check, install_modes::RULES),
    (examples::check, examples::RULES),
    (crds::check, crds::RULES),
    (crd_versions::check, crd_versions::RULES),
    (stanza::check, stanza::RULES),
    (deployments::check, deployments::RULES),
    (hook_names::check, hook_names::RULES),
    (hooks::check, hooks::RULES),
    (ports::check, ports::RULES),
    (webhook_rules::check, webhook_rules::RULES),
    (conversion::check, conversion::RULES),
    (operator_hub::check, operator_hub::RULES),
    (practices::check, practices::RULES),
    (deprecated::check, deprecated::RULES),
    (objects::check, objects::RULES),
    // The last: a finding of another rule at the same node wins.
    (schemas::check, schemas::RULES),
];

/// Judges a bundle by all rules.
pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    for (check, _) in &CONCERNS {
        check(bundle, found);
    }
}

/// The catalogue, by id.
pub fn rules() -> Vec<&'static BundleRule> {
    let mut rules: Vec<&'static BundleRule> = CONCERNS.iter().flat_map(|(_, rules)| rules.iter().copied()).collect();
    rules.sort_by_key(|rule| rule.id);
    rules
}

/// The rule of this id, in whatever case.
pub fn rule(id: &str) -> Option<&'static BundleRule> {
    rules().into_iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
}
