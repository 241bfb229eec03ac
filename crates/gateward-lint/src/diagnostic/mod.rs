//! Findings as data, and their renderings.
//!
//! A [`Diagnostic`] knows what was found and where; renderers are pure functions of it.

mod human;
mod json;

use std::borrow::Cow;
use std::fmt;

use gateward_core::FieldPath;
pub use gateward_core::Severity;
use serde::Serialize;

use crate::yaml::{Span, SyntaxFinding};

pub use human::{Colour, folded, human};
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
    /// A second place of the file that explains the first.
    pub related: Option<Related>,
    /// The node, in the version that the user wrote.
    pub path: FieldPath,
    /// The object; `None` for a finding about the file.
    pub object: Option<ObjectRef>,
    /// What is wrong, as a complete sentence.
    pub message: String,
    /// What would be right.
    pub help: Option<Cow<'static, str>>,
    /// Who refuses it; `None` where that is no question, empty where no program does before it fails.
    pub refused_by: Option<Vec<RefusedBy>>,
    /// How to learn more.
    pub docs: Option<String>,
}

impl Diagnostic {
    /// What keeps a part of a file from being read.
    pub fn of_syntax(file: &str, finding: &SyntaxFinding) -> Self {
        Self {
            rule: finding.kind.id(),
            severity: finding.kind.severity(),
            file: file.to_owned(),
            span: Some(finding.span),
            label: Cow::Borrowed(""),
            related: finding.related.map(|span| Related { span, label: Cow::Borrowed("see here") }),
            path: FieldPath::root(),
            object: None,
            message: finding.message.clone(),
            help: Some(finding.kind.help().into()),
            refused_by: None,
            docs: None,
        }
    }
}

/// Someone who refuses what a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedBy {
    /// Who refuses it.
    pub judge: &'static str,
    /// When.
    pub stage: &'static str,
    /// In which words, as far as they are known.
    pub says: Cow<'static, str>,
}

/// A place that explains another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// What to underline.
    pub span: Span,
    /// What the underline is labelled with.
    pub label: Cow<'static, str>,
}

/// Which object a finding is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectRef {
    /// Group and version.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty if the manifest has none.
    pub namespace: String,
    /// The name, or `generateName`.
    pub name: String,
}

/// Names are cut to this many characters: longer ones are those of no object that an API server takes.
const LONGEST_NAME: usize = 253;

/// Kind, namespace and name, as far as there are some: `Graph zoo/otter`.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.LONGEST_NAME$}", self.kind)?;
        match (self.namespace.as_str(), self.name.as_str()) {
            (_, "") => Ok(()),
            ("", name) => write!(f, " {name:.LONGEST_NAME$}"),
            (namespace, name) => write!(f, " {namespace:.LONGEST_NAME$}/{name:.LONGEST_NAME$}"),
        }
    }
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
            related: None,
            path,
            object: Some(ObjectRef { kind: "Graph".into(), name: "otter".into(), ..ObjectRef::default() }),
            message: "a graph needs at least one component".into(),
            help: Some("add one, for example `- name: frontend`".into()),
            refused_by: None,
            docs: Some("gateward rules DGD-48".into()),
        }
    }

    /// The finding at the first occurrence of `underlined`, without its notes.
    fn shown(text: &str, underlined: &str) -> String {
        let start = text.find(underlined).unwrap();
        let span = Span::locate(text, start..start + underlined.len());
        let short = Diagnostic { span: Some(span), label: "here".into(), help: None, docs: None, ..diagnostic() };
        human(&short, text, Colour::Never)
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
          = object: Graph otter
          = help: add one, for example `- name: frontend`
          = docs: gateward rules DGD-48
        ");
    }

    #[test]
    fn people_see_the_place_that_explains_the_first() {
        let text = "a: 1\nb: 2\nc: 3\na: 4\n";
        let finding = yaml::read(text).findings.remove(0);
        let related = finding.related.map(|span| Related { span, label: "first here".into() });
        let twice = Diagnostic {
            rule: finding.kind.id(),
            severity: finding.kind.severity(),
            span: Some(finding.span),
            label: "".into(),
            related,
            message: finding.message,
            help: None,
            docs: None,
            ..diagnostic()
        };
        insta::assert_snapshot!(human(&twice, text, Colour::Never), @r#"
        warning[YAML-DUPLICATE]: the key "a" stands here a second time; the last one wins
         --> graphs/otter.yaml:4:1
          |
        4 | a: 4
          | ^
          |
         ::: graphs/otter.yaml:1:1
          |
        1 | a: 1
          | - first here
          |
          = object: Graph otter
        "#);
    }

    #[test]
    fn findings_of_several_objects_name_each_once() {
        let of = |namespace: &str, name: &str| {
            let object = ObjectRef { namespace: namespace.into(), name: name.into(), ..diagnostic().object.unwrap() };
            Diagnostic { object: Some(object), ..diagnostic() }
        };
        let all: Vec<Diagnostic> = ["a", "b", "b", "", "c", "d", "e", "f"].map(|name| of("zoo", name)).into();
        let further: Vec<&Diagnostic> = all[1..].iter().collect();
        let shown = folded(&all[0], &further[..2], TEXT, Colour::Never);
        assert!(shown.contains("= object: Graph zoo/a, Graph zoo/b\n"), "{shown}");
        let shown = folded(&all[0], &further, TEXT, Colour::Never);
        assert!(shown.contains("Graph zoo/b, Graph, Graph zoo/c, Graph zoo/d, 2 more\n"), "{shown}");
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
    fn a_finding_for_scripts_never_breaks_its_line() {
        let message = "one\ntwo\u{2028}\u{1b}\"\u{9b}\u{202e}";
        let odd = Diagnostic { message: message.into(), ..diagnostic() };
        let line = json(&odd);
        assert!(line.is_ascii() && !line.contains('\n'), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["message"], message);
    }

    #[test]
    fn a_finding_about_a_file_has_no_line() {
        let whole = Diagnostic { span: None, object: None, path: FieldPath::root(), ..diagnostic() };
        insta::assert_snapshot!(human(&whole, TEXT, Colour::Never), @r"
        error[DGD-48]: a graph needs at least one component
        --> graphs/otter.yaml
         = help: add one, for example `- name: frontend`
         = docs: gateward rules DGD-48
        ");
        assert!(json(&whole).contains(r#""line":null"#));
    }

    #[test]
    fn wide_characters_and_tabs_keep_the_underline_in_its_place() {
        insta::assert_snapshot!(shown("名前: é\tkey: value\r\nnext: 1\r\n", "key: value"), @r"
        error[DGD-48]: a graph needs at least one component
         --> graphs/otter.yaml:1:7
          |
        1 | 名前: é    key: value
          |            ^^^^^^^^^^ here
          |
          = object: Graph otter
        ");
    }

    #[test]
    fn a_line_is_cut_around_what_is_underlined() {
        let text = format!("{}{}{}\n", "x".repeat(50_000), "here: it", "y".repeat(50_000));
        let shown = shown(&text, "here: it");
        assert!(shown.contains("graphs/otter.yaml:1:50001\n"), "{shown}");
        assert!(shown.contains("xhere: ity"), "{shown}");
        assert!(shown.lines().all(|line| line.len() < 200), "{shown}");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        let hostile = "\u{1b}[31mred\u{9b}\u{202e}\u{2066}\u{200f}\u{7f}\0";
        let text = format!("kind: {hostile}\nspec: x\n");
        let span = Span::locate(&text, 0..text.find('\n').unwrap());
        let all = Diagnostic {
            span: Some(span),
            file: hostile.into(),
            label: hostile.into(),
            message: hostile.into(),
            help: Some(hostile.into()),
            ..diagnostic()
        };
        let shown = human(&all, &text, Colour::Never);
        assert!(!hostile.chars().filter(|c| !c.is_ascii_graphic()).any(|c| shown.contains(c)), "{shown:?}");
    }

    #[test]
    fn a_span_that_is_not_in_the_text_is_no_trouble() {
        for text in ["", "ä", "kind: Graph\nspec:\n"] {
            assert!(human(&diagnostic(), text, Colour::Never).contains("DGD-48"));
        }
    }

    #[test]
    fn colours_are_a_matter_of_choice() {
        assert!(human(&diagnostic(), TEXT, Colour::Always).contains("\u{1b}["));
        assert!(!human(&diagnostic(), TEXT, Colour::Never).contains('\u{1b}'));
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_shown(text in "(\\PC|[\n\r\t\u{0}\u{9b}\u{202e}é日😀]){0,60}", start in 0..80_usize, length in 0..80_usize) {
            let span = Span::locate(&text, start..start + length);
            let any = Diagnostic {
                span: Some(span),
                related: Some(Related { span, label: text.clone().into() }),
                message: text.clone(),
                ..diagnostic()
            };
            for colour in [Colour::Always, Colour::Never] {
                human(&any, &text, colour);
            }
            human(&any, &text[..text.floor_char_boundary(start)], Colour::Never);
        }
    }
}
