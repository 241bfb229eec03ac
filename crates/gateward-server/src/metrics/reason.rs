//! The `reason` label of a denial: the Dynamo Operator's labels for the `StatusReason`s of Kubernetes.

/// Reason, its usual code, and the label. A custom reason gets the label of its code.
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

/// The label of every other reason.
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
    fn the_reason_takes_precedence_over_the_code() {
        assert_eq!(label(422, "Invalid"), "validation");
        assert_eq!(label(400, "Forbidden"), "forbidden");
        assert_eq!(label(409, "AlreadyExists"), "already_exists");
    }

    #[test]
    fn a_custom_reason_is_labelled_by_its_code() {
        assert_eq!(label(403, "NotOnMyWatch"), "forbidden");
        assert_eq!(label(409, ""), "internal");
        assert_eq!(label(500, "InternalError"), "internal");
    }
}
