//! Each rule on a small bundle, broken in one place.

mod broken_files;
mod broken_webhooks;
mod change;
mod judges;

use super::*;
use crate::diagnostic::{Colour, Diagnostic, RefusedBy};
use change::{ANNOTATIONS, Broken, CSV, Change, changed, otter};
use gateward_core::Severity;

fn broken() -> impl Iterator<Item = &'static Broken> {
    broken_files::BROKEN.iter().chain(broken_webhooks::BROKEN)
}

/// What is found with all suites.
fn found(changes: &[Change]) -> Vec<Diagnostic> {
    lint(&changed(changes), &Suite::ALL).unwrap().diagnostics().to_vec()
}

fn of_rule<'d>(found: &'d [Diagnostic], rule: &str) -> Vec<&'d Diagnostic> {
    found.iter().filter(|found| found.rule == rule).collect()
}

#[test]
fn nobody_has_anything_to_say_about_a_good_bundle() {
    let report = lint(&otter(), &Suite::ALL).unwrap();
    assert!(report.diagnostics().is_empty(), "{}", report.human(Colour::Never));
    assert_eq!(report.to_string(), "0 errors, 0 warnings in 3 files");
}

#[test]
fn each_broken_bundle_breaks_its_rule() {
    for (rule, changes) in broken() {
        let found = found(changes);
        let ids: Vec<&str> = found.iter().map(|found| found.rule).collect();
        assert!(ids.contains(rule), "{rule}: {changes:?}: found {ids:?}");
    }
}

#[test]
fn each_rule_of_the_catalogue_fires() {
    for rule in rules() {
        assert!(broken().any(|(id, _)| *id == rule.id), "no broken bundle for {}", rule.id);
    }
    for (id, _) in broken() {
        assert!(rule(id).is_some(), "{id} is not in the catalogue");
    }
}

#[test]
fn the_catalogue_says_everything_once() {
    let rules = rules();
    for (rule, next) in rules.iter().zip(rules.iter().skip(1)) {
        assert!(rule.id < next.id, "{} is there twice", rule.id);
    }
    for rule in rules {
        assert!(!rule.summary.is_empty() && !rule.summary.ends_with('.'), "{}", rule.id);
        let judges: Vec<Judge> = rule.refused_by.iter().map(|refusal| refusal.judge).collect();
        assert!(judges.iter().all(|judge| judges.iter().filter(|other| *other == judge).count() == 1), "{}", rule.id);
    }
}

#[test]
fn each_finding_says_where_what_and_what_would_be_right() {
    for (rule, changes) in broken() {
        let found = found(changes);
        for finding in of_rule(&found, rule) {
            assert!(!finding.message.is_empty(), "{rule}");
            assert!(finding.help.as_deref().is_some_and(|help| !help.is_empty()), "{rule}: {}", finding.message);
            assert!(finding.span.is_some() || finding.path.is_root(), "{rule}: {}", finding.message);
        }
    }
}

#[test]
fn rules_of_a_suite_are_silent_unless_it_is_asked_for() {
    for (id, changes) in broken() {
        let rule = rule(id).unwrap();
        if rule.suite.is_some() {
            let report = lint(&changed(changes), &[]).unwrap();
            assert!(of_rule(report.diagnostics(), id).is_empty(), "{id}");
        }
    }
}

#[test]
fn a_finding_stands_at_the_line_of_its_field() {
    let found = found(&[Change::Replace(CSV, "timeoutSeconds: 10", "timeoutSeconds: 45")]);
    let finding = of_rule(&found, "OLM-HOOK-12")[0];
    let text = include_str!("otter/manifests/otter.clusterserviceversion.yaml");
    let line = 1 + text.lines().position(|line| line.contains("timeoutSeconds")).unwrap();
    assert_eq!((finding.span.unwrap().line(), finding.span.unwrap().column()), (line, 7));
    assert_eq!(finding.path.to_string(), "spec.webhookdefinitions[1].timeoutSeconds");
    assert_eq!((finding.file.as_str(), finding.severity), (CSV, Severity::Error));
}

#[test]
fn people_see_who_refuses_and_in_which_words() {
    let changes = [
        Change::Replace(
            CSV,
            "apiGroups: [zoo.example.org], apiVersions: [v1]",
            "apiGroups: [\"*\"], apiVersions: [v1]",
        ),
        Change::Replace(CSV, "resources: [otters], operations: [\"*\"]", "resources: [otters], operations: [LIST]"),
        Change::Replace(CSV, "      timeoutSeconds: 10\n", "      timeoutSeconds: 10\n      namespaceSelector: {}\n"),
        Change::Replace(CSV, "webhookPath: /convert\n", "matchPolicy: Exact\n"),
        Change::Remove(ANNOTATIONS),
    ];
    let report = lint(&changed(&changes), &[]).unwrap();
    let report = report.in_folder("bundle/", |rule| Some(format!("otter bundle rules {rule}")));
    insta::assert_snapshot!(report.human(Colour::Never));
}

#[test]
fn scripts_see_who_refuses() {
    let found = found(&[Change::Replace(CSV, "generateName: motter.zoo.example.org", "generateName: motter")]);
    let line: serde_json::Value = serde_json::from_str(&crate::diagnostic::json(&found[0])).unwrap();
    assert_eq!((&line["rule"], &line["line"]), (&"OLM-HOOK-05".into(), &74.into()));
    assert_eq!(line["refusedBy"][0]["judge"], "OLM v0");
    assert_eq!(line["refusedBy"][1]["stage"], "api-server");
}

#[test]
fn a_file_that_is_no_yaml_is_a_finding_and_no_panic() {
    for text in ["a: [", "\u{0}", "- 1", "kind: ClusterServiceVersion\nspec: 7", "[[[[[[", "null", "&a [*a]", "\"x\""] {
        let found = found(&[Change::Remove(CSV), Change::Add("manifests/odd.yaml", text)]);
        assert!(!found.is_empty(), "{text:?}");
    }
}

#[test]
fn a_bundle_that_breaks_a_rule_a_million_times_gets_a_thousand_findings() {
    let many = "    - {}\n".repeat(20_000);
    let changes = [Change::Remove(CSV)];
    let mut files = changed(&changes);
    let text = format!("kind: ClusterServiceVersion\nspec:\n  webhookdefinitions:\n{many}");
    files.push(BundleFile { path: CSV.into(), bytes: text.into() });
    let report = lint(&files, &[]).unwrap();
    assert_eq!(report.diagnostics().len(), 1000);
    assert!(report.to_string().ends_with("; there are more that are not shown"), "{report}");
}

#[test]
fn a_bundle_of_too_many_or_too_large_files_is_refused() {
    let file = |path: String| BundleFile { path, bytes: Vec::new() };
    let many: Vec<_> = (0..=MOST_FILES).map(|number| file(format!("manifests/{number}.yaml"))).collect();
    assert_eq!(lint(&many, &[]).unwrap_err(), BundleError::TooManyFiles);
    let large = [BundleFile { path: CSV.into(), bytes: vec![b'#'; MOST_BYTES + 1] }];
    assert_eq!(lint(&large, &[]).unwrap_err(), BundleError::TooLarge);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Values of other types wherever a rule looks.
    #[test]
    fn no_value_anywhere_panics(at in 0..200_usize, value in "(null|7|-1|1e99|true|text|'\\*/\\*'|\\[\\]|\\{\\}|\\[1, a\\]|'ä/日/'|'[a.]{0,80}')") {
        let mut files = otter();
        for file in &mut files {
            let text = String::from_utf8(file.bytes.clone()).unwrap();
            let lines = text.lines().enumerate().map(|(number, line)| match line.split_once(": ") {
                Some((key, _)) if number % 67 == at % 67 => format!("{key}: {value}\n"),
                _ => format!("{line}\n"),
            });
            file.bytes = lines.collect::<String>().into();
        }
        lint(&files, &Suite::ALL).unwrap().human(Colour::Never);
    }
}

fn refused(finding: &Diagnostic, judge: Judge) -> Option<&RefusedBy> {
    finding.refused_by.iter().flatten().find(|refused| refused.judge == judge.as_str())
}
