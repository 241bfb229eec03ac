//! The files of an operator, with placeholders where its author's own names go.

use super::dependency::GatewardDependency;
use super::naming::{ApiGroup, KindName, OperatorName};

/// A file.
pub struct TemplateFile {
    /// Where it is within the operator; it may have placeholders too.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// `path from file`: files that git, cargo or GitHub would follow here have another name in the folder of the templates.
macro_rules! files {
    ($($path:literal $(from $file:literal)?),+ $(,)?) => {
        &[$(TemplateFile { path: $path, text: files!(@text $path $($file)?) }),+]
    };
    (@text $path:literal) => { include_str!(concat!("../../template/", $path)) };
    (@text $path:literal $file:literal) => { include_str!(concat!("../../template/", $file)) };
}

/// All of them.
pub const FILES: &[TemplateFile] = files![
    ".dockerignore" from "dockerignore",
    ".github/workflows/ci.yml" from "github/ci.yml",
    ".gitignore" from "gitignore",
    "Cargo.toml" from "Cargo.toml.in",
    "Dockerfile",
    "Makefile",
    "README.md",
    "rustfmt.toml",
    "samples/__singular__.yaml" from "samples/good.yaml",
    "samples/__singular__-broken.yaml" from "samples/broken.yaml",
    "src/controller.rs",
    "src/conversion.rs",
    "src/lib.rs",
    "src/main.rs",
    "src/rules.rs",
    "src/v1.rs",
    "src/v2.rs",
    "src/webhooks.rs",
    "tests/operator.rs",
];

/// What stands for what in the templates.
pub struct Placeholders([(&'static str, String); 8]);

impl Placeholders {
    /// Those of an operator.
    pub fn new(name: &OperatorName, kind: &KindName, group: &ApiGroup, gateward: &GatewardDependency) -> Self {
        Self([
            ("__name__", name.to_string()),
            ("__crate__", name.as_crate()),
            ("__kind__", kind.to_string()),
            ("__singular__", kind.singular()),
            ("__plural__", kind.plural()),
            ("__group__", group.to_string()),
            ("__RULE__", kind.rule_prefix()),
            ("__gateward__", gateward.as_str().to_owned()),
        ])
    }

    /// A text with the author's names in it.
    pub fn put_into(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (placeholder, word)| text.replace(placeholder, word))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;

    fn placeholders(name: &str, kind: &str) -> Placeholders {
        let name: OperatorName = name.parse().unwrap();
        let group = ApiGroup::of(&name);
        Placeholders::new(&name, &kind.parse().unwrap(), &group, &GatewardDependency::released())
    }

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_file_of_the_folder_is_written_once() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("template");
        let there: BTreeSet<String> =
            files_below(&folder).iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        let written: BTreeSet<String> = FILES.iter().map(|file| file.text.to_owned()).collect();
        assert_eq!(there, written);
        assert_eq!((files_below(&folder).len(), written.len()), (FILES.len(), FILES.len()));
    }

    #[test]
    fn no_placeholder_is_left() {
        let placeholders = placeholders("cron-tab", "CronTab");
        for file in FILES {
            let text = placeholders.put_into(file.path) + &placeholders.put_into(file.text);
            assert!(!text.contains("__"), "{}: {:?}", file.path, text.lines().find(|line| line.contains("__")));
        }
    }

    /// Lines must not become too long, nor could others be joined, whatever the names are.
    #[test]
    fn sources_are_as_rustfmt_has_them_with_the_shortest_and_the_longest_names() {
        let longest = ["n".repeat(38), format!("K{}", "k".repeat(35))];
        for (name, kind) in [("a", "A"), ("zebra", "Zebra"), (longest[0].as_str(), longest[1].as_str())] {
            let root = tempfile::tempdir().unwrap();
            let (folder, placeholders) = (root.path().join(name), placeholders(name, kind));
            let files = FILES.iter().map(|file| (file.path.to_owned(), placeholders.put_into(file.text)));
            super::super::folder::write(&folder, files).unwrap();
            // The library leads to its modules.
            let sources = ["src/lib.rs", "src/main.rs", "tests/operator.rs"].map(|source| folder.join(source));
            let rustfmt =
                Command::new("rustfmt").args(["--check", "--edition", "2024"]).args(sources).output().unwrap();
            assert!(rustfmt.status.success(), "{}", String::from_utf8_lossy(&rustfmt.stdout));
        }
    }

    /// Each `name = …` of the tables of dependencies, without what is Gateward's own.
    fn dependencies(manifest: &str) -> Vec<(&str, &str)> {
        let tables = manifest.split("\n[").filter(|table| table.split(']').next().unwrap().contains("dependencies"));
        let lines = tables.flat_map(str::lines).filter_map(|line| line.split_once(" = "));
        lines.filter(|(name, _)| *name != "gateward").collect()
    }

    /// The version in what a manifest says of a dependency.
    fn version(said: &str) -> &str {
        said.trim_start_matches("{ version = ").split('"').nth(1).unwrap()
    }

    #[test]
    fn dependencies_have_the_versions_that_gateward_has_and_no_operator_takes_their_names() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
        let workspace = std::fs::read_to_string(root).unwrap();
        let ours = dependencies(&workspace);
        let template = FILES.iter().find(|file| file.path == "Cargo.toml").unwrap();
        let theirs = dependencies(template.text);
        assert_eq!(theirs.len(), 8, "{theirs:?}");
        for (name, said) in theirs {
            let wanted = ours.iter().find(|(ours, _)| *ours == name).unwrap().1;
            assert_eq!(version(said), version(wanted), "{name}");
            assert!(name.replace('_', "-").parse::<OperatorName>().is_err(), "{name}");
        }
    }
}
