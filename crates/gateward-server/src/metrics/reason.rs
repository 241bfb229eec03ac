//! The label of a denial: the words of the Dynamo Operator for the reasons of Kubernetes.

/// Reason, the code it usually has, and the label. Where an author gives a reason of his own, the code decides.
const LABELS: [(&str, u16, &str); 11] = [
    ("NotFound", 404, "not_found"),
    ("AlreadyExists", 409, "already_exists"),
    ("Conflict", 409, "conflict"),
    ("Invalid", 422, "validation"),
    ("BadRequest", 400, "bad_request"),
    ("Unauthorized", 401, "unauthorized"),
    ("Forbidden", 403, "forbidden"),
    ("Timeout", 504, "timeout"),
    ("ServerTimeout", 500, "server_timeout"),
    ("ServiceUnavailable", 503, "unavailable"),
    ("TooManyRequests", 429, "rate_limited"),
];

/// What has no label of its own.
const INTERNAL: &str = "internal";

pub(super) fn label(code: u16, reason: &str) -> &'static str {
    let by_reason = LABELS.iter().find(|(known, _, _)| *known == reason);
    // 409 and 500 belong to more than one reason.
    let by_code = || LABELS.iter().find(|(_, usual, _)| *usual == code && !matches!(code, 409 | 500));
    by_reason.or_else(by_code).map_or(INTERNAL, |(_, _, label)| label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_goes_before_the_code() {
        assert_eq!(label(422, "Invalid"), "validation");
        assert_eq!(label(400, "Forbidden"), "forbidden");
        assert_eq!(label(409, "AlreadyExists"), "already_exists");
    }

    #[test]
    fn a_reason_of_an_authors_own_is_told_by_its_code() {
        assert_eq!(label(403, "NotOnMyWatch"), "forbidden");
        assert_eq!(label(409, ""), "internal");
        assert_eq!(label(500, "InternalError"), "internal");
    }
}
