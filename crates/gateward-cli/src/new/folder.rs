//! A folder that is written as a whole or not at all.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, bail};

/// Writes the files, each a path within the folder and its text. The folder must be empty, or not be there.
pub fn write(folder: &Path, files: impl Iterator<Item = (String, String)>) -> anyhow::Result<()> {
    let shown = folder.display();
    match fs::symlink_metadata(folder) {
        Ok(found) if !found.is_dir() => bail!("{shown} is there already and is no folder; take another name"),
        Ok(_) if fs::read_dir(folder).with_context(|| format!("cannot read {shown}"))?.next().is_some() => {
            bail!("{shown} is not empty; take another name, or empty it first")
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot look at {shown}")),
    }
    let name = folder.file_name().with_context(|| format!("{shown} is no name of a folder"))?;
    let mut beside = name.to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = folder.with_file_name(beside);
    // What is there already is somebody else's.
    fs::create_dir(&beside).with_context(|| format!("cannot make the folder {}", beside.display()))?;
    // A folder that somebody has put something into meanwhile is not replaced.
    let written = fill(&beside, files)
        .and_then(|()| fs::rename(&beside, folder).with_context(|| format!("cannot make the folder {shown}")));
    if written.is_err() {
        // The error is the one to report.
        let _ = fs::remove_dir_all(&beside);
    }
    written
}

fn fill(folder: &Path, files: impl Iterator<Item = (String, String)>) -> anyhow::Result<()> {
    for (path, text) in files {
        let path = folder.join(path);
        let within = path.parent().unwrap_or(folder);
        fs::create_dir_all(within).with_context(|| format!("cannot make the folder {}", within.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> impl Iterator<Item = (String, String)> {
        [("README.md", "read"), ("src/main.rs", "fn main() {}")]
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
    }

    /// What a folder holds.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_made_or_filled() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("empty")).unwrap();
        for name in ["new", "empty"] {
            write(&root.path().join(name), files()).unwrap();
            assert_eq!(names(&root.path().join(name)), ["README.md", "src"]);
            assert_eq!(fs::read_to_string(root.path().join(name).join("src/main.rs")).unwrap(), "fn main() {}");
        }
        assert_eq!(names(root.path()), ["empty", "new"]);
    }

    #[test]
    fn a_folder_that_holds_something_stays_as_it_is() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("full");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".hidden"), "mine").unwrap();
        let why = write(&folder, files()).unwrap_err().to_string();
        assert!(why.ends_with("full is not empty; take another name, or empty it first"), "{why}");
        assert_eq!(names(&folder), [".hidden"]);
        assert_eq!(names(root.path()), ["full"]);
    }

    #[test]
    fn what_is_no_folder_is_not_followed_or_replaced() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "mine").unwrap();
        fs::create_dir(root.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(root.path().join("elsewhere"), root.path().join("link")).unwrap();
        for name in ["file", "link"] {
            let why = write(&root.path().join(name), files()).unwrap_err().to_string();
            assert!(why.ends_with("is no folder; take another name"), "{why}");
        }
        assert_eq!(fs::read_to_string(root.path().join("file")).unwrap(), "mine");
        assert_eq!(names(&root.path().join("elsewhere")), [""; 0]);
    }

    #[test]
    fn nothing_is_left_where_a_file_can_not_be_written() {
        let root = tempfile::tempdir().unwrap();
        let unwritable = [("a", "text"), ("a/b", "below a file")].into_iter();
        let unwritable = unwritable.map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert!(write(&root.path().join("new"), unwritable).is_err());
        assert_eq!(names(root.path()), [""; 0]);
    }
}
