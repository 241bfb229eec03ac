//! The parts of the Helm chart that follow from the declared webhooks and from what a replica does in the cluster.

mod expressions;
mod rbac;
mod webhooks;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A generated file: where in the chart it stands, and its text.
struct Generated {
    path: &'static str,
    text: String,
}

/// Writes all generated files of the chart.
pub fn write() -> anyhow::Result<()> {
    for file in files()? {
        let path = folder().join(file.path);
        fs::write(&path, &file.text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", file.path);
    }
    Ok(())
}

fn files() -> anyhow::Result<Vec<Generated>> {
    let template = |path, text| Generated { path, text: expressions::template(text) };
    Ok(vec![
        template("charts/dynamo-operator/templates/generated/webhooks.yaml", &webhooks::configurations()?),
        template("charts/dynamo-operator/templates/generated/rbac.yaml", &rbac::objects()?),
    ])
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/helm/dynamo-platform")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_is_what_the_code_says() {
        for file in files().unwrap() {
            let kept = fs::read_to_string(folder().join(file.path)).unwrap_or_default();
            assert!(file.text == kept, "{} is stale: run `cargo xtask generate chart`", file.path);
        }
    }
}
