//! Places at which a test can end the process: before and after each write of the writer.
//!
//! They are there with the feature `fail-points` alone, which no release has. `GATEWARD_FAIL_POINT` then names a file that
//! all replicas see, and the file one of the places: `before:switch`. The process that gets there first removes the file
//! and ends, as by a kill. So one replica ends, once, although all have the same environment, and a test can name the
//! next place while all of them run.
//!
//! | name | the write |
//! |---|---|
//! | `create-authority` | the first authority |
//! | `adopt` | the authority found in the old place |
//! | `begin` | a new authority beside the old one |
//! | `publish-bundles` | bundles that gain something |
//! | `switch` | the phase in which the server's certificate changes |
//! | `issue-leaf` | a server's certificate |
//! | `drop-old-key` | the server's Secret without the authority's key |
//! | `retire` | the phase in which the old authority goes |
//! | `trim-bundles` | bundles that lose something |
//! | `finish` | the end of the exchange |
//! | `drop-request` | a request that was met |

use gateward_certs::Bundle;
use gateward_certs::rotation::{AuthorityWrite, BundleWrite, Consumer, LeafWrite, Write};

#[cfg(all(feature = "fail-points", not(debug_assertions)))]
compile_error!("the feature fail-points ends the process on demand: it is for tests, and not for a release");

/// On which side of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// The name of a write; `consumers` is what was carried before it.
pub(crate) fn name<'a>(write: &Write, consumers: impl Fn(&BundleWrite) -> Option<&'a Consumer>) -> &'static str {
    match write {
        Write::Authority(AuthorityWrite::Create) => "create-authority",
        Write::Authority(AuthorityWrite::Adopt) => "adopt",
        Write::Authority(AuthorityWrite::Begin { .. }) => "begin",
        Write::Authority(AuthorityWrite::Switch) => "switch",
        Write::Authority(AuthorityWrite::Retire) => "retire",
        Write::Authority(AuthorityWrite::Finish) => "finish",
        Write::Authority(AuthorityWrite::DropRequest) => "drop-request",
        Write::Leaf(LeafWrite::Issue { .. }) => "issue-leaf",
        Write::Leaf(LeafWrite::DropOldKey) => "drop-old-key",
        Write::Bundles(writes) => {
            let loses =
                |write: &BundleWrite, before: &Consumer| !write.bundle.contains_all(&Bundle::salvage(&before.bundle).0);
            let trims = writes.iter().any(|write| consumers(write).is_some_and(|before| loses(write, before)));
            if trims { "trim-bundles" } else { "publish-bundles" }
        }
    }
}

/// Ends the process if a test wants that here.
#[cfg(feature = "fail-points")]
pub(crate) fn reach(side: Side, write: &str) {
    let Some(file) = std::env::var_os("GATEWARD_FAIL_POINT") else { return };
    // Of several that read it, one removes it.
    let is_wanted = std::fs::read_to_string(&file).is_ok_and(|wanted| is_named(&wanted, side, write));
    if is_wanted && std::fs::remove_file(&file).is_ok() {
        tracing::error!("fail point reached: {side:?} {write}");
        std::process::abort();
    }
}

/// Nothing, in a build that people run.
#[cfg(not(feature = "fail-points"))]
pub(crate) fn reach(_: Side, _: &str) {}

/// Whether the text names this place.
#[cfg(feature = "fail-points")]
fn is_named(text: &str, side: Side, write: &str) -> bool {
    let side = match side {
        Side::Before => "before",
        Side::After => "after",
    };
    text.trim().split_once(':') == Some((side, write))
}

#[cfg(all(test, feature = "fail-points"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_place_that_was_named_is_one() {
        assert!(is_named("before:switch\n", Side::Before, "switch"));
        assert!(!is_named("before:switch", Side::After, "switch"));
        assert!(!is_named("before:switch", Side::Before, "retire"));
        assert!(!is_named("switch", Side::Before, "switch"));
    }
}
