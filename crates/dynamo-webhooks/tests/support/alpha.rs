//! v1beta1 paths of findings about v1alpha1 graphs and components, translated to what the user wrote: the table in 2.9
//! of the conversion rules.

use serde_json::Value;

/// Blocks of `experimental` that stand directly on a v1alpha1 service.
const OUT_OF_EXPERIMENTAL: [&str; 3] = ["gpuMemoryService", "failover", "checkpoint"];

/// The v1alpha1 path of a v1beta1 one; v1alpha1 paths stay as they are.
pub fn translate(path: &str, kind: &str, object: &Value) -> String {
    if kind == "DynamoComponentDeployment" {
        return match path.strip_prefix("spec.") {
            Some(rest) => format!("spec.{}", component(rest, &object["spec"])),
            None => path.to_owned(),
        };
    }
    if let Some((name, rest)) = named_component(path, object) {
        let service = format!("spec.services[{name}]");
        return match rest.strip_prefix('.') {
            Some("name") | None => service,
            Some(rest) => format!("{service}.{}", component(rest, &object["spec"]["services"][name.as_str()])),
        };
    }
    graph(path)
}

fn graph(path: &str) -> String {
    let rows = [
        ("spec.components", "spec.services"),
        ("spec.topologyConstraint.clusterTopologyName", "spec.topologyConstraint.topologyProfile"),
        ("spec.env", "spec.envs"),
    ];
    rows.into_iter()
        .find_map(|(beta, alpha)| Some(format!("{alpha}{}", below(path, beta)?)))
        .unwrap_or_else(|| path.to_owned())
}

/// What remains of `path` below the node `above`.
fn below<'p>(path: &'p str, above: &str) -> Option<&'p str> {
    path.strip_prefix(above).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The service that a path below `spec.components` is about, and the rest of the path. Components stand in the order
/// of their names; a service without a value is none.
fn named_component<'p>(path: &'p str, object: &Value) -> Option<(String, &'p str)> {
    let (index, rest) = path.strip_prefix("spec.components[")?.split_once(']')?;
    let services = object["spec"]["services"].as_object()?;
    let mut names: Vec<&String> = services.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name).collect();
    names.sort();
    let name = names.get(index.parse::<usize>().ok()?)?;
    Some(((*name).clone(), rest))
}

/// The path in a service, of a path in a component.
fn component(path: &str, service: &Value) -> String {
    if let Some(rest) = path.strip_prefix("experimental.")
        && OUT_OF_EXPERIMENTAL.iter().any(|block| below(rest, block).is_some())
    {
        return rest.to_owned();
    }
    if let Some(rest) = path.strip_prefix("podTemplate.") {
        return pod_template(rest, service);
    }
    match path {
        "type" if is_sub_typed(service) => "subComponentType".into(),
        "type" => "componentType".into(),
        "sharedMemorySize" if service["sharedMemory"]["disabled"] == true => "sharedMemory.disabled".into(),
        "sharedMemorySize" => "sharedMemory.size".into(),
        _ => match below(path, "compilationCache") {
            Some(_) => cache_mount(service),
            None => path.to_owned(),
        },
    }
}

fn is_sub_typed(service: &Value) -> bool {
    service["componentType"] == "worker" && matches!(service["subComponentType"].as_str(), Some("prefill" | "decode"))
}

fn cache_mount(service: &Value) -> String {
    let mounts = service["volumeMounts"].as_array();
    let flagged = mounts.and_then(|mounts| mounts.iter().position(|mount| mount["useAsCompilationCache"] == true));
    flagged.map_or_else(|| "volumeMounts".into(), |index| format!("volumeMounts[{index}]"))
}

fn pod_template(path: &str, service: &Value) -> String {
    if let Some(rest) = path.strip_prefix("metadata.") {
        return format!("extraPodMetadata.{rest}");
    }
    let Some(rest) = path.strip_prefix("spec.") else { return "extraPodSpec".into() };
    match rest.strip_prefix("containers[").and_then(|indexed| indexed.split_once(']')) {
        Some((index, rest)) => container(index.parse().unwrap_or_default(), rest, service),
        None => format!("extraPodSpec.{rest}"),
    }
}

/// Containers are: the main one, those of the extra pod spec that aren't called so, a generated sidecar.
fn container(index: usize, rest: &str, service: &Value) -> String {
    let extra = service["extraPodSpec"]["containers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kept: Vec<usize> = (0..extra.len()).filter(|&position| extra[position]["name"] != "main").collect();
    match index.checked_sub(1).map(|position| kept.get(position)) {
        None => main_container(rest, service),
        Some(Some(position)) => format!("extraPodSpec.containers[{position}]{rest}"),
        Some(None) => "frontendSidecar".into(),
    }
}

fn main_container(rest: &str, service: &Value) -> String {
    let field = rest.trim_start_matches('.').split(['.', '[']).next().unwrap_or_default();
    let from_main = !service["extraPodSpec"]["mainContainer"][field].is_null();
    match field {
        "resources" => resources(rest.trim_start_matches(".resources"), service),
        "livenessProbe" | "readinessProbe" if !from_main => rest.trim_start_matches('.').to_owned(),
        "env" if !from_main => "envs".into(),
        "volumeMounts" if !from_main => "volumeMounts".into(),
        _ => format!("extraPodSpec.mainContainer{rest}"),
    }
}

/// Blocks of amounts are united name by name; names are others in the flat field.
fn resources(rest: &str, service: &Value) -> String {
    let own = &service["extraPodSpec"]["mainContainer"]["resources"];
    let (block, key) = rest.trim_start_matches('.').split_once('[').unwrap_or((rest.trim_start_matches('.'), ""));
    let key = key.trim_end_matches(']');
    let is_own = match (block, key) {
        ("", _) => !own.is_null(),
        ("claims", _) | (_, "") => !own[block].is_null(),
        _ => !own[block][key].is_null(),
    };
    if is_own {
        return format!("extraPodSpec.mainContainer.resources{rest}");
    }
    if block == "claims" || key.is_empty() {
        return format!("resources{rest}");
    }
    format!("resources.{block}.{}", amount(&service["resources"][block], key))
}

fn amount(flat: &Value, key: &str) -> String {
    let gpu = flat["gpuType"].as_str().filter(|name| !name.is_empty()).unwrap_or("nvidia.com/gpu");
    match key {
        _ if !flat["custom"][key].is_null() => format!("custom[{key}]"),
        _ if key == gpu => "gpu".into(),
        _ => key.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn translated(path: &str) -> String {
        let services = json!({
            "b": {"componentType": "worker", "subComponentType": "decode", "resources": {},
                  "extraPodSpec": {"mainContainer": {"image": "i"}, "containers": [{"name": "main"}, {"name": "x"}]}},
            "a": {"componentType": "frontend"},
            "0": null,
        });
        translate(path, "DynamoGraphDeployment", &json!({"spec": {"services": services}}))
    }

    #[test]
    fn components_are_services_in_the_order_of_names() {
        assert_eq!(translated("spec.components"), "spec.services");
        assert_eq!(translated("spec.components[0].name"), "spec.services[a]");
        assert_eq!(translated("spec.components[0].type"), "spec.services[a].componentType");
        assert_eq!(translated("spec.components[1].type"), "spec.services[b].subComponentType");
        assert_eq!(translated("spec.components[1].experimental.failover.mode"), "spec.services[b].failover.mode");
    }

    #[test]
    fn containers_come_from_several_places() {
        let pod = "spec.components[1].podTemplate.spec";
        let at = |rest: &str| translated(&format!("{pod}.{rest}"));
        assert_eq!(at("containers[0].image"), "spec.services[b].extraPodSpec.mainContainer.image");
        assert_eq!(at("containers[0].resources.claims"), "spec.services[b].resources.claims");
        assert_eq!(at("containers[1].image"), "spec.services[b].extraPodSpec.containers[1].image");
        assert_eq!(at("containers[2]"), "spec.services[b].frontendSidecar");
        assert_eq!(at("initContainers[0].name"), "spec.services[b].extraPodSpec.initContainers[0].name");
    }

    #[test]
    fn amounts_have_other_names_in_flat_fields() {
        let own = json!({"limits": {"memory": "1Gi"}});
        let flat =
            json!({"limits": {"cpu": "1", "gpu": "1", "custom": {"v/nic": "1"}}, "requests": {"gpuType": "v/gpu"}});
        let object = json!({"spec": {"resources": flat, "extraPodSpec": {"mainContainer": {"resources": own}}}});
        let at = |rest: &str| {
            let path = format!("spec.podTemplate.spec.containers[0].resources{rest}");
            translate(&path, "DynamoComponentDeployment", &object)
        };
        assert_eq!(at(""), "spec.extraPodSpec.mainContainer.resources");
        assert_eq!(at(".limits[memory]"), "spec.extraPodSpec.mainContainer.resources.limits[memory]");
        assert_eq!(at(".limits[cpu]"), "spec.resources.limits.cpu");
        assert_eq!(at(".limits[nvidia.com/gpu]"), "spec.resources.limits.gpu");
        assert_eq!(at(".limits[v/nic]"), "spec.resources.limits.custom[v/nic]");
        assert_eq!(at(".requests[v/gpu]"), "spec.resources.requests.gpu");
        assert_eq!(at(".claims"), "spec.resources.claims");
    }

    #[test]
    fn a_component_of_its_own_has_the_same_rows_without_a_service() {
        let object = json!({"spec": {"componentType": "worker"}});
        let at = |path| translate(path, "DynamoComponentDeployment", &object);
        assert_eq!(at("spec.experimental.checkpoint"), "spec.checkpoint");
        assert_eq!(at("spec.volumeMounts[0].mountPoint"), "spec.volumeMounts[0].mountPoint");
        assert_eq!(at("metadata.name"), "metadata.name");
    }
}
