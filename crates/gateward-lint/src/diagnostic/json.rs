//! Renders a diagnostic as one line of JSON.

use gateward_core::terminal;
use serde::Serialize;

use super::{Diagnostic, RefusedBy};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'d> {
    rule: &'d str,
    severity: &'static str,
    file: &'d str,
    line: Option<usize>,
    column: Option<usize>,
    api_version: Option<&'d str>,
    kind: Option<&'d str>,
    namespace: Option<&'d str>,
    name: Option<&'d str>,
    path: String,
    message: &'d str,
    help: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused_by: Option<&'d [RefusedBy]>,
}

/// The finding as one line of JSON, without the line's end. What a terminal would obey is escaped.
pub fn json(diagnostic: &Diagnostic) -> String {
    let object = diagnostic.object.as_ref();
    let finding = Finding {
        rule: diagnostic.rule,
        severity: diagnostic.severity.as_str(),
        file: &diagnostic.file,
        line: diagnostic.span.map(|span| span.line()),
        column: diagnostic.span.map(|span| span.column()),
        api_version: object.map(|object| object.api_version.as_str()),
        kind: object.map(|object| object.kind.as_str()),
        namespace: object.map(|object| object.namespace.as_str()),
        name: object.map(|object| object.name.as_str()),
        path: if diagnostic.path.is_root() { String::new() } else { diagnostic.path.to_string() },
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        refused_by: diagnostic.refused_by.as_deref(),
    };
    // Strings and numbers always serialize.
    terminal::json(&serde_json::to_string(&finding).unwrap_or_default()).into_owned()
}
