//! This process, as others read of it.

use std::time::SystemTime;

use gateward_certs::rfc3339;
use gateward_cluster::dev::DevHolder;

/// Where Linux has the machine's name.
const NAME: &str = "/proc/sys/kernel/hostname";
/// Where shells have it elsewhere.
const VARIABLE: &str = "HOSTNAME";

pub(super) fn this_process() -> DevHolder {
    let name = std::fs::read_to_string(NAME).ok().or_else(|| std::env::var(VARIABLE).ok());
    let host = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    DevHolder {
        host: host.unwrap_or_else(|| "a machine without a name".to_owned()),
        process: std::process::id(),
        since: rfc3339(SystemTime::now()),
    }
}
