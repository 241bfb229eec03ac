//! What the resources of kinds are called.

use std::collections::HashMap;

use serde_json::Value;

/// The resources of the CRDs that a bed has.
#[derive(Default)]
pub(crate) struct ResourceNames(HashMap<GroupKind, Resource>);

#[derive(PartialEq, Eq, Hash)]
struct GroupKind {
    group: String,
    kind: String,
}

struct Resource {
    plural: String,
    scope: Scope,
}

#[derive(PartialEq, Eq)]
enum Scope {
    Cluster,
    Namespaced,
}

impl ResourceNames {
    /// Those that a CRD defines.
    pub(crate) fn add(&mut self, crd: &Value) {
        let text = |pointer| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let scope = if text("/spec/scope") == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
        let resource = Resource { plural: text("/spec/names/plural"), scope };
        self.0.insert(GroupKind { group: text("/spec/group"), kind: text("/spec/names/kind") }, resource);
    }

    /// Where the objects of a kind are; `of` is one of them.
    pub(crate) fn collection(&self, of: &Value, version: &str, namespace: &str) -> String {
        let GroupKind { group, kind } = GroupKind::of(of);
        let api = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        let within = if self.is_namespaced(of) { format!("namespaces/{namespace}/") } else { String::new() };
        let plural = self.resource(of).map_or_else(|| format!("{}s", kind.to_lowercase()), |it| it.plural.clone());
        format!("{api}/{version}/{within}{plural}")
    }

    /// Whether an object is in a namespace. Those of kinds that no CRD here defines are taken to be.
    pub(crate) fn is_namespaced(&self, object: &Value) -> bool {
        self.resource(object).is_none_or(|resource| resource.scope == Scope::Namespaced)
    }

    fn resource(&self, object: &Value) -> Option<&Resource> {
        self.0.get(&GroupKind::of(object))
    }
}

impl GroupKind {
    fn of(object: &Value) -> Self {
        let group = object["apiVersion"].as_str().unwrap_or_default().split_once('/').map_or("", |(group, _)| group);
        Self { group: group.to_owned(), kind: object["kind"].as_str().unwrap_or_default().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_names_of_a_crd_are_those_of_its_objects() {
        let mut names = ResourceNames::default();
        let crd = |kind: &str, plural: &str, scope: &str| json!({"spec": {"group": "zoo.org", "names": {"kind": kind, "plural": plural}, "scope": scope}});
        names.add(&crd("Policy", "policies", "Cluster"));
        names.add(&crd("Octopus", "octopuses", "Namespaced"));
        let place = |api_version: &str, kind: &str| {
            names.collection(&json!({"apiVersion": api_version, "kind": kind}), "v1", "river")
        };
        assert_eq!(place("zoo.org/v1", "Policy"), "/apis/zoo.org/v1/policies");
        assert_eq!(place("zoo.org/v2", "Octopus"), "/apis/zoo.org/v1/namespaces/river/octopuses");
        assert_eq!(place("v1", "ConfigMap"), "/api/v1/namespaces/river/configmaps");
    }
}
