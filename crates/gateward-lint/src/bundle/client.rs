//! What the API server demands of the address of a webhook.

use gateward_core::dns::is_subdomain;

/// Whether a Service may be called at this path: `/`, or steps that are DNS names.
pub(super) fn is_service_path(path: &str) -> bool {
    let steps = path.strip_prefix('/').map(|rest| rest.strip_suffix('/').unwrap_or(rest));
    path == "/" || steps.is_some_and(|steps| steps.split('/').all(is_subdomain))
}

/// Why a webhook can't be called by this URL.
pub(super) fn url_problem(url: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = url.split_once("://") else { return Some("is no URL") };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = address.split('/').next().unwrap_or_default();
    let problems = [
        (!scheme.eq_ignore_ascii_case("https"), "is not of https"),
        (authority.is_empty(), "has no host"),
        (authority.contains('@'), "holds a user"),
        (!fragment.is_empty(), "holds a fragment"),
        (!query.is_empty(), "holds a query"),
    ];
    problems.into_iter().find_map(|(applies, problem)| applies.then_some(problem))
}
