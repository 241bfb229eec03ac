//! Deprecated component names in `overrides.dgd`: DGDR-B9.

use dynamo_api::constants::REQUEST_SPEC_STASH;
use gateward::{FieldPath, Issues, Rule, Segment};
use serde_json::Value;

use super::applies_to::{ON_DEPLOYMENT_REQUESTS, at};

pub(crate) const CURRENT_NAMES: Rule = rule! {
    id: "DGDR-B9",
    summary: "overrides.dgd calls components by their current names",
    help: "write the new name",
    ..ON_DEPLOYMENT_REQUESTS
};

/// The replacement for the name of a decode worker.
const DECODES: &str = "worker where one worker does all, or decode";

/// Deprecated names with their replacements.
const DEPRECATED: [(&str, &str); 9] = [
    ("VllmWorker", "worker"),
    ("VllmPrefillWorker", "prefill"),
    ("TRTLLMPrefillWorker", "prefill"),
    ("SGLangPrefillWorker", "prefill"),
    ("SglangPrefillWorker", "prefill"),
    ("TRTLLMDecodeWorker", "decode"),
    ("VllmDecodeWorker", DECODES),
    ("SGLangDecodeWorker", DECODES),
    ("SglangDecodeWorker", DECODES),
];

/// The field that holds the graph.
#[derive(Debug, Clone, Copy)]
pub(super) enum GraphSource {
    /// `spec.overrides.dgd`.
    Overrides,
    /// The annotation that preserves it on a v1alpha1 object.
    Stash,
}

/// One use of a deprecated name.
struct DeprecatedName<'a> {
    name: &'a str,
    replacement: &'static str,
    location: NameLocation,
}

/// The place of a name in the graph.
#[derive(Debug, Clone, Copy)]
enum NameLocation {
    /// A key of the services.
    Service,
    /// An item of the list of components.
    Component(usize),
}

/// Warns of each deprecated name in `graph`, sorted by the text of its path.
pub(super) fn check(graph: &Value, source: GraphSource, issues: &mut Issues) {
    let mut found = deprecated_names(graph);
    found.sort_by_cached_key(DeprecatedName::path_text);
    issues.extend(found.iter().map(|name| CURRENT_NAMES.warning(name.path(source), name.text())));
}

fn deprecated_names(graph: &Value) -> Vec<DeprecatedName<'_>> {
    let spec = &graph["spec"];
    match graph["apiVersion"].as_str() {
        Some("nvidia.com/v1alpha1") => {
            let services = spec["services"].as_object().into_iter().flatten();
            services.filter_map(|(name, _)| DeprecatedName::of(name, NameLocation::Service)).collect()
        }
        Some("nvidia.com/v1beta1") => {
            let components = spec["components"].as_array().into_iter().flatten().enumerate();
            components
                .filter_map(|(index, item)| DeprecatedName::of(item["name"].as_str()?, NameLocation::Component(index)))
                .collect()
        }
        _ => Vec::new(),
    }
}

impl<'a> DeprecatedName<'a> {
    fn of(name: &'a str, location: NameLocation) -> Option<Self> {
        let (_, replacement) = DEPRECATED.into_iter().find(|(deprecated, _)| *deprecated == name)?;
        Some(Self { name, replacement, location })
    }

    fn path_text(&self) -> String {
        let name = self.name;
        match self.location {
            NameLocation::Service => format!("spec.overrides.dgd.spec.services.{name}"),
            NameLocation::Component(_) => format!("spec.overrides.dgd.spec.components[name={name}]"),
        }
    }

    fn path(&self, source: GraphSource) -> FieldPath {
        let spec = match source {
            GraphSource::Overrides => at("overrides") / "dgd" / "spec",
            GraphSource::Stash => return FieldPath::annotation(REQUEST_SPEC_STASH),
        };
        match self.location {
            NameLocation::Service => spec / "services" / Segment::Key(self.name.to_owned().into()),
            NameLocation::Component(index) => (spec / "components").index(index) / "name",
        }
    }

    /// The text names the item: a name that is in the list twice makes two warnings.
    fn text(&self) -> String {
        let (path, name, replacement) = (self.path_text(), self.name, self.replacement);
        let item = match self.location {
            NameLocation::Service => String::new(),
            NameLocation::Component(index) => format!(" (item {index})"),
        };
        format!("{path}{item}: the name {name} is deprecated and will one day not be translated; write {replacement}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn warnings(graph: &Value) -> Vec<String> {
        let mut issues = Issues::new();
        check(graph, GraphSource::Overrides, &mut issues);
        issues.iter().map(ToString::to_string).collect()
    }

    fn beta(names: &[&str]) -> Value {
        let components: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        json!({"apiVersion": "nvidia.com/v1beta1", "spec": {"components": components}})
    }

    #[test]
    fn warns_in_the_order_of_paths() {
        let found = warnings(&beta(&["VllmWorker", "SGLangDecodeWorker", "mainloop"]));
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("spec.overrides.dgd.spec.components[name=SGLangDecodeWorker]"), "{found:?}");
        assert!(found[1].contains("write worker"), "{found:?}");
    }

    #[test]
    fn warns_of_services_by_their_keys() {
        let services = json!({"TRTLLMDecodeWorker": {}, "Frontend": {}, "SglangPrefillWorker": null});
        let found = warnings(&json!({"apiVersion": "nvidia.com/v1alpha1", "spec": {"services": services}}));
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("spec.overrides.dgd.spec.services.SglangPrefillWorker: "), "{found:?}");
    }

    #[test]
    fn warns_of_a_repeated_name_each_time() {
        assert_eq!(warnings(&beta(&["VllmWorker", "VllmWorker"])).len(), 2);
    }

    #[test]
    fn every_deprecated_name_is_known_as_it_is_written() {
        for (name, _) in DEPRECATED {
            assert_eq!(warnings(&beta(&[name])).len(), 1, "{name}");
            assert_eq!(warnings(&beta(&[&name.to_lowercase()])).len(), 0, "{name}");
        }
    }

    #[test]
    fn is_silent_about_what_is_no_graph_of_ours() {
        for graph in [
            json!(null),
            json!("VllmWorker"),
            json!({"spec": {"components": [{"name": "VllmWorker"}]}}),
            json!({"apiVersion": "v1", "spec": {"components": [{"name": "VllmWorker"}]}}),
            json!({"apiVersion": "nvidia.com/v1beta1", "spec": {"services": {"VllmWorker": {}}}}),
            json!({"apiVersion": "nvidia.com/v1alpha1", "spec": {"components": [{"name": "VllmWorker"}]}}),
            json!({"apiVersion": "nvidia.com/v1beta1", "spec": {"components": {"name": "VllmWorker"}}}),
            json!({"apiVersion": "nvidia.com/v1beta1", "spec": {"components": ["VllmWorker", 5, null, {"name": 5}]}}),
            json!({"apiVersion": "nvidia.com/v1beta1", "spec": [{"name": "VllmWorker"}]}),
        ] {
            assert_eq!(warnings(&graph).len(), 0, "{graph}");
        }
    }
}
