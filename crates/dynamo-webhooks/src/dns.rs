//! Names of Kubernetes objects.

/// The longest name, in bytes.
const LONGEST: usize = 253;

/// Whether the text is a DNS subdomain as [RFC 1123] has it, in lower case: the form of most objects' names.
///
/// [RFC 1123]: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= LONGEST && text.split('.').all(is_label)
}

/// Whether the text can be the name of a Service: a label of at most 63 characters that begins with a letter.
pub(crate) fn is_service(text: &str) -> bool {
    text.len() <= 63 && is_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Whether the text can be the name of a namespace: a label of at most 63 characters.
pub(crate) fn is_namespace(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::{is_service, is_subdomain};

    #[test]
    fn a_service_is_named_by_one_short_label() {
        for name in ["a", "otter-1", &"a".repeat(63)] {
            assert!(is_service(name), "{name}");
        }
        for name in ["", "1a", "a.b", "-a", "a-", "A", &"a".repeat(64)] {
            assert!(!is_service(name), "{name}");
        }
    }

    #[test]
    fn names_are_lower_case_labels_joined_by_dots() {
        for name in ["a", "fabric", "fabric-1", "1.2", "a.b-c.d", &"a".repeat(253)] {
            assert!(is_subdomain(name), "{name}");
        }
        for name in ["", "Fabric", "fabric_1", "-a", "a-", "a..b", ".a", "a.", "a/b", "..", "ä", &"a".repeat(254)] {
            assert!(!is_subdomain(name), "{name}");
        }
    }
}
