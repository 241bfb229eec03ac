//! Machines that forbid namespaces: a namespace of users has limits of its own for those within it.

use std::process::Command;

use cluster_tests::Ground;

/// Takes the limits that are to be nothing, and then a command.
const SCRIPT: &str = r#"
set -e
ip link set lo up
for kind in $0; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done
exec "$@""#;

/// A command that runs this program where a ground is the best one left. A machine that grants no user namespace is
/// taken as it is.
pub fn forbidding(here: Ground, left: Ground) -> Command {
    let program = std::env::current_exe().unwrap();
    if here != Ground::UserNamespace {
        return Command::new(program);
    }
    let limits = match left {
        Ground::UserNamespace => "",
        Ground::Root => "user",
        Ground::Host => "user net mnt pid",
    };
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "--mount", "--", "sh", "-c", SCRIPT, limits]).arg(program);
    command
}
