//! Where the programs are that a bed runs.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// Names the folder of the control plane's programs.
const CONTROL_PLANE: &str = "GATEWARD_TESTBED";
/// Names a folder that `setup-envtest` has filled, with etcd, kube-apiserver and kubectl: no Pod runs on these.
const ASSETS: &str = "KUBEBUILDER_ASSETS";
/// Names the binary under test; otherwise it is the one that cargo has put beside the test program.
const GATEWARD: &str = "GATEWARD_BIN";

/// The programs of a bed.
#[derive(Debug, Clone)]
pub struct Programs {
    control_plane: PathBuf,
    /// Or why there is none.
    gateward: Result<PathBuf, String>,
    /// The process group in which they run, where it is not that of the process that starts them.
    group: Option<i32>,
}

impl Programs {
    /// Finds or builds them.
    pub fn find() -> anyhow::Result<Self> {
        let named = [CONTROL_PLANE, ASSETS].into_iter().find_map(std::env::var_os);
        let control_plane = named.map_or_else(built, |folder| Ok(folder.into()))?;
        let gateward = std::env::var_os(GATEWARD).map_or_else(beside_us, |file| Ok(file.into()));
        Ok(Self { control_plane, gateward, group: None })
    }

    /// Whether there is a program of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.control_plane.join(name).exists()
    }

    /// The same ones, in a process group.
    pub(crate) fn in_group(self, group: Option<i32>) -> Self {
        Self { group, ..self }
    }

    /// Lets a further process find the same ones.
    pub(crate) fn pass_on(&self, command: &mut Command) {
        command.env(CONTROL_PLANE, &self.control_plane);
        if let Ok(gateward) = &self.gateward {
            command.env(GATEWARD, gateward);
        }
    }

    /// A program of `testbed/build.sh`: of the control plane, or one of those beside it.
    pub fn control_plane(&self, name: &str) -> Command {
        self.command(&self.control_plane.join(name))
    }

    /// kubectl as the administrator of the bed in a folder.
    pub(crate) fn kubectl(&self, folder: &Path) -> Command {
        let mut command = self.control_plane("kubectl");
        command.env("KUBECONFIG", folder.join("kubeconfig")).env("HOME", folder);
        command.current_dir(folder).stdin(Stdio::null());
        command
    }

    /// What lies beside these programs under a name.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.control_plane.join(name)
    }

    /// The binary of Dynamo's webhooks.
    pub fn gateward(&self) -> Command {
        let mut command = self.command(self.gateward.as_ref().unwrap());
        command.env_remove("GATEWARD_LOG");
        command
    }

    /// Where that is, if it is built.
    pub(crate) fn gateward_file(&self) -> Option<&Path> {
        self.gateward.as_deref().ok()
    }

    /// The program of an example, if it is built beside that.
    pub fn example(&self, name: &str) -> Option<Command> {
        let program = self.gateward_file()?.with_file_name(name);
        program.is_file().then(|| self.command(&program))
    }

    /// A command that ends with the bed.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Some(group) = self.group {
            command.process_group(group);
        }
        command
    }
}

fn built() -> anyhow::Result<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testbed/build.sh");
    if !script.exists() {
        bail!(
            "the test bed has no programs: name a folder of etcd and kube-apiserver in {ASSETS} (setup-envtest fills one)"
        );
    }
    let output = Command::new(&script)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", script.display()))?;
    if !output.status.success() {
        bail!("{} failed", script.display());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().into())
}

fn beside_us() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    // Tests are a folder deeper than binaries.
    let mut candidates = program.ancestors().skip(1).take(2).map(|folder| folder.join("gateward"));
    candidates.find(|gateward| gateward.is_file()).ok_or_else(|| {
        let program = program.display();
        format!("gateward is not built beside {program}: `cargo build --package gateward-cli`, or `make test-cluster`")
    })
}
