//! Further objects of a bundle, judged where it is asked for.

use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Stage, Suite, WARNING, validator};

/// What the validators refuse where their suite of objects is asked for.
const OBJECT_ERROR: BundleRule =
    BundleRule { suite: Some(Suite::Objects), refused_by: &[validator(Stage::Optional(Suite::Objects), "")], ..ERROR };

/// The security context constraints that OpenShift ships.
const DEFAULT_SCCS: [&str; 8] =
    ["privileged", "anyuid", "hostaccess", "hostmount-anyuid", "hostnetwork", "node-exporter", "nonroot", "restricted"];

static BUDGET: BundleRule = BundleRule {
    id: "OLM-OBJECT-01",
    summary: "a PodDisruptionBudget lets nodes be drained; the validators take each percentage in maxUnavailable for 0",
    help: "write maxUnavailable: 1",
    ..OBJECT_ERROR
};

static PRIORITY: BundleRule = BundleRule {
    id: "OLM-OBJECT-02",
    summary: "a PriorityClass isn't the default of the whole cluster",
    help: "write globalDefault: false",
    ..OBJECT_ERROR
};

static CONSTRAINTS: BundleRule = BundleRule {
    id: "OLM-OBJECT-03",
    summary: "no role changes the SecurityContextConstraints that OpenShift ships",
    help: "remove the rule, or name constraints of your own",
    ..OBJECT_ERROR
};

static BUDGET_RIGHTS: BundleRule = BundleRule {
    id: "OLM-OBJECT-04",
    summary: "no role changes PodDisruptionBudgets",
    help: "remove the rule unless the operator makes budgets",
    suite: Some(Suite::Objects),
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] = &[&BUDGET, &PRIORITY, &CONSTRAINTS, &BUDGET_RIGHTS];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    for budget in bundle.of_kind("PodDisruptionBudget") {
        let (most, least) = (budget.below(&["spec", "maxUnavailable"]), budget.below(&["spec", "minAvailable"]));
        let keeps_all = most.value.as_i64() == Some(0) || most.text() == "0%";
        let is_percentage = most.value.is_string() && !keeps_all;
        let blocking = [Some(&most).filter(|_| keeps_all), Some(&least).filter(|least| least.text() == "100%")];
        for field in blocking.into_iter().flatten() {
            found.add(BUDGET.at(field, format!("{} = {} keeps nodes from being drained", field.path, field.shown())));
        }
        if is_percentage {
            found.add(BUDGET.at(&most, format!("the validators take {} = {} for 0", most.path, most.shown())));
        }
    }
    for class in bundle.of_kind("PriorityClass") {
        let default = class.at("globalDefault");
        if default.is_true() {
            found.add(PRIORITY.at(&default, "the PriorityClass becomes that of all Pods"));
        }
    }
    for kind in ["Role", "ClusterRole"] {
        for rule in bundle.of_kind(kind).flat_map(|role| role.at("rules").items()) {
            rights(&rule, found);
        }
    }
}

fn rights(rule: &Field<'_>, found: &mut Findings) {
    let any = |name: &'static str, known: &[&str]| rule.at(name).texts().any(|text| known.contains(&text));
    let of_constraints =
        any("apiGroups", &["security.openshift.io"]) && any("resources", &["securitycontextconstraints", "*"]);
    if any("verbs", &["*", "delete", "update", "patch"]) && of_constraints && any("resourceNames", &DEFAULT_SCCS) {
        found.add(CONSTRAINTS.at(&rule.at("verbs"), "the role changes constraints that OpenShift ships"));
    }
    if any("verbs", &["*", "create", "update", "patch"])
        && any("apiGroups", &["policy"])
        && any("resources", &["poddisruptionbudgets", "*"])
    {
        found.add(BUDGET_RIGHTS.at(&rule.at("verbs"), "the role changes PodDisruptionBudgets"));
    }
}
