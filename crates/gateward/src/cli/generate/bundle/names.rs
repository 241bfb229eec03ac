//! Names of which OLM makes others: what doesn't fit is found before a cluster does.

use std::collections::BTreeSet;

use anyhow::bail;
use gateward_core::dns::{LONGEST_LABEL, is_service_name, is_subdomain};
use serde_json::Value;

/// What OLM calls the Service of a Deployment.
const SERVICE: &str = "-service";

/// Checks the names of the CSV, of the Deployment and of the webhooks; the error lists all that is wrong.
pub(super) fn check(csv: &str, deployment: &str, descriptions: &[Value]) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    problems.extend(of_csv(csv));
    problems.extend(of_deployment(deployment));
    let mut seen = BTreeSet::new();
    for description in descriptions {
        let Some(name) = description["generateName"].as_str() else { continue };
        // OLM makes no configuration of a conversion, and no label.
        if description["type"] != "ConversionWebhook" {
            problems.extend(of_webhook(name));
        }
        if !seen.insert(name) {
            problems
                .push(format!("two webhooks are called {name}, and OLM tells them apart by their names; rename one"));
        }
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n")) }
}

fn of_csv(name: &str) -> Option<String> {
    if !is_subdomain(name) {
        return Some(format!(
            "the bundle would be called {name:?}, and names have lower-case letters, digits, `-` and `.` alone; give \
             another --package or --version"
        ));
    }
    too_long(name, 0).map(|length| {
        format!(
            "the bundle would be called {name}, which has {length} characters; OLM makes a label of it, which has at most \
             {LONGEST_LABEL}: give a shorter --package or --version"
        )
    })
}

fn of_deployment(name: &str) -> Option<String> {
    if name.contains('.') {
        return Some(format!(
            "the Deployment would be called {name}; OLM calls its Service {name}{SERVICE}, and a Service has no dot in \
             its name: give a --release without one"
        ));
    }
    if name.len() <= LONGEST_LABEL && !is_service_name(name) {
        return Some(format!(
            "the Deployment would be called {name}; OLM calls its Service {name}{SERVICE}, and the name of a Service begins \
             with a letter: give a --release that does"
        ));
    }
    too_long(name, SERVICE.len()).map(|length| {
        format!(
            "the Deployment would be called {name}; OLM calls its Service {name}{SERVICE}, which has {length} characters \
             and may have {LONGEST_LABEL}: give a shorter --release"
        )
    })
}

fn of_webhook(name: &str) -> Option<String> {
    let way_out = "name it otherwise: Endpoint::new().name(…) in .validating_at or .mutating_at";
    if name.split('.').count() < 3 || !is_subdomain(name) {
        return Some(format!("{name}: a webhook's name is a domain name of at least three parts; {way_out}"));
    }
    too_long(name, 0).map(|length| {
        format!(
            "{name} has {length} characters; OLM makes a label of a webhook's name, which has at most {LONGEST_LABEL}: \
             {way_out}"
        )
    })
}

/// The length of the name with a suffix, where that is too long.
fn too_long(name: &str, suffix: usize) -> Option<usize> {
    Some(name.len() + suffix).filter(|length| *length > LONGEST_LABEL)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(csv: &str, deployment: &str, webhooks: &[&str]) -> String {
        let descriptions: Vec<Value> = webhooks.iter().map(|name| json!({"generateName": name})).collect();
        check(csv, deployment, &descriptions).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn names_of_63_characters_in_three_parts_are_good() {
        let webhook = format!("{}.example.org", "v".repeat(51));
        assert_eq!(webhook.len(), 63);
        assert_eq!(problems(&format!("{}.v1.0.0", "o".repeat(56)), &"d".repeat(55), &[&webhook]), "");
    }

    #[test]
    fn a_name_that_is_too_long_says_what_olm_makes_of_it_and_what_to_do() {
        let webhook = format!("{}.example.org", "v".repeat(52));
        let found = problems(&format!("{}.v1.0.0", "o".repeat(57)), &"d".repeat(56), &[&webhook]);
        let [csv, deployment, name] = found.lines().collect::<Vec<_>>()[..] else { panic!("{found}") };
        assert!(csv.contains("64 characters") && csv.ends_with("give a shorter --package or --version"), "{csv}");
        assert!(deployment.contains("64 characters") && deployment.contains("--release"), "{deployment}");
        assert!(name.contains("64 characters") && name.contains(".validating_at"), "{name}");
    }

    #[test]
    fn a_webhook_of_two_parts_a_dotted_deployment_and_a_repeated_name_are_refused() {
        assert!(problems("otter.v1.0.0", "otter", &["validate.otter"]).contains("at least three parts"));
        assert!(problems("otter.v1.0.0", "river.otter", &[]).contains("no dot"));
        assert!(problems("otter.v1.0.0", "1otter", &[]).contains("begins with a letter"));
        assert!(problems("otter.v1.0.0", "otter", &["a.b.c", "a.b.c"]).contains("two webhooks are called a.b.c"));
        assert!(problems("Otter.v1.0.0", "otter", &[]).contains("lower-case letters"));
    }
}
