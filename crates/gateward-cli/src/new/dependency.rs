//! Where a generated operator has Gateward from.

use std::path::Path;

use anyhow::{Context as _, bail};

/// The crate of the facade within the sources.
const FACADE: &str = "crates/gateward";

/// What the manifest says of where Gateward is, without the features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewardDependency(String);

impl GatewardDependency {
    /// The release of this version, from the registry.
    pub fn released() -> Self {
        Self(format!("version = {}", quoted(env!("CARGO_PKG_VERSION"))))
    }

    /// A git repository, or a folder of sources on this machine.
    pub fn at(place: &str) -> anyhow::Result<Self> {
        if place.contains("://") {
            return Ok(Self(format!("git = {}", quoted(place))));
        }
        let path = Path::new(place);
        let folder = path.canonicalize().with_context(|| {
            format!("--gateward {place}: no such folder; a git URL has a scheme, such as https:// or ssh://")
        })?;
        // The sources as a whole, or the crate itself.
        let facade = [folder.join(FACADE), folder].into_iter().find(|folder| is_facade(folder));
        let Some(facade) = facade else {
            bail!("--gateward {place}: the sources of Gateward are not in this folder: it has no {FACADE}/Cargo.toml");
        };
        let facade = facade.to_str().with_context(|| format!("--gateward {place}: cargo reads paths in UTF-8 only"))?;
        Ok(Self(format!("path = {}", quoted(facade))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a folder has the manifest of the crate `gateward`.
fn is_facade(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
    // The first name is the package's; a program may have the same.
    manifest.is_ok_and(|text| {
        text.lines().find(|line| line.starts_with("name = ")).is_some_and(|line| line.trim() == "name = \"gateward\"")
    })
}

/// A text as TOML has it: each escape of JSON is one of TOML too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
    }

    fn at(place: &str) -> String {
        GatewardDependency::at(place).unwrap().as_str().to_owned()
    }

    #[test]
    fn a_url_is_a_git_repository() {
        assert_eq!(at("https://example.org/gateward"), "git = \"https://example.org/gateward\"");
        assert_eq!(at("ssh://git@example.org/\"\\"), r#"git = "ssh://git@example.org/\"\\""#);
    }

    #[test]
    fn a_folder_is_that_of_the_sources_or_of_the_crate() {
        let root = root();
        let expected = format!("path = \"{}\"", root.join("crates/gateward").display());
        assert_eq!(at(root.to_str().unwrap()), expected);
        assert_eq!(at(root.join("crates/gateward").to_str().unwrap()), expected);
        assert_eq!(at("../.."), expected, "from the folder of this crate, where cargo runs its tests");
    }

    #[test]
    fn another_folder_is_refused() {
        let why = format!("{:#}", GatewardDependency::at("/no/such/folder").unwrap_err());
        assert!(why.contains("no such folder") && why.contains("https://"), "{why}");
        let why = format!("{:#}", GatewardDependency::at(".").unwrap_err());
        assert!(why.contains("no crates/gateward/Cargo.toml"), "{why}");
    }

    #[test]
    fn the_release_is_that_of_this_program() {
        assert_eq!(GatewardDependency::released().as_str(), "version = \"0.1.0\"");
    }
}
