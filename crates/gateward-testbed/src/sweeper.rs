//! The end of what a bed leaves behind, where no namespace sees to it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Waits until its pipe is closed, which is when our process has ended in whatever way. A process
/// that dies may make a file yet, so that the folder is removed as often as it takes.
const SCRIPT: &str = r#"
cat > /dev/null
kill -s KILL -- "-$0"
for round in 1 2 3 4 5; do rm -rf -- "$1" && exit; sleep 0.1; done"#;

/// A folder and a process group that end when this is dropped, and also when our process is killed.
///
/// A signal at the parent's death would not do: it comes at the end of the thread that started a process, and those
/// of tests are short.
#[derive(Debug)]
pub(crate) struct Sweeper {
    /// Does nothing but keep the group.
    leader: Child,
    shell: Child,
}

impl Sweeper {
    /// Makes a folder that only this user may read, and a group.
    pub(crate) fn of(folder: &Path) -> std::io::Result<Self> {
        DirBuilder::new().mode(0o700).create(folder)?;
        let leader = aside(Command::new("sleep").arg("infinity")).stdin(Stdio::null()).spawn()?;
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, &leader.id().to_string()]).arg(folder);
        let shell = aside(&mut shell).stdin(Stdio::piped()).spawn()?;
        Ok(Self { leader, shell })
    }

    /// The group, for processes that are to end.
    pub(crate) fn group(&self) -> i32 {
        self.leader.id().cast_signed()
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // Nothing is left to be done where that fails.
        let _ = self.shell.wait();
        let _ = self.leader.wait();
    }
}

/// In a group of its own, so that what ends a test program at a terminal doesn't reach it; silent, so that no one who
/// reads what the test program says waits for it.
fn aside(command: &mut Command) -> &mut Command {
    command.process_group(0).current_dir("/").stdout(Stdio::null()).stderr(Stdio::null())
}
