//! Files that are replaced as a whole.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context as _, bail};

/// Writes a file. A reader never sees half of it, and it keeps its permissions. What is no file, such as a link or a device, is
/// neither followed nor replaced.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let found = fs::symlink_metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        bail!("cannot write {}: it is not a regular file", path.display());
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let written = write_new(Path::new(&beside), text)
        .and_then(|()| found.map_or(Ok(()), |found| fs::set_permissions(&beside, found.permissions())))
        .and_then(|()| fs::rename(&beside, path));
    if written.as_ref().is_err_and(|error| error.kind() != ErrorKind::AlreadyExists) {
        // What was written of it is of no use; the error is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}
