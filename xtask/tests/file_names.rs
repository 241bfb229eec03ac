//! The files that the documents name are there.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod sources;

use std::fs;
use std::path::Path;

use sources::{entries, root, rust_files};

#[test]
fn every_source_file_that_a_document_names_exists() {
    let root = root();
    let folders = ["crates", "examples", "tests", "xtask"];
    let sources: Vec<_> = folders.iter().flat_map(|folder| rust_files(&root.join(folder), |_| true)).collect();
    let mut documents = entries(&root.join("docs"));
    documents.extend(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    let (mut named, mut absent) = (0, Vec::new());
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let is_path = |char: char| char.is_ascii_alphanumeric() || "_-/.".contains(char);
        let is_source = |word: &&str| Path::new(word).extension().is_some_and(|extension| extension == "rs");
        for path in text.split(|char| !is_path(char)).filter(|word| word.contains('/')).filter(is_source) {
            named += 1;
            if !sources.iter().any(|source| source.ends_with(path.trim_start_matches("../"))) {
                absent.push(format!("{} names {path}", document.display()));
            }
        }
    }
    assert!(named > 30, "{named}");
    assert!(absent.is_empty(), "{absent:#?}");
}
