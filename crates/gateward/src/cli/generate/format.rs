//! How manifests are printed, and what their files are called.

use clap::ValueEnum;

use crate::cli::generate::folder::GeneratedFile;
use crate::cli::generate::manifest::Manifest;

/// The language of manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Yaml,
    Json,
}

impl Format {
    /// YAML documents one after the other, or a JSON object a line.
    pub(crate) fn stream(self, manifests: &[Manifest]) -> String {
        match self {
            Self::Yaml => manifests.iter().map(|manifest| document(manifest.yaml())).collect(),
            Self::Json => manifests.iter().map(Manifest::json).collect(),
        }
    }

    /// A file for each manifest, named after its kind, and after its own name where a kind occurs twice.
    pub(crate) fn files(self, manifests: &[Manifest]) -> anyhow::Result<Vec<GeneratedFile>> {
        manifests.iter().map(|manifest| self.file(&stem(manifest, manifests), manifest)).collect()
    }

    pub(crate) fn file(self, stem: &str, manifest: &Manifest) -> anyhow::Result<GeneratedFile> {
        let ending = match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
        };
        self.file_at(format!("{stem}.{ending}"), manifest)
    }

    /// A file by a path that its readers expect, whatever the format: JSON is YAML, too.
    pub(crate) fn file_at(self, path: impl Into<String>, manifest: &Manifest) -> anyhow::Result<GeneratedFile> {
        let text = match self {
            Self::Yaml => manifest.yaml().to_owned(),
            Self::Json => manifest.indented_json()?,
        };
        Ok(GeneratedFile { path: path.into(), text })
    }
}

fn document(yaml: &str) -> String {
    format!("---\n{}\n", yaml.trim_start_matches("---\n").trim_end())
}

/// A CRD's file is called as controller-gen calls it.
fn stem(manifest: &Manifest, all: &[Manifest]) -> String {
    let kind = manifest.text(&["kind"]);
    if kind == "CustomResourceDefinition" {
        let (group, plural) = (manifest.text(&["spec", "group"]), manifest.text(&["spec", "names", "plural"]));
        return format!("{group}_{plural}");
    }
    let of_kind = all.iter().filter(|other| other.text(&["kind"]) == kind).count();
    let kind = kind.to_ascii_lowercase();
    if of_kind > 1 { format!("{kind}-{}", manifest.text(&["metadata", "name"])) } else { kind }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_named_after_its_kind_and_where_that_occurs_twice_after_its_name() {
        let object = |kind: &str, name: &str| json!({"kind": kind, "metadata": {"name": name}});
        let crd = json!({
            "kind": "CustomResourceDefinition",
            "spec": {"group": "example.org", "names": {"plural": "otters"}},
        });
        let objects = [object("Service", "river"), object("Role", "a"), object("Role", "b"), crd];
        let files = Format::Json.files(&objects.each_ref().map(Manifest::of)).unwrap();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["service.json", "role-a.json", "role-b.json", "example.org_otters.json"]);
    }
}
