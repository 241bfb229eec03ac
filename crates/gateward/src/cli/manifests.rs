//! The files that a command was given, and the manifests in folders.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, anyhow};
use gateward_core::terminal;
use gateward_lint::yaml::Source;

use crate::cli::bounded;

/// A shell goes by the last command of a pipe alone: what was to write here may have failed without a word of it.
const EMPTY_STDIN: &str = "there is no manifest on standard input; look whether the command that writes it has failed \
                           (in a script, `set -o pipefail` ends with its exit code)";

/// Files to read, and what can't be looked at.
#[derive(Debug, Default)]
pub(crate) struct Manifests {
    /// Files, in the order in which they were named; those of a folder by their names.
    pub(crate) files: Vec<PathBuf>,
    /// Files and folders that are not there, or not to be read by us.
    pub(crate) troubles: Vec<anyhow::Error>,
    /// What was named, as it was.
    named: Vec<PathBuf>,
    /// What was named and holds no manifest, in words.
    empty: Vec<String>,
}

impl Manifests {
    /// All that the named files, folders and `-` lead to.
    pub(crate) fn of(named: &[PathBuf]) -> Self {
        let mut manifests = Self { named: named.to_owned(), ..Self::default() };
        for path in named {
            if path.is_dir() && !is_stdin(path) {
                manifests.take_folder(path);
            } else {
                manifests.files.push(path.clone());
            }
        }
        manifests
    }

    /// The manifests in a folder and the folders below. Links to folders are not followed: they may lead in circles.
    fn take_folder(&mut self, folder: &Path) {
        let troubles = self.troubles.len();
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let listed = std::fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let entries = listed.with_context(|| format!("cannot read {}", folder.display()));
            for entry in entries.unwrap_or_else(|trouble| self.nothing(trouble)) {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else if is_manifest(&path) && may_be_file(&path) {
                    found.push(path);
                }
            }
        }
        if found.is_empty() && self.troubles.len() == troubles {
            self.empty.push(format!("no manifest (*.yaml, *.yml or *.json) was found in {}", folder.display()));
        }
        found.sort();
        self.files.extend(found);
    }

    /// Takes note of files in which no document was found. Those of a folder may be so: nobody asked for them.
    pub(crate) fn note_empty(&mut self, files: &[PathBuf]) {
        for file in files.iter().filter(|file| self.named.contains(file)) {
            if is_stdin(file) {
                self.troubles.push(anyhow!(EMPTY_STDIN));
            } else {
                self.empty.push(format!("there is no manifest in {}", file.display()));
            }
        }
    }

    /// Says on standard error what was named and holds no manifest: who misnames it would take silence for a verdict.
    pub(crate) fn warn_of_empty(&self) {
        for empty in &self.empty {
            // A standard error that is closed is no reason to end otherwise.
            let _ = writeln!(anstream::stderr(), "warning: {}", terminal::line(empty));
        }
    }

    fn nothing<T>(&mut self, trouble: anyhow::Error) -> Vec<T> {
        self.troubles.push(trouble);
        Vec::new()
    }
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether it is a file, or says why not when it is read; a pipe would never end.
fn may_be_file(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |about| about.is_file())
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if is_stdin(path) {
        let stdin = std::io::stdin().lock();
        return bounded::within(stdin, bounded::MANIFESTS).context("cannot read standard input");
    }
    bounded::read(path, bounded::MANIFESTS)
}

/// Whether a text has no document, as a file of comments, and nothing is wrong with it.
pub(crate) fn is_empty(source: &Source) -> bool {
    source.documents.is_empty() && source.findings.is_empty()
}

/// One line on a terminal that says where a command stands, once it takes longer than a second.
pub(crate) struct Progress {
    started: Instant,
    files: usize,
    shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), files: 0, shown: false }
    }

    /// The next file's turn has come.
    pub(crate) fn tick(&mut self, path: &Path) {
        self.files += 1;
        if self.started.elapsed().as_secs() >= 1 && std::io::stderr().is_terminal() {
            self.shown = true;
            // Progress is a courtesy; a terminal that can't show it is no error.
            let _ = write!(
                std::io::stderr(),
                "\r\x1b[Kchecking {}: {}",
                self.files,
                terminal::line(&path.display().to_string())
            );
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
