//! Files that are replaced as a whole.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context as _, bail};

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// Those who might before.
    Same,
    /// Its owner alone, whatever was before.
    Owner,
}

/// Writes a file. A reader never sees half of it, and it keeps its permissions. What is no file, such as a link or a device, is
/// neither followed nor replaced.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, text, Readers::Same)
}

/// The same of a file that nobody but its owner may read.
pub(super) fn write_secret(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, text, Readers::Owner)
}

fn replace(path: &Path, text: &str, readers: Readers) -> anyhow::Result<()> {
    let found = fs::symlink_metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        bail!("cannot write {}: it is not a regular file", path.display());
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let kept = found.filter(|_| readers == Readers::Same);
    let written = write_new(Path::new(&beside), text, readers)
        .and_then(|()| kept.map_or(Ok(()), |found| fs::set_permissions(&beside, found.permissions())))
        .and_then(|()| fs::rename(&beside, path));
    if written.as_ref().is_err_and(|error| error.kind() != ErrorKind::AlreadyExists) {
        // What was written of it is of no use; the error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, text: &str, readers: Readers) -> std::io::Result<()> {
    let mode = if readers == Readers::Owner { 0o600 } else { 0o666 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}
