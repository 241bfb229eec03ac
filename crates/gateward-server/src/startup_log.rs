//! The log lines of a server that starts.

use std::net::SocketAddr;
use std::time::Duration;

use gateward_core::Review;
use tracing::{info, warn};

use crate::access_log::TARGET;
use crate::limits::Cap;

/// The served paths and the address.
pub(crate) fn starting(address: SocketAddr, paths: &[(String, Review)]) {
    let of = |review| -> Vec<&str> {
        paths.iter().filter(|(_, served)| *served == review).map(|(path, _)| path.as_str()).collect()
    };
    registering(&of(Review::Validate), "Registering validation webhooks");
    registering(&of(Review::Mutate), "Registering mutating webhooks");
    registering(&of(Review::Convert), "Registering conversion webhooks");
    info!(target: TARGET, %address, "Starting webhook server");
}

fn registering(paths: &[&str], message: &'static str) {
    if !paths.is_empty() {
        info!(target: TARGET, paths = paths.join(" "), "{message}");
    }
}

/// The limit of open files allows fewer connections than configured.
pub(crate) fn few_files(asked: Cap, most: Cap) {
    let (asked, most) = (asked.get(), most.get());
    warn!(target: TARGET, asked, most, "connection limit lowered: the process may open too few files (ulimit -n)");
}

/// The idle timeout is shorter than the API server's: the one limit that loses requests when it is too low.
pub(crate) fn short_idle_timeout(idle: Duration) {
    warn!(target: TARGET, ?idle, "idle connections are closed before the API server closes them; requests may be lost");
}
