//! How the tree is shaped: lengths of files and functions, documentation, calls that may panic.
//!
//! Measured by text, so that other repositories can be measured in the same way. Tests are left out.

mod mask;
mod source;
mod table;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use source::{Measures, Source};
use table::{REFERENCES, Row};

/// Prints the figures of every package and of all of them, under those of other repositories, and what to look at.
pub fn print() -> anyhow::Result<()> {
    println!("{}", Row::HEADING);
    for row in &REFERENCES {
        println!("{row}");
    }
    println!();
    let mut total = Measures::default();
    for name in packages()? {
        let measures = measure(&root().join(&name).join("src"))?;
        println!("{}", Row::new(name.trim_start_matches("crates/"), &measures));
        total.add(&measures);
    }
    println!("{}\n", Row::new("total", &total));
    total.remarks.iter().for_each(|remark| println!("{remark}"));
    Ok(())
}

fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.parent().unwrap_or(folder).to_owned()
}

/// The folders of all packages below the root, in the order of their names.
fn packages() -> anyhow::Result<Vec<String>> {
    let mut packages = Vec::new();
    for group in ["crates", "examples"] {
        let folders = entries(&root().join(group))?;
        let names = folders.iter().filter_map(|folder| folder.file_name()?.to_str());
        packages.extend(names.map(|name| format!("{group}/{name}")));
    }
    packages.push("xtask".to_owned());
    Ok(packages)
}

/// Measures all sources below a folder, without modules that only exist in tests.
fn measure(folder: &Path) -> anyhow::Result<Measures> {
    let sources = sources(folder)?;
    let tests: Vec<PathBuf> = sources.iter().flat_map(|(file, source)| test_modules(file, source)).collect();
    let mut measures = Measures::default();
    for (file, source) in &sources {
        if !tests.iter().any(|module| file.with_extension("").starts_with(module)) {
            let name = file.strip_prefix(root()).unwrap_or(file);
            measures.add(&Measures::of(&name.display().to_string(), source));
        }
    }
    Ok(measures)
}

/// Where the modules stand that a file declares for tests only, without the extension.
fn test_modules(file: &Path, source: &Source) -> Vec<PathBuf> {
    let index = ["lib", "main", "mod"].map(OsStr::new);
    let folder = match file.file_stem() {
        Some(stem) if !index.contains(&stem) => file.with_extension(""),
        _ => file.with_file_name(""),
    };
    source.test_modules().iter().map(|module| folder.join(module)).collect()
}

/// All files of Rust below a folder.
fn sources(folder: &Path) -> anyhow::Result<Vec<(PathBuf, Source)>> {
    let mut found = Vec::new();
    for entry in entries(folder)? {
        if entry.is_dir() {
            found.extend(sources(&entry)?);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&entry).with_context(|| format!("cannot read {}", entry.display()))?;
            found.push((entry, Source::new(&text)));
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let read = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut entries = read.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_files_of_modules_for_tests() {
        let source = Source::new("#[cfg(test)]\nmod tests;\n#[cfg(test)]\npub(crate) mod testing;\nmod rules;\n");
        let found = |file: &str| test_modules(Path::new(file), &source);
        assert_eq!(found("src/lib.rs"), ["src/tests", "src/testing"].map(PathBuf::from));
        assert_eq!(found("src/graph/mod.rs"), ["src/graph/tests", "src/graph/testing"].map(PathBuf::from));
        assert_eq!(found("src/graph.rs"), ["src/graph/tests", "src/graph/testing"].map(PathBuf::from));
    }

    #[test]
    fn measures_this_very_tree() {
        let measures = measure(&root().join("xtask/src")).unwrap();
        assert!(measures.files.len() > 4);
        assert_eq!(measures.remarks, [""; 0]);
    }
}
