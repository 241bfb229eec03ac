//! The files of the repository, for the tests that read them.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// What is in a folder, in order; nothing where there is none.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The Rust files below a folder, of those paths alone that are wanted.
pub fn rust_files(folder: &Path, wanted: fn(&Path) -> bool) -> Vec<PathBuf> {
    let below = entries(folder).into_iter().filter(|path| wanted(path));
    let files = below.flat_map(|path| if path.is_dir() { rust_files(&path, wanted) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// Whether a path isn't one of the tests within a crate's sources.
pub fn is_no_test(path: &Path) -> bool {
    path.file_stem().is_none_or(|stem| stem != "tests")
}
