//! What a catalog shows of a bundle, and what it installs beside it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::bounded;
use crate::cli::document::Written;
use crate::cli::generate::folder::GeneratedFile;
use crate::cli::generate::format::Format;
use crate::cli::generate::manifest::Manifest;

/// The images that a catalog shows, by the ending of their files.
const ICONS: [(&str, &str); 5] = [
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
];

/// What is shown and what is needed.
#[derive(Debug, Args)]
pub(super) struct ListingArguments {
    /// Picture of the operator: SVG, PNG, JPEG or GIF
    #[arg(long, value_name = "FILE")]
    icon: Option<PathBuf>,
    /// Who maintains the operator, as NAME=EMAIL; may be given several times
    #[arg(long, value_name = "NAME=EMAIL", value_parser = pair)]
    maintainer: Vec<(String, String)>,
    /// A page about the operator, as NAME=URL; may be given several times
    #[arg(long, value_name = "NAME=URL", value_parser = pair)]
    link: Vec<(String, String)>,
    /// What has to be installed too: a file with the list `dependencies` as OLM has it
    #[arg(long, value_name = "FILE")]
    dependencies: Option<PathBuf>,
    /// Further properties of the bundle: a file with the list `properties` as OLM has it
    #[arg(long, value_name = "FILE")]
    properties: Option<PathBuf>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() || value.is_empty() {
        return Err("it has a name, `=` and what belongs to it".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Members of the CSV's `spec`.
pub(super) fn fields(given: &ListingArguments) -> anyhow::Result<Map<String, Value>> {
    let pairs = |pairs: &[(String, String)], member: &str| -> Value {
        pairs.iter().map(|(name, value)| json!({"name": name, member: value})).collect()
    };
    let mut fields = Map::new();
    if let Some(file) = &given.icon {
        fields.insert("icon".into(), json!([icon(file)?]));
    }
    if !given.maintainer.is_empty() {
        fields.insert("maintainers".into(), pairs(&given.maintainer, "email"));
    }
    if !given.link.is_empty() {
        fields.insert("links".into(), pairs(&given.link, "url"));
    }
    Ok(fields)
}

fn icon(file: &Path) -> anyhow::Result<Value> {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    let Some((_, kind)) = ICONS.iter().find(|(known, _)| *known == ending) else {
        bail!("--icon: {} doesn't end in .svg, .png, .jpg or .gif", file.display());
    };
    let data = STANDARD.encode(bounded::read(file, bounded::SETTINGS)?);
    Ok(json!({"base64data": data, "mediatype": kind}))
}

/// The files of `metadata/` that not every bundle has.
pub(super) fn files(given: &ListingArguments, format: Format) -> anyhow::Result<Vec<GeneratedFile>> {
    let listed = [("dependencies", &given.dependencies), ("properties", &given.properties)];
    let listed = listed.into_iter().filter_map(|(list, file)| Some((list, file.as_deref()?)));
    listed.map(|(list, file)| metadata(list, file, format)).collect()
}

fn metadata(list: &str, file: &Path, format: Format) -> anyhow::Result<GeneratedFile> {
    let written = Written::read(file).with_context(|| format!("--{list}"))?;
    let items = &written.value()[list];
    if !items.is_array() {
        bail!("--{list}: {} has no list `{list}`", file.display());
    }
    format.file_at(format!("metadata/{list}.yaml"), &Manifest::of(&json!({list: items})))
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    fn arguments(given: &[&str]) -> Result<ListingArguments, String> {
        let command = ListingArguments::augment_args(Command::new("bundle"));
        let matches = command.try_get_matches_from(["bundle"].iter().chain(given));
        matches.and_then(|matches| ListingArguments::from_arg_matches(&matches)).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_catalog_shows_stands_in_the_csv() {
        let folder = tempfile::tempdir().unwrap();
        let icon = folder.path().join("otter.SVG");
        std::fs::write(&icon, "<svg/>").unwrap();
        let given =
            ["--icon", icon.to_str().unwrap(), "--maintainer", "Zoo=zoo@example.org", "--link", "Book=https://a=b"];
        let expected = json!({
            "icon": [{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}],
            "maintainers": [{"name": "Zoo", "email": "zoo@example.org"}],
            "links": [{"name": "Book", "url": "https://a=b"}],
        });
        assert_eq!(Value::Object(fields(&arguments(&given).unwrap()).unwrap()), expected);
        assert!(fields(&arguments(&[]).unwrap()).unwrap().is_empty());
        assert!(arguments(&["--link", "https://example.org"]).unwrap_err().contains("has a name"));
        let error = fields(&arguments(&["--icon", "otter.webp"]).unwrap()).unwrap_err().to_string();
        assert!(error.contains("doesn't end in"), "{error}");
    }

    #[test]
    fn what_is_needed_is_a_file_of_the_metadata() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("needed.yaml");
        std::fs::write(&file, "dependencies:\n- {type: olm.label, value: {label: a}} # why\n").unwrap();
        let path = file.to_str().unwrap();
        let written = files(&arguments(&["--dependencies", path]).unwrap(), Format::Yaml).unwrap();
        let [GeneratedFile { path: place, text }] = &written[..] else { panic!("{written:?}") };
        assert_eq!(place, "metadata/dependencies.yaml");
        assert_eq!(text, "dependencies:\n- type: olm.label\n  value:\n    label: a\n");
        let error = files(&arguments(&["--properties", path]).unwrap(), Format::Yaml).unwrap_err().to_string();
        assert!(error.contains("has no list `properties`"), "{error}");
    }
}
