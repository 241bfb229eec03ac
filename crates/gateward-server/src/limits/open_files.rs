//! How many connections the process may have within its limit of open files (`RLIMIT_NOFILE`).

use crate::limits::Cap;

/// The limits of this process.
const LIMITS: &str = "/proc/self/limits";

/// Files for everything but inbound connections: runtimes, listeners, connections to the API server.
const RESERVED: u32 = 32;

/// The connection limit for reviews: as configured, but at most three quarters of the unreserved files.
pub(crate) fn for_reviews(configured: Cap) -> Cap {
    at_most(configured, allowed(), |spare| spare / 4 * 3)
}

/// The connection limit of an admin listener: as configured, but at most a sixteenth; a probe needs one connection.
pub(crate) fn for_admin(configured: Cap) -> Cap {
    at_most(configured, allowed(), |spare| spare / 16)
}

fn at_most(configured: Cap, allowed: Option<u32>, share: impl FnOnce(u32) -> u32) -> Cap {
    let Some(allowed) = allowed else { return configured };
    Cap::at_most(configured.get().min(share(allowed.saturating_sub(RESERVED))))
}

/// `None` where the limit is unknown or `unlimited`.
fn allowed() -> Option<u32> {
    std::fs::read_to_string(LIMITS).ok().as_deref().and_then(parse)
}

fn parse(limits: &str) -> Option<u32> {
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    files.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_soft_limit() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             96365                96365                processes \n\
                      Max open files            1024                 524288               files     \n";
        assert_eq!(parse(limits), Some(1024));
        assert_eq!(parse(&limits.replace("1024 ", "unlimited ")), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn connections_leave_the_reserved_files() {
        let (reviews, admin) = (Cap::at_most(512), Cap::at_most(64));
        for allowed in [48, 64, 96, 256, 700, 1024, 20_000] {
            let for_reviews = at_most(reviews, Some(allowed), |spare| spare / 4 * 3).get();
            let for_admin = at_most(admin, Some(allowed), |spare| spare / 16).get();
            assert!(for_reviews + 2 * for_admin + RESERVED <= allowed, "{allowed}: {for_reviews}, {for_admin}");
        }
        assert_eq!(
            at_most(reviews, Some(1024), |spare| spare / 4 * 3),
            reviews,
            "1024 files are enough for the default"
        );
        assert_eq!(at_most(reviews, None, |spare| spare), reviews);
        assert_eq!(at_most(admin, Some(4), |spare| spare / 16), Cap::at_most(1), "there is always one");
    }
}
