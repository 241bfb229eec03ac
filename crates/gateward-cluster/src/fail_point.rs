//! Fail points: a test ends or pauses a replica before or after each write of the leader, or of a development session.
//!
//! They are there with the feature `fail-points` alone, which no release has. `GATEWARD_FAIL_POINT` then names a file
//! that all replicas see, and the file one of the places: `before:switch`. The process that gets there first removes
//! the file and ends, as by a kill. So one replica ends, once, although all have the same environment, and a test can
//! name the next place while all of them run. With `before:switch:pause` it doesn't end: it neither writes nor renews
//! its lease for longer than that lasts, and serves all the while. With `before:switch:panic` the task that writes panics.
//!
//! | name | the write |
//! |---|---|
//! | `create-ca` | the first CA |
//! | `adopt` | the CA whose key is `ca.key` of the serving Secret |
//! | `begin` | a new CA beside the old one |
//! | `publish-bundles` | bundles that gain something |
//! | `switch` | the phase in which the serving certificate changes |
//! | `issue-certificate` | a serving certificate |
//! | `drop-old-key` | the serving Secret without the CA's key |
//! | `retire` | the phase in which the old CA goes |
//! | `trim-bundles` | bundles that lose something |
//! | `finish` | the end of the rotation |
//! | `drop-request` | a fulfilled rotation request |
//! | `lease` | of a development session: its Lease |
//! | `take-NAME` | of a development session: an object that leads to it |
//! | `put-back-NAME` | of a development session: that object as before |

#[cfg(feature = "fail-points")]
use std::sync::atomic::{AtomicBool, Ordering};

use gateward_certs::CaBundle;
use gateward_certs::rotation::{CaBundleWrite, CaSecretWrite, InjectionTarget, ServingSecretWrite, Write};

#[cfg(all(feature = "fail-points", not(debug_assertions)))]
compile_error!("the feature fail-points ends the process on demand: it is for tests, and not for a release");

/// On which side of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// The name of a write; `targets` gives each target as it was before.
pub(crate) fn name<'a>(write: &Write, targets: impl Fn(&CaBundleWrite) -> Option<&'a InjectionTarget>) -> &'static str {
    match write {
        Write::CaSecret(CaSecretWrite::Create) => "create-ca",
        Write::CaSecret(CaSecretWrite::Adopt) => "adopt",
        Write::CaSecret(CaSecretWrite::Begin { .. }) => "begin",
        Write::CaSecret(CaSecretWrite::Switch) => "switch",
        Write::CaSecret(CaSecretWrite::Retire) => "retire",
        Write::CaSecret(CaSecretWrite::Finish) => "finish",
        Write::CaSecret(CaSecretWrite::DropRequest) => "drop-request",
        Write::ServingSecret(ServingSecretWrite::Issue { .. }) => "issue-certificate",
        Write::ServingSecret(ServingSecretWrite::DropOldKey) => "drop-old-key",
        Write::CaBundles(writes) => {
            let loses = |write: &CaBundleWrite, before: &InjectionTarget| {
                !write.bundle.contains_all(&CaBundle::parse_lossy(&before.bundle).0)
            };
            let trims = writes.iter().any(|write| targets(write).is_some_and(|before| loses(write, before)));
            if trims { "trim-bundles" } else { "publish-bundles" }
        }
    }
}

/// Ends or pauses this replica if a test wants that here.
#[cfg(feature = "fail-points")]
pub(crate) async fn reach(side: Side, write: &str) {
    let Some(file) = std::env::var_os("GATEWARD_FAIL_POINT") else { return };
    let Some(loss) = std::fs::read_to_string(&file).ok().and_then(|spec| loss(&spec, side, write)) else { return };
    // Of several that read it, one removes it.
    if std::fs::remove_file(&file).is_err() {
        return;
    }
    tracing::error!("fail point reached: {side:?} {write}");
    match loss {
        Loss::End => std::process::abort(),
        Loss::Pause => {
            PAUSED.store(true, Ordering::Relaxed);
            tokio::time::sleep(PAUSE).await;
            PAUSED.store(false, Ordering::Relaxed);
        }
        #[expect(clippy::panic, reason = "a test asks for it")]
        Loss::Panic => panic!("a test asked for it"),
    }
}

/// Waits until this replica isn't paused.
#[cfg(feature = "fail-points")]
pub(crate) async fn unpaused() {
    while PAUSED.load(Ordering::Relaxed) {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// Does nothing without the feature.
#[cfg(not(feature = "fail-points"))]
pub(crate) fn reach(_: Side, _: &str) -> std::future::Ready<()> {
    std::future::ready(())
}

/// Does nothing without the feature.
#[cfg(not(feature = "fail-points"))]
pub(crate) fn unpaused() -> std::future::Ready<()> {
    std::future::ready(())
}

/// Longer than a lease lasts.
#[cfg(feature = "fail-points")]
const PAUSE: std::time::Duration = std::time::Duration::from_secs(25);

#[cfg(feature = "fail-points")]
static PAUSED: AtomicBool = AtomicBool::new(false);

/// How a replica is lost.
#[cfg(feature = "fail-points")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    End,
    Pause,
    Panic,
}

/// What the text asks for at this fail point.
#[cfg(feature = "fail-points")]
fn loss(text: &str, side: Side, write: &str) -> Option<Loss> {
    let side = match side {
        Side::Before => "before",
        Side::After => "after",
    };
    let mut words = text.trim().split(':');
    let is_here = words.next() == Some(side) && words.next() == Some(write);
    let loss = match words.next() {
        None => Loss::End,
        Some("pause") => Loss::Pause,
        Some("panic") => Loss::Panic,
        Some(_) => return None,
    };
    is_here.then_some(loss)
}

#[cfg(all(test, feature = "fail-points"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_place_that_was_named_is_one() {
        assert_eq!(loss("before:switch\n", Side::Before, "switch"), Some(Loss::End));
        assert_eq!(loss("before:switch:pause", Side::Before, "switch"), Some(Loss::Pause));
        assert_eq!(loss("before:switch:panic", Side::Before, "switch"), Some(Loss::Panic));
        assert_eq!(loss("before:switch", Side::After, "switch"), None);
        assert_eq!(loss("before:switch", Side::Before, "retire"), None);
        assert_eq!(loss("switch", Side::Before, "switch"), None);
    }
}
