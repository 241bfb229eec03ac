//! Findings as data, and their renderings.
//!
//! A [`Diagnostic`] knows what was found and where; renderers are pure functions of it.

mod human;
mod json;

use std::borrow::Cow;

use gateward_core::FieldPath;
pub use gateward_core::Severity;

use crate::yaml::Span;

pub use human::{Colour, human};
pub use json::json;

/// One finding in one file.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The id of the rule.
    pub rule: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// The file, as the user named it.
    pub file: String,
    /// What to underline; `None` for a finding about the whole file.
    pub span: Option<Span>,
    /// What the underline is labelled with.
    pub label: Cow<'static, str>,
    /// The node, in the version that the user wrote.
    pub path: FieldPath,
    /// The object; `None` for a finding about the file.
    pub object: Option<ObjectRef>,
    /// What is wrong, as a sentence that stands alone.
    pub message: String,
    /// What would be right.
    pub help: Option<Cow<'static, str>>,
    /// How to learn more.
    pub docs: Option<String>,
}

/// Which object a finding is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectRef {
    /// Group and version.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty where the manifest says none.
    pub namespace: String,
    /// The name, or `generateName`.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    const TEXT: &str = "kind: Graph\nspec:\n  components: []\n";

    fn diagnostic() -> Diagnostic {
        let source = yaml::read(TEXT);
        let path = FieldPath::field("spec") / "components";
        Diagnostic {
            rule: "DGD-48",
            severity: Severity::Error,
            file: "graphs/otter.yaml".into(),
            span: Some(source.documents[0].nearest(&path).underline),
            label: "spec.components".into(),
            path,
            object: Some(ObjectRef { kind: "Graph".into(), name: "otter".into(), ..ObjectRef::default() }),
            message: "a graph needs at least one component".into(),
            help: Some("add one, for example `- name: frontend`".into()),
            docs: Some("gateward rules DGD-48".into()),
        }
    }

    #[test]
    fn people_see_the_line_with_the_node_underlined() {
        insta::assert_snapshot!(human(&diagnostic(), TEXT, Colour::Never), @r"
        error[DGD-48]: a graph needs at least one component
         --> graphs/otter.yaml:3:3
          |
        3 |   components: []
          |   ^^^^^^^^^^^^^^ spec.components
          |
          = help: add one, for example `- name: frontend`
          = docs: gateward rules DGD-48
        ");
    }

    #[test]
    fn scripts_see_one_object_a_line() {
        let expected = concat!(
            r#"{"rule":"DGD-48","severity":"error","file":"graphs/otter.yaml","line":3,"column":3,"apiVersion":"","#,
            r#""kind":"Graph","namespace":"","name":"otter","path":"spec.components","#,
            r#""message":"a graph needs at least one component","help":"add one, for example `- name: frontend`"}"#,
        );
        assert_eq!(json(&diagnostic()), expected);
    }

    #[test]
    fn a_finding_about_a_file_has_no_line() {
        let whole = Diagnostic { span: None, object: None, path: FieldPath::root(), ..diagnostic() };
        assert!(human(&whole, TEXT, Colour::Never).contains("graphs/otter.yaml"));
        assert!(json(&whole).contains(r#""line":null"#));
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let text = "kind: \u{1b}[31mred\u{9b}\nspec: x\n";
        let span = Span::locate(text, 0..text.find('\n').unwrap());
        let shown = human(&Diagnostic { span: Some(span), ..diagnostic() }, text, Colour::Never);
        assert!(!shown.chars().any(|char| char.is_control() && char != '\n'), "{shown:?}");
    }

    #[test]
    fn a_span_that_is_not_in_the_text_is_no_trouble() {
        assert!(human(&diagnostic(), "", Colour::Never).contains("DGD-48"));
        assert!(human(&diagnostic(), "ä", Colour::Never).contains("DGD-48"));
    }

    #[test]
    fn a_very_long_line_is_cut() {
        let text = format!("kind: {}\n", "x".repeat(100_000));
        let span = Span::locate(&text, 0..4);
        let shown = human(&Diagnostic { span: Some(span), ..diagnostic() }, &text, Colour::Never);
        assert!(shown.len() < 2_000, "{} bytes", shown.len());
    }
}
