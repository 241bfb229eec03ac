//! The network of the Pods: a bridge, and for each Pod a network namespace with an address on it.

use std::io::{BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Context, bail};

/// The address of the machine on the bridge; all Pods are beside it.
pub(crate) const MACHINE: Ipv4Addr = Ipv4Addr::new(10, 244, 0, 1);

/// A bridge without a hardware address of its own has that of some Pod, until that one ends; then no peer finds it for
/// half a minute.
const OWN_MAC: &str = "02:00:0a:f4:00:01";

/// A tool that is missing is named together with the Debian package that has it.
const TOOLS: &str = "the test bed needs it (Debian: iproute2, util-linux)";

/// The bridge, and which addresses are taken.
#[derive(Debug)]
pub(crate) struct Network {
    /// The host part of the address that was given away last.
    last: AtomicU16,
}

/// The namespaces that the containers of a Pod share: network and host name. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Does nothing but keep them.
    pause: Child,
    ip: Ipv4Addr,
}

impl Network {
    /// Makes the bridge.
    pub(crate) fn new() -> anyhow::Result<Self> {
        // Tests without a node may listen on any Pod's address; from here on these are Pods' own.
        batch(Command::new("ip"), "route del local 10.244.0.0/16 dev lo\n")?;
        let bridge = format!(
            "link add cbr0 address {OWN_MAC} type bridge forward_delay 0\naddr add {MACHINE}/16 dev cbr0\nlink set cbr0 up\n"
        );
        batch(Command::new("ip"), &bridge).context("cannot make a bridge for Pods (Linux: modules bridge and veth)")?;
        Ok(Self { last: AtomicU16::new(1) })
    }

    /// Makes the namespaces of a Pod. No address is given twice.
    pub(crate) fn join(&self, host_name: &str) -> anyhow::Result<Shared> {
        let host = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let [third, fourth] = host.to_be_bytes();
        let shared = Shared { pause: pause(host_name)?, ip: Ipv4Addr::new(10, 244, third, fourth) };
        let (pid, ip) = (shared.pause.id(), shared.ip);
        let cable =
            format!("link add veth{host} type veth peer name eth0 netns {pid}\nlink set veth{host} master cbr0 up\n");
        batch(Command::new("ip"), &cable)?;
        let inside =
            format!("link set lo up\naddr add {ip}/16 dev eth0\nlink set eth0 up\nroute add default via {MACHINE}\n");
        let mut command = shared.enter();
        command.arg("ip");
        batch(command, &inside)?;
        Ok(shared)
    }
}

impl Shared {
    /// The Pod's address.
    pub(crate) fn ip(&self) -> Ipv4Addr {
        self.ip
    }

    /// A command that runs its arguments inside.
    pub(crate) fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.pause.id())).args(["--net", "--uts", "--"]);
        command
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.pause.kill();
        let _ = self.pause.wait();
    }
}

/// A process in namespaces of its own.
fn pause(host_name: &str) -> anyhow::Result<Child> {
    // Not every machine has the program, and only root may write the file.
    let named = r#"{ hostname "$0" || echo "$0" > /proc/sys/kernel/hostname; } 2> /dev/null"#;
    let script = format!("{named}; echo; exec sleep infinity");
    let mut command = Command::new("unshare");
    command.args(["--net", "--uts", "--", "sh", "-c", &script, host_name]).process_group(0);
    let mut pause = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context(TOOLS)?;
    let mut line = String::new();
    if let Some(output) = pause.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    if line.is_empty() {
        bail!("no namespaces for a Pod: unshare ended with {}", pause.wait()?);
    }
    Ok(pause)
}

/// Has `ip` work off several lines at once.
fn batch(mut ip: Command, lines: &str) -> anyhow::Result<()> {
    ip.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = ip.spawn().context(TOOLS)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(lines.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("ip: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
