//! A user's shell.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use gateward_testbed::Bed;

/// A shell of the bed's administrator, in a folder of its own: `kubectl`, `helm` and `gateward` are found, and the chart
/// is there under the names by which the documentation calls it.
pub struct Shell {
    bed: Arc<Bed>,
    folder: PathBuf,
}

impl Shell {
    /// A shell in a new folder of that name.
    pub fn new(bed: &Arc<Bed>, name: &str) -> anyhow::Result<Self> {
        let folder = bed.folder().join(name);
        std::fs::create_dir(&folder)?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        symlink(root.join("deploy"), folder.join("deploy"))?;
        symlink(root.join("deploy/helm/dynamo-platform"), folder.join("dynamo-platform"))?;
        Ok(Self { bed: Arc::clone(bed), folder })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs what a user types to its end.
    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Starts what a user types, and reads what it writes.
    pub fn start(&self, line: &str) -> Child {
        self.command(line).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        equip(command.args(["-c", line]), &self.bed).unwrap();
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

/// Lets a command find the programs of a bed, and these its API server. Gives the search path.
pub(crate) fn equip(command: &mut Command, bed: &Bed) -> anyhow::Result<OsString> {
    let helm = bed.helm();
    let settings = helm.get_envs().filter(|(name, _)| *name != "HOME");
    command.envs(settings.filter_map(|(name, value)| Some((name, value?))));
    let path = path(bed)?;
    command.env("PATH", &path);
    Ok(path)
}

/// Our programs, and then what was there before.
fn path(bed: &Bed) -> anyhow::Result<OsString> {
    let programs = [bed.programs().control_plane("kubectl"), bed.programs().gateward()];
    let folders = programs.iter().filter_map(|program| Path::new(program.get_program()).parent());
    let before = std::env::var_os("PATH").unwrap_or_default();
    let before = std::env::split_paths(&before);
    Ok(std::env::join_paths(folders.map(Path::to_owned).chain(before))?)
}
