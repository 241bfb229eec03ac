//! The way to where a bed stands.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::ground::{Grant, Ground};
use crate::programs::Programs;
use crate::sweeper::Sweeper;

/// Set for the program inside: what it was granted.
const INSIDE: &str = "GATEWARD_BED";

/// Set for the program inside too: the process that holds the namespaces, by its number outside.
const HOLDER: &str = "GATEWARD_BED_HOLDER";

/// The addresses of Services and of Pods. All of them are this machine's own, so that anyone may listen on them.
const NETWORKS: [&str; 2] = ["10.96.0.0/16", "10.244.0.0/16"];

/// A place for a bed.
pub struct Workspace {
    /// For what the bed writes: empty, and gone when this is dropped or the program ends.
    pub(crate) folder: PathBuf,
    pub(crate) grant: Grant,
    /// Where no namespace ends what is left.
    sweeper: Option<Sweeper>,
}

impl Workspace {
    /// An error where Pods can't run here.
    pub fn require_pods(&self) -> anyhow::Result<()> {
        self.grant.require_pods()
    }

    /// The process group that ends with the place, where there is one.
    pub(crate) fn group(&self) -> Option<i32> {
        self.sweeper.as_ref().map(Sweeper::group)
    }

    /// The beginning of a command that runs inside, given by somebody outside.
    pub fn door(&self) -> Option<String> {
        self.grant.ground.door(&std::env::var(HOLDER).ok()?)
    }
}

/// Goes inside. Outside this replaces the process and so returns only where that fails.
///
/// Must come before any thread is started.
pub fn enter() -> anyhow::Result<Workspace> {
    match std::env::var(INSIDE) {
        Ok(grant) => furnish(serde_json::from_str(&grant).context(INSIDE)?),
        Err(_) => match replace()? {},
    }
}

fn replace() -> anyhow::Result<Infallible> {
    let (programs, grant) = (Programs::find()?, Grant::find()?);
    if let Some(notice) = grant.notice() {
        eprintln!("{notice}");
    }
    let program = std::env::current_exe().context("cannot prepare the test bed")?;
    let mut command = grant.ground.command(program.as_os_str());
    command.args(std::env::args_os().skip(1));
    // A trace through the runtime and the harness would hide what a test says.
    programs.pass_on(command.env(INSIDE, serde_json::to_string(&grant)?).env("RUST_BACKTRACE", "0"));
    command.env(HOLDER, std::process::id().to_string());
    Err(anyhow::Error::from(command.exec()).context("cannot enter the test bed"))
}

fn furnish(grant: Grant) -> anyhow::Result<Workspace> {
    match grant.ground {
        Ground::UserNamespace | Ground::Root => {
            let folder = own_network_and_folder()?;
            Ok(Workspace { folder, grant, sweeper: None })
        }
        Ground::Host => {
            let folder = std::env::temp_dir().join(format!("gateward-bed-{}", std::process::id()));
            let sweeper = Sweeper::of(&folder).with_context(|| format!("cannot use {}", folder.display()))?;
            Ok(Workspace { folder, grant, sweeper: Some(sweeper) })
        }
    }
}

/// The folder is one to mount over. Each bed sees its own content of it, in memory, and outside it stays empty.
fn own_network_and_folder() -> anyhow::Result<PathBuf> {
    let folder = std::env::temp_dir().join("gateward-bed");
    std::fs::create_dir_all(&folder).context("cannot prepare the test bed")?;
    mount(&folder)?;
    let ip = |arguments: &[&str]| tell("ip", arguments.iter().map(OsStr::new));
    ip(&["link", "set", "lo", "up"])?;
    NETWORKS.into_iter().try_for_each(|network| ip(&["route", "add", "local", network, "dev", "lo"]))?;
    Ok(folder)
}

fn mount(folder: &Path) -> anyhow::Result<()> {
    tell("mount", [OsStr::new("-t"), "tmpfs".as_ref(), "bed".as_ref(), folder.as_os_str()])
}

fn tell<'a>(program: &str, arguments: impl IntoIterator<Item = &'a OsStr>) -> anyhow::Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("the test bed needs `{program}` (Debian: iproute2, mount)"))?;
    if !output.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
