//! Generated files in a folder that people also edit.
//!
//! Beside the files stands a list of what was written, in the format of `sha256sum`, one list for each command. A file
//! that differs from its line was changed by a person, and stays unless the user says otherwise.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};
use gateward_certs::Fingerprint;
use gateward_core::terminal;

use crate::cli::{bounded, whole_file};
use crate::exit::Exit;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GeneratedFile {
    /// Within the folder, its parts apart by `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What happens to files that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// They are compared with what would be written.
    Compare,
    /// Those that a person changed stay, and nothing is written.
    Keep,
    /// All are replaced.
    Replace,
}

/// How a file in the folder stands to what is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    /// It isn't there.
    Missing,
    /// It is what would be written.
    Current,
    /// It is what an earlier run wrote.
    Outdated,
    /// It is a person's.
    Changed,
    /// An earlier run wrote it, and it would not be written now.
    Obsolete,
}

/// Writes the files of `command` (a word of its name) into the folder, or compares them with what is there.
pub(crate) fn put(folder: &Path, command: &str, files: &[GeneratedFile], treatment: Treatment) -> anyhow::Result<Exit> {
    let list = folder.join(format!(".generate-{command}.sha256"));
    let before = written_before(&list)?;
    let states = states(folder, files, &before)?;
    match treatment {
        Treatment::Compare => compare(folder, &states),
        Treatment::Keep | Treatment::Replace => {
            if treatment == Treatment::Keep {
                refuse_changed(folder, &states)?;
            }
            write(folder, files, &states)?;
            whole_file::write(&list, &sums(files))?;
            Ok(Exit::Success)
        }
    }
}

/// What each file of the folder is; obsolete ones last.
fn states<'a>(
    folder: &Path,
    files: &'a [GeneratedFile],
    before: &'a BTreeMap<String, String>,
) -> anyhow::Result<Vec<(&'a str, FileState)>> {
    let mut states = Vec::with_capacity(files.len());
    for file in files {
        let state = match present(&folder.join(&file.path))? {
            None => FileState::Missing,
            Some(text) if text == file.text.as_bytes() => FileState::Current,
            Some(text) if before.get(&file.path).is_some_and(|sum| *sum == sha256(&text)) => FileState::Outdated,
            Some(_) => FileState::Changed,
        };
        states.push((file.path.as_str(), state));
    }
    for (path, sum) in before.iter().filter(|(path, _)| files.iter().all(|file| file.path != **path)) {
        match present(&folder.join(path))? {
            Some(text) if *sum == sha256(&text) => states.push((path, FileState::Obsolete)),
            _ => {}
        }
    }
    Ok(states)
}

fn compare(folder: &Path, states: &[(&str, FileState)]) -> anyhow::Result<Exit> {
    let mut stdout = anstream::stdout();
    let mut exit = Exit::Success;
    for (path, state) in states {
        let remark = match state {
            FileState::Current => continue,
            FileState::Missing => "is missing",
            FileState::Outdated => "is stale",
            FileState::Changed => "differs",
            FileState::Obsolete => "would not be written any more",
        };
        exit = Exit::Findings;
        writeln!(stdout, "{} {remark}", shown(&folder.join(path)))?;
    }
    Ok(exit)
}

fn refuse_changed(folder: &Path, states: &[(&str, FileState)]) -> anyhow::Result<()> {
    let changed = states.iter().filter(|(_, state)| *state == FileState::Changed);
    let paths: Vec<String> = changed.map(|(path, _)| shown(&folder.join(path))).collect();
    if paths.is_empty() {
        return Ok(());
    }
    bail!(
        "nothing was written: {} changed since it was generated, or was never generated; move it away, or replace it \
         with --force",
        paths.join(", ")
    )
}

fn write(folder: &Path, files: &[GeneratedFile], states: &[(&str, FileState)]) -> anyhow::Result<()> {
    let mut stderr = anstream::stderr();
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", shown(folder)))?;
    for (path, state) in states {
        let place = folder.join(path);
        match (state, files.iter().find(|file| file.path == *path)) {
            (FileState::Current, _) => {}
            (_, Some(file)) => {
                let parent = place.parent().unwrap_or(folder);
                fs::create_dir_all(parent).with_context(|| format!("cannot make {}", shown(parent)))?;
                whole_file::write(&place, &file.text)?;
                writeln!(stderr, "wrote {}", shown(&place))?;
            }
            (_, None) => {
                fs::remove_file(&place).with_context(|| format!("cannot remove {}", shown(&place)))?;
                writeln!(stderr, "removed {}", shown(&place))?;
            }
        }
    }
    Ok(())
}

/// The files that an earlier run wrote, and what was in them.
fn written_before(list: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let Some(text) = present(list)? else { return Ok(BTreeMap::new()) };
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    Ok(lines.filter(|(_, path)| is_within(path)).map(|(sum, path)| (path.to_owned(), sum.to_owned())).collect())
}

/// Whether a path leads nowhere but below the folder: the list is a file that anybody may have written.
fn is_within(path: &str) -> bool {
    !path.is_empty() && PathBuf::from(path).components().all(|part| matches!(part, Component::Normal(_)))
}

fn sums(files: &[GeneratedFile]) -> String {
    files.iter().fold(String::new(), |mut text, file| {
        let _ = writeln!(text, "{}  {}", sha256(file.text.as_bytes()), file.path);
        text
    })
}

fn sha256(bytes: &[u8]) -> String {
    Fingerprint::of(bytes).to_string()
}

/// The bytes of a file, if it is there.
pub(crate) fn present(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::symlink_metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        _ => bounded::read(path, bounded::MANIFESTS).map(Some),
    }
}

/// A path for people.
pub(crate) fn shown(path: &Path) -> String {
    terminal::line(&path.display().to_string()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> GeneratedFile {
        GeneratedFile { path: path.into(), text: text.into() }
    }

    fn read(folder: &Path, path: &str) -> Option<String> {
        fs::read_to_string(folder.join(path)).ok()
    }

    #[test]
    fn files_are_written_and_found_current() {
        let folder = tempfile::tempdir().unwrap();
        let files = [file("a.yaml", "a: 1\n"), file("deep/b.yaml", "b: 1\n")];
        assert_eq!(put(folder.path(), "all", &files, Treatment::Compare).unwrap(), Exit::Findings);
        assert_eq!(put(folder.path(), "all", &files, Treatment::Keep).unwrap(), Exit::Success);
        assert_eq!(put(folder.path(), "all", &files, Treatment::Compare).unwrap(), Exit::Success);
        assert_eq!(read(folder.path(), "deep/b.yaml").as_deref(), Some("b: 1\n"));
    }

    #[test]
    fn what_a_run_wrote_is_replaced_or_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "all", &[file("a.yaml", "1"), file("b.yaml", "1")], Treatment::Keep).unwrap();
        assert_eq!(put(folder.path(), "all", &[file("a.yaml", "2")], Treatment::Compare).unwrap(), Exit::Findings);
        put(folder.path(), "all", &[file("a.yaml", "2")], Treatment::Keep).unwrap();
        assert_eq!((read(folder.path(), "a.yaml").as_deref(), read(folder.path(), "b.yaml")), (Some("2"), None));
    }

    #[test]
    fn what_a_person_changed_stays_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "all", &[file("a.yaml", "1"), file("b.yaml", "1")], Treatment::Keep).unwrap();
        fs::write(folder.path().join("a.yaml"), "mine").unwrap();
        let next = [file("a.yaml", "2"), file("b.yaml", "2")];
        let error = put(folder.path(), "all", &next, Treatment::Keep).unwrap_err().to_string();
        assert!(error.contains("a.yaml") && !error.contains("b.yaml") && error.contains("--force"), "{error}");
        assert_eq!(read(folder.path(), "b.yaml").as_deref(), Some("1"));
        put(folder.path(), "all", &next, Treatment::Replace).unwrap();
        assert_eq!(read(folder.path(), "a.yaml").as_deref(), Some("2"));
    }

    #[test]
    fn a_changed_file_that_would_not_be_written_any_more_stays() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "all", &[file("a.yaml", "1"), file("b.yaml", "1")], Treatment::Keep).unwrap();
        fs::write(folder.path().join("b.yaml"), "mine").unwrap();
        put(folder.path(), "all", &[file("a.yaml", "1")], Treatment::Keep).unwrap();
        assert_eq!(read(folder.path(), "b.yaml").as_deref(), Some("mine"));
    }

    #[test]
    fn two_commands_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "rbac", &[file("role.yaml", "1")], Treatment::Keep).unwrap();
        put(folder.path(), "deployment", &[file("service.yaml", "1")], Treatment::Keep).unwrap();
        assert_eq!(put(folder.path(), "rbac", &[file("role.yaml", "1")], Treatment::Compare).unwrap(), Exit::Success);
        assert!(read(folder.path(), "role.yaml").is_some());
    }

    #[test]
    fn a_list_names_no_file_outside_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs::write(&outside, "1").unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir(&inside).unwrap();
        let sum = sha256(b"1");
        let list = format!("{sum}  ../outside\n{sum}  {}\nnonsense\n", outside.display());
        fs::write(inside.join(".generate-all.sha256"), list).unwrap();
        put(&inside, "all", &[file("a.yaml", "1")], Treatment::Keep).unwrap();
        assert!(outside.exists());
    }

    #[test]
    fn a_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, "theirs").unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join("a.yaml")).unwrap();
        assert!(put(folder.path(), "all", &[file("a.yaml", "1")], Treatment::Replace).is_err());
        assert_eq!(fs::read_to_string(target).unwrap(), "theirs");
    }
}
