//! Templates of Helm out of objects.
//!
//! Objects are made for a release whose name and namespace are words. What values decide is an action in the place of a
//! value. So no template repeats what an object is made of.

use gateward_core::manifest::yaml;
use serde_json::Value;

use crate::operator::Release;

/// Words that are names in a cluster, and what a template says instead.
const PLACEHOLDERS: [(&str, &str); 2] =
    [("zz-release-zz", "{{ .Release.Name }}"), ("zz-namespace-zz", "{{ .Release.Namespace }}")];

/// Begins an action. No text of a manifest has it.
const MARK: char = '\u{1}';

/// The release that objects of a template are made for.
pub(super) fn release() -> Release {
    let [(name, _), (namespace, _)] = PLACEHOLDERS;
    Release { name: name.to_owned(), namespace: namespace.to_owned() }
}

/// An action in the place of a value. `nindent` without a number gets that of its place. A value that begins with `if` or
/// `with` is there under that condition only; where nothing follows `with`, what it has found.
pub(super) fn action(text: &str) -> Value {
    format!("{MARK}{text}").into()
}

/// An action on a line of its own, among the lines of YAML.
pub(super) fn action_line(text: &str) -> String {
    format!("{MARK}{text}\n")
}

/// The template of a text: of a name, or of lines.
pub(super) fn placed(text: &str) -> String {
    PLACEHOLDERS.iter().fold(text.to_owned(), |text, (word, expression)| text.replace(word, expression))
}

/// The template of an object.
pub(super) fn template(object: &Value) -> String {
    lines(&yaml::document(object))
}

/// The template of YAML.
pub(super) fn lines(text: &str) -> String {
    text.lines().map(line).collect()
}

fn line(line: &str) -> String {
    if let Some(action) = line.strip_prefix(MARK) {
        return format!("{action}\n");
    }
    match line.find("\"\\u0001").and_then(|at| line.split_at_checked(at)) {
        Some((head, quoted)) => with_action(head, quoted),
        None => with_names(line),
    }
}

/// Text that isn't ours may have what would begin an action.
fn with_names(line: &str) -> String {
    let line = line.replace("{{", "{{ \"{{\" }}");
    if !PLACEHOLDERS.iter().any(|(word, _)| line.contains(word)) || line.ends_with(['"', '\'']) {
        return placed(&line) + "\n";
    }
    // A name of digits would be a number.
    let value = line.rfind(": ").or_else(|| line.rfind("- ")).map_or(0, |at| at + 2);
    let (head, value) = line.split_at(value);
    format!("{}\"{}\"\n", placed(head), placed(value))
}

/// A line with an action behind `head`, which is the key of a member or the hyphen of an item.
fn with_action(head: &str, quoted: &str) -> String {
    let text: String = serde_json::from_str(quoted).unwrap_or_default();
    let action = text.trim_start_matches(MARK);
    let indent = head.len() - head.trim_start().len();
    let is_item = head.trim_start() == "- ";
    let inner = if is_item { indent } else { indent + 2 };
    let numbered = |body: &str| body.replace("nindent }}", &format!("nindent {inner} }}}}"));
    let block = ["{{- if ", "{{- with "].iter().any(|start| action.starts_with(start));
    let Some(end) = action.find("}}").filter(|_| block) else {
        return format!("{head}{}\n", numbered(action));
    };
    let (condition, body) = action.split_at(end + 2);
    let body = numbered(if body.is_empty() { "{{- toYaml . | nindent }}" } else { body });
    let blanks = " ".repeat(indent);
    let head = if is_item { &blanks } else { head };
    format!("{blanks}{condition}\n{head}{body}\n{blanks}{{{{- end }}}}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_become_expressions_in_quotes() {
        let release = release();
        let object = json!({"name": release.name, "all": [format!("{}-x", release.name)], "at": {"namespace": release.namespace}});
        let wanted = "all:\n- \"{{ .Release.Name }}-x\"\nat:\n  namespace: \"{{ .Release.Namespace }}\"\nname: \"{{ .Release.Name }}\"\n";
        assert_eq!(template(&object), wanted);
    }

    #[test]
    fn actions_stand_where_the_value_would() {
        let object = json!({"spec": {
            "replicas": action("{{ .Values.replicas }}"),
            "resources": action("{{- toYaml .Values.resources | nindent }}"),
            "tolerations": action("{{- with .Values.tolerations }}"),
            "env": ["a", action("{{- with .Values.env }}")],
            "pull": action("{{- if .Values.pull }}{{ .Values.pull | quote }}"),
        }});
        let wanted = r"spec:
  env:
  - a
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if .Values.pull }}
  pull: {{ .Values.pull | quote }}
  {{- end }}
  replicas: {{ .Values.replicas }}
  resources: {{- toYaml .Values.resources | nindent 4 }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
";
        assert_eq!(template(&object), wanted);
    }

    #[test]
    fn text_that_looks_like_an_action_is_none() {
        let wanted = "a: \"{{ \"{{\" }} .Values.secret }}\"\n";
        assert_eq!(template(&json!({"a": "{{ .Values.secret }}"})), wanted);
    }
}
