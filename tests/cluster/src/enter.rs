//! The way into the namespaces of a bed.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::programs::Programs;

/// Set for the program inside: the folder that is its own there.
const INSIDE: &str = "GATEWARD_BED";

/// Set for the program inside too: the process that holds the namespaces, by its number outside.
const HOLDER: &str = "GATEWARD_BED_HOLDER";

/// A user namespace in which we are root; networks, mounts and processes of our own. The programs inside end with the
/// first of them, and that one with `unshare`.
const NAMESPACES: [&str; 7] =
    ["--user", "--map-root-user", "--net", "--mount", "--pid", "--kill-child", "--mount-proc"];

/// The addresses of Services and of Pods. All of them are this machine's own, so that anyone may listen on them.
const NETWORKS: [&str; 2] = ["10.96.0.0/16", "10.244.0.0/16"];

/// Goes inside. Outside this replaces the process and so returns only where that fails; inside it returns the folder
/// for what the bed writes. It is in memory, empty, and seen by nobody else.
///
/// Must come before any thread is started.
pub(crate) fn enter() -> anyhow::Result<PathBuf> {
    match std::env::var_os(INSIDE) {
        Some(folder) => furnish(folder.as_ref()).map(|()| folder.into()),
        None => Err(replace(&Programs::find()?)),
    }
}

fn replace(programs: &Programs) -> anyhow::Error {
    if let Err(error) = allowed() {
        return error;
    }
    let prepared = own_folder().and_then(|folder| Ok((folder, std::env::current_exe()?)));
    match prepared.context("cannot prepare the test bed") {
        Err(error) => error,
        Ok((folder, program)) => {
            let mut command = Command::new("unshare");
            command.args(NAMESPACES).arg("--").arg(program).args(std::env::args_os().skip(1));
            // A trace through the runtime and the harness would hide what a test says.
            programs.pass_on(command.env(INSIDE, folder).env("RUST_BACKTRACE", "0"));
            command.env(HOLDER, std::process::id().to_string());
            anyhow::Error::from(command.exec()).context("cannot run unshare")
        }
    }
}

/// The beginning of a command that runs inside, given by somebody outside.
pub(crate) fn door() -> Option<String> {
    let holder = std::env::var(HOLDER).ok()?;
    Some(format!("nsenter --target {holder} --user --preserve-credentials --net --mount"))
}

/// Whether this machine lets us have namespaces.
///
/// There is another way for a control plane where they are forbidden, in the machine's own network: Services at
/// loopback addresses, each with a forwarder to replicas on ports of their own. It isn't gone here, since without
/// networks of their own Pods are none: it needs root, one bed at a time, and other manifests than a user's.
fn allowed() -> anyhow::Result<()> {
    let output = Command::new("unshare")
        .args(NAMESPACES)
        .args(["--", "true"])
        .output()
        .context("the test bed needs `unshare` (Debian: util-linux)")?;
    if output.status.success() {
        return Ok(());
    }
    bail!(
        "the test bed needs user, network, mount and process namespaces, and this machine doesn't grant them: {}\n  \
         Look at the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and \
         kernel.apparmor_restrict_unprivileged_userns; in a container, at its seccomp profile and masked paths of \
         /proc (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined).",
        String::from_utf8_lossy(&output.stderr).trim()
    )
}

/// A folder to mount over. Each bed sees its own content of it, and outside it stays empty.
fn own_folder() -> std::io::Result<PathBuf> {
    let folder = std::env::temp_dir().join("gateward-bed");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn furnish(folder: &Path) -> anyhow::Result<()> {
    tell("mount", [OsStr::new("-t"), "tmpfs".as_ref(), "bed".as_ref(), folder.as_os_str()])?;
    let ip = |arguments: &[&str]| tell("ip", arguments.iter().map(OsStr::new));
    ip(&["link", "set", "lo", "up"])?;
    NETWORKS.into_iter().try_for_each(|network| ip(&["route", "add", "local", network, "dev", "lo"]))
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
