//! Where objects are in the API server's paths.

use gateward_core::{ListQuery, ObjectName};

/// Where an object is; `None` where no object can be.
pub(super) fn of_object(object: &ObjectName) -> Option<String> {
    let ObjectName { group, version, plural, namespace, name } = object;
    let collection = collection(group, version, namespace.as_deref(), plural)?;
    is_segment(name).then(|| format!("{collection}/{name}"))
}

/// Where the objects of a list are; `None` where none can be.
pub(super) fn of_list(query: &ListQuery) -> Option<String> {
    collection(&query.group, &query.version, query.namespace.as_deref(), &query.plural)
}

fn collection(group: &str, version: &str, namespace: Option<&str>, plural: &str) -> Option<String> {
    let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
    let within = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
    let mut segments = [version, plural].into_iter().chain(namespace).chain(Some(group).filter(|it| !it.is_empty()));
    segments.all(is_segment).then(|| format!("{root}/{version}{within}/{plural}"))
}

/// Whether a name leaves the path what it is.
fn is_segment(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !text.is_empty() && text.bytes().all(plain) && !text.bytes().all(|byte| byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(namespace: Option<&str>, name: &str) -> ObjectName {
        let (group, version, plural) = ("grove.io".into(), "v1alpha1".into(), "maps".into());
        ObjectName { group, version, plural, namespace: namespace.map(str::to_owned), name: name.into() }
    }

    #[test]
    fn an_object_has_one_place() {
        assert_eq!(of_object(&named(None, "rack")).as_deref(), Some("/apis/grove.io/v1alpha1/maps/rack"));
        let of_core = ObjectName { group: String::new(), version: "v1".into(), ..named(Some("zoo"), "a.b") };
        assert_eq!(of_object(&of_core).as_deref(), Some("/api/v1/namespaces/zoo/maps/a.b"));
    }

    /// A user's text must not lead the server's rights elsewhere.
    #[test]
    fn a_name_that_would_lead_elsewhere_names_nothing() {
        for name in ["", "..", "a/b", "a?watch=true", "a%2fb", "a#b", "a b"] {
            assert_eq!(of_object(&named(None, name)), None, "{name:?}");
        }
        assert_eq!(of_object(&named(Some("../x"), "rack")), None);
    }
}
