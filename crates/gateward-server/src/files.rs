//! How many connections the files suffice for that this process may open.

use crate::limits::Cap;

/// Where the kernel says how many files a process may open.
const LIMITS: &str = "/proc/self/limits";

/// Files for whatever is no connection from outside: runtimes, listeners, connections to the API server.
const OTHERS: u32 = 32;

/// As many connections for reviews as asked for, or three quarters of the files that are left beside others.
pub(crate) fn for_reviews(asked: Cap) -> Cap {
    at_most(asked, allowed(), |spare| spare / 4 * 3)
}

/// As many connections for pages as asked for, or a sixteenth: a probe needs one.
pub(crate) fn for_pages(asked: Cap) -> Cap {
    at_most(asked, allowed(), |spare| spare / 16)
}

fn at_most(asked: Cap, allowed: Option<u32>, share: impl FnOnce(u32) -> u32) -> Cap {
    let Some(allowed) = allowed else { return asked };
    Cap::at_most(asked.get().min(share(allowed.saturating_sub(OTHERS))))
}

/// `None` where it isn't known, or there is no limit.
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
    fn the_limit_of_the_kernel_is_read() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             96365                96365                processes \n\
                      Max open files            1024                 524288               files     \n";
        assert_eq!(parse(limits), Some(1024));
        assert_eq!(parse(&limits.replace("1024 ", "unlimited ")), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn connections_leave_files_to_others() {
        let (reviews, pages) = (Cap::at_most(512), Cap::at_most(64));
        for allowed in [48, 64, 96, 256, 700, 1024, 20_000] {
            let for_reviews = at_most(reviews, Some(allowed), |spare| spare / 4 * 3).get();
            let for_pages = at_most(pages, Some(allowed), |spare| spare / 16).get();
            assert!(for_reviews + 2 * for_pages + OTHERS <= allowed, "{allowed}: {for_reviews}, {for_pages}");
        }
        assert_eq!(at_most(reviews, Some(1024), |spare| spare / 4 * 3), reviews, "what a shell allows is enough");
        assert_eq!(at_most(reviews, None, |spare| spare), reviews);
        assert_eq!(at_most(pages, Some(4), |spare| spare / 16), Cap::at_most(1), "one there always is");
    }
}
