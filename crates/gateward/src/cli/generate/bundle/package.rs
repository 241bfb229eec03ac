//! The package that a bundle is a version of, and the files that say so.

use anyhow::bail;
use clap::Args;
use gateward_cluster::crds::Version;
use gateward_core::dns::is_subdomain;
use serde_json::{Map, Value, json};

use crate::cli::generate::folder::GeneratedFile;
use crate::cli::generate::format::Format;
use crate::cli::generate::manifest::Manifest;
use crate::operator::Names;

const KEY: &str = "operators.operatorframework.io";
/// The image of the scorecard that runs a bundle's tests.
const SCORECARD_IMAGE: &str = "quay.io/operator-framework/scorecard-test:v1.42.0";
/// The tests that operator-sdk has every bundle pass, each in the suite that its name begins with.
const SCORECARD_TESTS: [(&str, &str); 6] = [
    ("basic", "basic-check-spec"),
    ("olm", "olm-bundle-validation"),
    ("olm", "olm-crds-have-validation"),
    ("olm", "olm-crds-have-resources"),
    ("olm", "olm-spec-descriptors"),
    ("olm", "olm-status-descriptors"),
];

/// What is said of the package.
#[derive(Debug, Args)]
pub(super) struct PackageArguments {
    /// Name of the package in a catalog; the command's, unless given
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
    /// Version of the bundle; the program's, unless given
    #[arg(long, value_name = "SEMVER", value_parser = version)]
    version: Option<Version>,
    /// Channels that offer the bundle, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "stable")]
    channels: Vec<String>,
    /// The channel of those who choose none; the first, unless given
    #[arg(long, value_name = "NAME")]
    default_channel: Option<String>,
    /// The oldest Kubernetes that it runs on
    #[arg(long, value_name = "SEMVER", value_parser = version, default_value = "1.30.0")]
    min_kube_version: Version,
    /// The bundle that this one is an upgrade of, as PACKAGE.vVERSION
    #[arg(long, value_name = "NAME")]
    replaces: Option<String>,
    /// Name that people read in a catalog; that of the package, unless given
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// Who provides the operator
    #[arg(long, value_name = "TEXT")]
    provider: Option<String>,
    /// Where that provider is found
    #[arg(long, value_name = "URL", requires = "provider")]
    provider_url: Option<String>,
}

/// A version of a package.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: Version,
    pub(super) channels: Vec<String>,
    pub(super) default_channel: String,
    pub(super) min_kube_version: Version,
    pub(super) replaces: Option<String>,
    pub(super) display_name: String,
    pub(super) provider: Option<Value>,
}

fn version(text: &str) -> Result<Version, String> {
    text.parse().map_err(|error| format!("it has to be a semantic version such as 1.2.3, without a v: {error}"))
}

fn is_channel(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
}

impl Package {
    pub(super) fn of(names: &Names, given: &PackageArguments) -> anyhow::Result<Self> {
        let name = given.package.clone().unwrap_or_else(|| names.command.replace('_', "-"));
        let version = match &given.version {
            Some(version) => version.clone(),
            None => version(names.version).map_err(anyhow::Error::msg)?,
        };
        let channels: Vec<String> = given.channels.iter().map(|channel| channel.trim().to_owned()).collect();
        let Some(first) = channels.first().filter(|_| channels.iter().all(|channel| is_channel(channel))) else {
            bail!("--channels: a channel's name has letters, digits, `-`, `_` and `.`, such as stable");
        };
        let default_channel = given.default_channel.clone().unwrap_or_else(|| first.clone());
        if !channels.contains(&default_channel) {
            bail!("--default-channel: {default_channel} is not among the channels {}", channels.join(", "));
        }
        if let Some(replaces) = given.replaces.as_ref().filter(|name| !is_subdomain(name) || name.len() > 63) {
            bail!("--replaces: {replaces:?} is no name of a bundle; it has to be like {name}.v1.2.3");
        }
        let provider = given.provider.as_ref().map(|provider| match &given.provider_url {
            Some(url) => json!({"name": provider, "url": url}),
            None => json!({"name": provider}),
        });
        Ok(Self {
            display_name: given.display_name.clone().unwrap_or_else(|| name.clone()),
            replaces: given.replaces.clone(),
            min_kube_version: given.min_kube_version.clone(),
            name,
            version,
            channels,
            default_channel,
            provider,
        })
    }

    /// The name of its CSV.
    pub(super) fn csv_name(&self) -> String {
        format!("{}.v{}", self.name, self.version)
    }

    /// The files that don't depend on the operator.
    pub(super) fn files(&self, format: Format) -> anyhow::Result<[GeneratedFile; 3]> {
        let annotations: Map<String, Value> =
            self.annotations().into_iter().map(|(key, value)| (key, value.into())).collect();
        Ok([
            format.file_at("metadata/annotations.yaml", &Manifest::of(&json!({"annotations": annotations})))?,
            format.file_at("tests/scorecard/config.yaml", &Manifest::of(&scorecard()))?,
            GeneratedFile { path: "bundle.Dockerfile".into(), text: self.image_recipe() },
        ])
    }

    /// What the folder and the image say of the bundle alike.
    fn annotations(&self) -> Vec<(String, String)> {
        let channels = self.channels.join(",");
        let of_bundle = [
            ("bundle.mediatype.v1", "registry+v1"),
            ("bundle.manifests.v1", "manifests/"),
            ("bundle.metadata.v1", "metadata/"),
            ("bundle.package.v1", self.name.as_str()),
            ("bundle.channels.v1", channels.as_str()),
            ("bundle.channel.default.v1", self.default_channel.as_str()),
            ("test.mediatype.v1", "scorecard+v1"),
            ("test.config.v1", "tests/scorecard/"),
        ];
        of_bundle.map(|(key, value)| (format!("{KEY}.{key}"), value.to_owned())).into()
    }

    fn image_recipe(&self) -> String {
        let labels: String = self.annotations().iter().map(|(key, value)| format!("LABEL {key}={value}\n")).collect();
        format!(
            "FROM scratch\n\n{labels}\nCOPY manifests /manifests/\nCOPY metadata /metadata/\nCOPY tests/scorecard \
             /tests/scorecard/\n"
        )
    }
}

fn scorecard() -> Value {
    let test = |(suite, test): (&str, &str)| {
        json!({
            "entrypoint": ["scorecard-test", test],
            "image": SCORECARD_IMAGE,
            "labels": {"suite": suite, "test": format!("{test}-test")},
        })
    };
    json!({
        "apiVersion": "scorecard.operatorframework.io/v1alpha3",
        "kind": "Configuration",
        "metadata": {"name": "config"},
        "stages": [{"parallel": true, "tests": SCORECARD_TESTS.map(test)}],
    })
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    fn package(arguments: &[&str]) -> Result<Package, String> {
        let command = PackageArguments::augment_args(Command::new("bundle"));
        let matches = command.try_get_matches_from(["bundle"].iter().chain(arguments));
        let given = matches.and_then(|matches| PackageArguments::from_arg_matches(&matches));
        let given = given.map_err(|error| error.to_string())?;
        Package::of(&Names::new("otter_operator", "1.4.0"), &given).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_given_follows_from_the_program() {
        let package = package(&[]).unwrap();
        assert_eq!(package.csv_name(), "otter-operator.v1.4.0");
        assert_eq!((package.default_channel.as_str(), package.display_name.as_str()), ("stable", "otter-operator"));
    }

    #[test]
    fn folder_and_image_say_the_same_of_the_bundle() {
        let [annotations, _, recipe] = package(&["--channels", "fast,candidate", "--default-channel", "candidate"])
            .unwrap()
            .files(Format::Yaml)
            .unwrap();
        let lines = annotations.text.lines().skip(1).map(|line| line.trim().replace(": ", "="));
        assert_eq!(lines.clone().count(), 8);
        assert!(lines.clone().all(|line| recipe.text.contains(&format!("LABEL {line}\n"))), "{}", recipe.text);
        assert!(annotations.text.contains("bundle.channels.v1: fast,candidate\n"), "{}", annotations.text);
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (arguments, why) in [
            (["--channels", "stable,"], "a channel's name has"),
            (["--channels", "stable\nRUN rm"], "a channel's name has"),
            (["--default-channel", "fast"], "fast is not among the channels stable"),
            (["--version", "v1.0.0"], "without a v"),
            (["--replaces", "Otter 1"], "is no name of a bundle"),
        ] {
            let error = package(&arguments).err().unwrap();
            assert!(error.contains(why), "{arguments:?}: {error}");
        }
    }
}
