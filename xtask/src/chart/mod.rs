//! The parts of the Helm chart that follow from the declared webhooks, from what a replica does in the cluster, from its
//! metrics, and from the schema of the values.

mod alerts;
mod dashboard;
mod expressions;
mod metrics;
mod rbac;
mod readme;
mod values;
mod webhooks;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use gateward_core::Ordered;
use gateward_lint::yaml;
use serde_json::Value;

use values::ChartValue;

const OPERATOR: &str = "charts/dynamo-operator";

/// A generated file: where in the chart it stands, and its text.
struct Generated {
    path: String,
    text: String,
}

/// Writes all generated files of the chart.
pub fn write() -> anyhow::Result<()> {
    for Generated { path, text } in files()? {
        let file = folder().join(&path);
        fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
        println!("{path}");
    }
    Ok(())
}

fn files() -> anyhow::Result<Vec<Generated>> {
    let values = chart_values()?;
    let template = |name: &str, text| Generated { path: format!("{OPERATOR}/templates/generated/{name}"), text };
    let whole = |path: &str, text| Generated { path: path.to_owned(), text };
    Ok(vec![
        template("webhooks.yaml", expressions::template(&webhooks::configurations()?)),
        template("rbac.yaml", expressions::template(&rbac::objects()?)),
        template("_without_effect.tpl", values::without_effect(&values)),
        template("_alerts.tpl", alerts::template()),
        whole(&format!("{OPERATOR}/files/dashboard.json"), dashboard::dashboard()?),
        whole("../../../docs/metrics.md", metrics::page()),
        whole("../../../crates/dynamo-webhooks/src/operator/removed_values.rs", values::removed(&values)),
        whole("values.yaml", values::of_the_platform(&read(&format!("{OPERATOR}/values.yaml"))?)),
        whole("README.md", readme::with_tables(&read("README.md")?, &values::tables(&values))?),
    ])
}

/// All values of the operator's chart.
fn chart_values() -> anyhow::Result<Vec<ChartValue>> {
    let schema: Ordered = serde_json::from_str(&read(&format!("{OPERATOR}/values.schema.json"))?)?;
    Ok(values::all(&schema, &defaults()?))
}

fn defaults() -> anyhow::Result<Value> {
    let text = read(&format!("{OPERATOR}/values.yaml"))?;
    let source = yaml::read(&text);
    let document = source.documents.into_iter().next().context("values.yaml can't be read")?;
    Ok(document.value)
}

fn read(path: &str) -> anyhow::Result<String> {
    let file = folder().join(path);
    fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/helm/dynamo-platform")
}

#[cfg(test)]
mod tests {
    use super::values::Standing;
    use super::*;

    #[test]
    fn the_chart_is_what_the_code_says() {
        for Generated { path, text } in files().unwrap() {
            let kept = read(&path).unwrap_or_default();
            assert!(text == kept, "{path} is stale: run `cargo xtask generate chart`");
        }
    }

    #[test]
    fn every_default_belongs_to_a_value_that_the_schema_describes() {
        let values = chart_values().unwrap();
        let described =
            |path: &str| values.iter().any(|value| path == value.path || path.starts_with(&format!("{}.", value.path)));
        let mut leaves = Vec::new();
        collect_leaves(&mut leaves, "", &defaults().unwrap());
        assert!(leaves.len() > 30);
        let unknown: Vec<&String> = leaves.iter().filter(|leaf| !described(leaf)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    /// Its presence tells a value of the user from one of the chart.
    #[test]
    fn no_value_without_effect_has_a_default() {
        let defaults = defaults().unwrap();
        for value in chart_values().unwrap() {
            let given = defaults.pointer(&format!("/{}", value.path.replace('.', "/")));
            assert!(given.is_none() || !matches!(value.standing, Standing::WithoutEffect(_)), "{}", value.path);
        }
    }

    #[test]
    fn the_charts_have_the_version_of_the_program() {
        for chart in ["Chart.yaml".to_owned(), format!("{OPERATOR}/Chart.yaml")] {
            let chart = yaml::read(read(&chart).unwrap()).documents.remove(0).value;
            assert_eq!((&chart["version"], &chart["appVersion"]), (&VERSION.into(), &VERSION.into()));
            assert!(chart["dependencies"][0]["version"].as_str().is_none_or(|version| version == VERSION));
        }
    }

    const VERSION: &str = env!("CARGO_PKG_VERSION");

    fn collect_leaves(leaves: &mut Vec<String>, path: &str, value: &Value) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, value) in members {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    collect_leaves(leaves, &path, value);
                }
            }
            _ => leaves.push(path.to_owned()),
        }
    }
}
