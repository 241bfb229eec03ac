//! The published manifests, in `../shared/corpus` beside the repository.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Their folder. Where it is absent, prints that `test` is skipped; to standard error itself, as the test harness captures
/// `eprintln!` and `make test` repeats the line at its end.
pub fn folder(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/dynamo");
    if folder.is_dir() {
        return Some(folder);
    }
    let mut stderr = std::io::stderr();
    let _ = writeln!(stderr, "skipped: {test}: ../shared/corpus is absent");
    None
}
