//! What a bed stands on: as many namespaces as the machine grants.

use std::net::Ipv4Addr;
use std::process::Command;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// How a command ends that cannot find the program which it is to run.
const NOT_FOUND: i32 = 127;

/// What a bed stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ground {
    /// Networks, mounts and processes of its own, in a user namespace in which this process is root, whatever its user.
    UserNamespace,
    /// Networks, mounts and processes of its own, without a user namespace: we are root.
    Root,
    /// The machine's own network, mounts and processes. No Pod can run there.
    Host,
}

impl Ground {
    /// The best that this machine grants.
    pub fn find() -> anyhow::Result<Self> {
        Ok(Grant::find()?.ground)
    }

    /// The arguments of `unshare`. The programs inside end with the first of them, and that one with `unshare`; mounts stay
    /// inside, as they do unless an argument says otherwise.
    fn namespaces(self) -> &'static [&'static str] {
        match self {
            Self::UserNamespace => {
                &["--user", "--map-root-user", "--net", "--mount", "--pid", "--kill-child", "--mount-proc"]
            }
            Self::Root => &["--net", "--mount", "--pid", "--kill-child", "--mount-proc"],
            Self::Host => &[],
        }
    }

    /// A command that runs a program there.
    pub(crate) fn command(self, program: &std::ffi::OsStr) -> Command {
        if self == Self::Host {
            return Command::new(program);
        }
        let mut command = Command::new("unshare");
        command.args(self.namespaces()).arg("--").arg(program);
        command
    }

    /// The beginning of a command that runs beside a process there, given by somebody outside.
    pub(crate) fn door(self, holder: &str) -> Option<String> {
        let user = match self {
            Self::UserNamespace => " --user --preserve-credentials",
            Self::Root => "",
            Self::Host => return None,
        };
        Some(format!("nsenter --target {holder}{user} --net --mount"))
    }

    /// The addresses of Services. Where the network is not ours, they are in the loopback network: nothing else has them,
    /// and what is sent there goes nowhere.
    pub(crate) fn services(self) -> &'static str {
        match self {
            Self::UserNamespace | Self::Root => "10.96.0.0/16",
            Self::Host => "127.96.0.0/16",
        }
    }

    /// An address at which somebody can listen who plays a Pod. On the machine's own network it is one that a Pod's
    /// status can have, but no `EndpointSlice`: the API server can't be made to dial it for a Service.
    pub(crate) fn pod_address(self, number: u8) -> Ipv4Addr {
        match self {
            Self::UserNamespace | Self::Root => [10, 244, 0, number].into(),
            Self::Host => [127, 244, 0, number].into(),
        }
    }

    /// Why this machine doesn't grant it, where it doesn't.
    fn refusal(self) -> anyhow::Result<Option<String>> {
        // A network that we may not use is none.
        let output = self.command("ip".as_ref()).args(["link", "set", "lo", "up"]).output();
        let output = output.context("the test bed needs `unshare` (Debian: util-linux)")?;
        if output.status.code() == Some(NOT_FOUND) {
            bail!("the test bed needs `ip` (Debian: iproute2)");
        }
        let complaint = || String::from_utf8_lossy(&output.stderr).trim().replace('\n', ", ");
        Ok((!output.status.success()).then(complaint))
    }
}

/// A ground, and why it is no better one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) ground: Ground,
    /// What each better one was refused with.
    refusals: Vec<String>,
}

impl Grant {
    /// The best that this machine grants.
    pub(crate) fn find() -> anyhow::Result<Self> {
        Self::best(Ground::refusal)
    }

    fn best(mut refusal: impl FnMut(Ground) -> anyhow::Result<Option<String>>) -> anyhow::Result<Self> {
        let mut refusals = Vec::new();
        for ground in [Ground::UserNamespace, Ground::Root] {
            match refusal(ground)? {
                None => return Ok(Self { ground, refusals }),
                Some(complaint) => refusals.push(complaint),
            }
        }
        Ok(Self { ground: Ground::Host, refusals })
    }

    /// The advice for a person whose machine lacks namespaces.
    pub(crate) fn notice(&self) -> Option<String> {
        let instead = match self.ground {
            Ground::UserNamespace => return None,
            Ground::Root => "it has the other namespaces as root",
            Ground::Host => "nor, as root, any other; it uses the machine's own network, where no Pod can run",
        };
        Some(format!("the test bed is granted no user namespace: {instead} ({})", self.refusals.join("; ")))
    }

    /// Fails where no Pod can run, and tells how to change that.
    pub(crate) fn require_pods(&self) -> anyhow::Result<()> {
        if self.ground != Ground::Host {
            return Ok(());
        }
        bail!(
            "Pods need user, network, mount and process namespaces, and this machine doesn't grant them: {}\n  \
             Look at the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and \
             kernel.apparmor_restrict_unprivileged_userns; in a container, at its seccomp profile and masked paths of \
             /proc (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined). Root with \
             CAP_SYS_ADMIN and CAP_NET_ADMIN does without user namespaces.",
            self.refusals.join("; ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(only: &[Ground]) -> Grant {
        Grant::best(|ground| Ok((!only.contains(&ground)).then(|| format!("{ground:?} is forbidden")))).unwrap()
    }

    #[test]
    fn takes_a_user_namespace_before_all_others_and_says_nothing() {
        let grant = granted(&[Ground::UserNamespace, Ground::Root]);
        assert_eq!((grant.ground, grant.notice()), (Ground::UserNamespace, None));
    }

    #[test]
    fn does_without_a_user_namespace_as_root_and_says_why() {
        let grant = granted(&[Ground::Root]);
        assert_eq!(grant.ground, Ground::Root);
        assert!(grant.notice().unwrap().ends_with("as root (UserNamespace is forbidden)"), "{:?}", grant.notice());
        assert!(grant.require_pods().is_ok());
    }

    #[test]
    fn has_no_pods_without_namespaces_and_says_why() {
        let grant = granted(&[]);
        assert_eq!(grant.ground, Ground::Host);
        let complaint = grant.require_pods().unwrap_err().to_string();
        assert!(complaint.contains(": UserNamespace is forbidden; Root is forbidden\n"), "{complaint}");
        assert!(complaint.contains("user.max_user_namespaces"), "{complaint}");
    }

    #[test]
    fn asks_no_further_where_a_tool_is_missing() {
        assert!(Grant::best(|_| bail!("no unshare")).is_err());
    }

    #[test]
    fn enters_a_user_namespace_only_where_there_is_one() {
        let doors = [Ground::UserNamespace, Ground::Root, Ground::Host].map(|ground| ground.door("7"));
        let wanted =
            ["nsenter --target 7 --user --preserve-credentials --net --mount", "nsenter --target 7 --net --mount"];
        assert_eq!(doors, [Some(wanted[0].to_owned()), Some(wanted[1].to_owned()), None]);
    }
}
