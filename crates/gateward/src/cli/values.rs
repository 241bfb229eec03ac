//! Values of a Helm release, from files.

use std::path::{Path, PathBuf};

use anyhow::bail;
use gateward_lint::diagnostic::Severity;
use gateward_lint::yaml;
use serde_json::{Map, Value};

use crate::cli::manifests;

/// The values of all files together, a later one before an earlier one, as Helm takes them.
pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<Value> {
    let mut values = Value::Object(Map::new());
    for file in files {
        merge(&mut values, document(file)?);
    }
    Ok(values)
}

/// The values of a file. `helm get values` writes `null` where there are none.
fn document(file: &Path) -> anyhow::Result<Value> {
    let source = yaml::read(&manifests::read(file)?);
    if let Some(fault) = source.findings.iter().find(|finding| finding.kind.severity() == Severity::Error) {
        bail!("{}:{}:{}: {}", file.display(), fault.span.line(), fault.span.column(), fault.message);
    }
    let mut documents = source.documents.into_iter().map(|document| document.value).filter(|value| !value.is_null());
    match (documents.next(), documents.next()) {
        (None, _) => Ok(Value::Object(Map::new())),
        (Some(values @ Value::Object(_)), None) => Ok(values),
        _ => bail!("{}: values are one object, such as `webhook: {{timeoutSeconds: 5}}`", file.display()),
    }
}

/// Objects are merged, everything else is replaced. A file nests no deeper than its reader allows.
fn merge(values: &mut Value, over: Value) {
    match (values, over) {
        (Value::Object(values), Value::Object(over)) => {
            for (key, value) in over {
                merge(values.entry(key).or_insert(Value::Null), value);
            }
        }
        (values, over) => *values = over,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_later_file_replaces_what_it_names_and_keeps_the_rest() {
        let mut values = json!({"webhook": {"port": 9443, "caBundle": "x"}, "env": [1, 2]});
        merge(&mut values, json!({"webhook": {"port": 10250}, "env": [3], "upgradeCRD": false}));
        let merged = json!({"webhook": {"port": 10250, "caBundle": "x"}, "env": [3], "upgradeCRD": false});
        assert_eq!(values, merged);
    }

    #[test]
    fn a_null_takes_a_value_away() {
        let mut values = json!({"webhook": {"port": 9443}});
        merge(&mut values, json!({"webhook": null}));
        assert_eq!(values, json!({"webhook": null}));
    }
}
