//! Files that are converted in their place.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use gateward_core::terminal;

use super::converter::Outcome;
use super::found::{Found, Passing};
use crate::check::report::counted;
use crate::cli::whole_file;
use crate::exit::Exit;

/// Writes the files that change. One with an object that can't be converted stays as it is.
pub(super) fn write(mut found: Found) -> anyhow::Result<Exit> {
    let tried = changed(&found).map(|(path, outcome)| write_one(path, outcome).map(|()| path.display().to_string()));
    let (written, failed): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
    let written: Vec<String> = written.into_iter().flatten().collect();
    found.troubles.extend(failed.into_iter().filter_map(Result::err).map(|trouble| format!("{trouble:#}")));
    report(&found, &written, "converted")?;
    Ok(found.ending())
}

/// Lists the files that change.
pub(super) fn check(found: &Found) -> anyhow::Result<Exit> {
    let changed: Vec<String> = changed(found).map(|(path, _)| path.display().to_string()).collect();
    report(found, &changed, "to convert")?;
    Ok(found.ending().max(if changed.is_empty() { Exit::Success } else { Exit::Findings }))
}

fn changed(found: &Found) -> impl Iterator<Item = (&Path, &Outcome)> {
    let changed = found.outcomes.iter().filter(|(_, outcome)| outcome.converted > 0 && outcome.is_whole());
    changed.map(|(path, outcome)| (path.as_path(), outcome))
}

/// Who links to a file means the file.
fn write_one(path: &Path, outcome: &Outcome) -> anyhow::Result<()> {
    let path = fs::canonicalize(path).with_context(|| format!("cannot write {}", path.display()))?;
    whole_file::write(&path, &outcome.text)
}

fn report(found: &Found, files: &[String], what: &str) -> anyhow::Result<()> {
    found.tell(Passing::Counted);
    let mut stdout = anstream::stdout().lock();
    for file in files {
        writeln!(stdout, "{}", terminal::line(file))?;
    }
    let objects = changed(found).map(|(_, outcome)| outcome.converted).sum();
    let failed = found.outcomes.iter().filter(|(_, outcome)| !outcome.is_whole()).count();
    let unchanged = found.outcomes.len() - changed(found).count() - failed;
    let failed = if failed == 0 { String::new() } else { format!(", {failed} can't be converted") };
    let (objects, files) = (counted(objects, "object"), counted(files.len(), "file"));
    writeln!(stdout, "{what}: {objects} in {files}; {unchanged} unchanged{failed}")?;
    Ok(())
}
