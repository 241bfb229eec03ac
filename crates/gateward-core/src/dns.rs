//! Names of Kubernetes objects.
//!
//! Kubernetes: [object names](https://kubernetes.io/docs/concepts/overview/working-with-objects/names/).

/// The longest label, which is also the longest value of a label of an object.
pub const LONGEST_LABEL: usize = 63;

/// The longest subdomain.
pub const LONGEST_SUBDOMAIN: usize = 253;

/// Whether the text is a subdomain as of RFC 1123, in lower case: the form of most objects' names.
///
/// ```
/// assert!(gateward_core::dns::is_subdomain("otter-1.river"));
/// assert!(!gateward_core::dns::is_subdomain("Otter"));
/// ```
pub const fn is_subdomain(text: &str) -> bool {
    let (mut before, mut rest) = (b'.', text.as_bytes());
    while let [byte, tail @ ..] = rest {
        let fits = match byte {
            b'a'..=b'z' | b'0'..=b'9' => true,
            b'.' => before.is_ascii_alphanumeric(),
            b'-' => before != b'.',
            _ => false,
        };
        if !fits {
            return false;
        }
        (before, rest) = (*byte, tail);
    }
    before.is_ascii_alphanumeric() && text.len() <= LONGEST_SUBDOMAIN
}

/// Whether the text is a label as of RFC 1123: the form of a namespace's name.
pub const fn is_label(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        if *byte == b'.' {
            return false;
        }
        rest = tail;
    }
    is_subdomain(text) && text.len() <= LONGEST_LABEL
}

/// Whether the text is a label that begins with a letter, as of RFC 1035: the form of a Service's name, of a version and of
/// a plural.
pub const fn is_service_name(text: &str) -> bool {
    matches!(text.as_bytes(), [b'a'..=b'z', ..]) && is_label(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subdomain_is_made_of_parts_in_lower_case() {
        for name in ["a", "fabric", "fabric-1", "1.2", "a.b-c.d", "a--b", &"a".repeat(253)] {
            assert!(is_subdomain(name), "{name}");
        }
        for name in
            ["", "Fabric", "fabric_1", "-a", "a-", "a-.b", "a.-b", "a..b", ".a", "a.", "a/b", "ä", &"a".repeat(254)]
        {
            assert!(!is_subdomain(name), "{name}");
        }
    }

    #[test]
    fn a_label_is_one_short_part() {
        for name in ["a", "1a", "otter-1", &"a".repeat(63)] {
            assert!(is_label(name), "{name}");
        }
        for name in ["", "a.b", "-a", "a-", "A", &"a".repeat(64)] {
            assert!(!is_label(name), "{name}");
        }
    }

    #[test]
    fn a_service_is_named_by_a_label_that_begins_with_a_letter() {
        assert!(is_service_name("a") && is_service_name("otter-1"));
        assert!(!is_service_name("") && !is_service_name("1a") && !is_service_name("a.b") && !is_service_name("a-"));
    }
}
