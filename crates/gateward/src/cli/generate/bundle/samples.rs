//! The examples of a bundle.

use std::path::PathBuf;

use anyhow::bail;
use gateward_lint::diagnostic::Severity;
use serde_json::Value;

use super::crds::BundleCrd;
use super::not_carried::NotCarried;
use crate::cli::manifests::{self, Manifests};

/// The objects of the operator's kinds in files and folders, and what else is there.
pub(super) fn read(paths: &[PathBuf], crds: &[BundleCrd]) -> anyhow::Result<(Vec<Value>, Vec<NotCarried>)> {
    let Manifests { files, troubles, .. } = Manifests::of(paths);
    if let Some(trouble) = troubles.into_iter().next() {
        return Err(trouble);
    }
    let (mut examples, mut passed_over) = (Vec::new(), Vec::new());
    for file in files {
        let source = gateward_lint::yaml::read(manifests::read(&file)?);
        if let Some(fault) = source.findings.iter().find(|finding| finding.kind.severity() == Severity::Error) {
            bail!("{}:{}:{}: {}", file.display(), fault.span.line(), fault.span.column(), fault.message);
        }
        for document in source.documents.into_iter().map(|document| document.value).filter(|value| !value.is_null()) {
            if is_provided(&document, crds) {
                examples.push(document);
            } else {
                passed_over.push(NotCarried::Sample { kind: kind_of(&document), file: file.clone() });
            }
        }
    }
    Ok((examples, passed_over))
}

fn is_provided(object: &Value, crds: &[BundleCrd]) -> bool {
    let mut served = crds.iter().flat_map(|crd| &crd.served);
    served.any(|(version, kind)| object["apiVersion"] == *version && object["kind"] == *kind)
}

fn kind_of(object: &Value) -> String {
    let text = |member: &str| object[member].as_str().unwrap_or("?").to_owned();
    format!("{} {}", text("apiVersion"), text("kind"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::generate::manifest::Manifest;

    fn read_text(text: &str) -> anyhow::Result<(Vec<Value>, Vec<NotCarried>)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.yaml"), text).unwrap();
        let served = vec![("example.org/v1".to_owned(), "Otter".to_owned())];
        let crd = BundleCrd { file: String::new(), manifest: Manifest::of(&Value::Null), owned: Vec::new(), served };
        read(&[folder.path().to_owned()], &[crd])
    }

    #[test]
    fn only_objects_of_the_operators_kinds_in_served_versions_are_examples() {
        let otter = "{apiVersion: example.org/v1, kind: Otter}";
        let (examples, passed_over) = read_text(&format!(
            "{otter}\n---\n{{apiVersion: example.org/v0, kind: Otter}}\n---\n{{apiVersion: v1, kind: Secret}}\n---\n"
        ))
        .unwrap();
        assert_eq!(examples.len(), 1);
        let texts: Vec<String> = passed_over.iter().map(NotCarried::to_string).collect();
        assert_eq!(texts.len(), 2);
        assert!(texts[0].contains("example.org/v0 Otter is not a kind"), "{texts:?}");
        assert!(texts[1].contains("v1 Secret is not a kind"), "{texts:?}");
    }

    #[test]
    fn a_sample_that_cannot_be_read_says_where() {
        let error = read_text("kind: Otter\nspec: [\n").unwrap_err().to_string();
        assert!(error.contains("a.yaml:"), "{error}");
        assert!(read(&["no-such-folder/otter.yaml".into()], &[]).is_err());
    }
}
