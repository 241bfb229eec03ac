//! The environment of a container, and the references to it in its command.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use serde_json::Value;

use super::fields::{list, pairs, text, texts};
use super::network::MACHINE;
use super::root::PATH;

/// A `ConfigMap` or a Secret of the Pod's namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    ConfigMap(String),
    Secret(String),
}

/// What the sources say. One that doesn't exist is not in it.
pub(crate) type Sources = BTreeMap<Source, BTreeMap<String, Vec<u8>>>;

/// The environment: later ones win.
pub(crate) type Environment = Vec<(String, String)>;

impl Source {
    /// Where it is, in a namespace.
    pub(crate) fn place(&self, namespace: &str) -> String {
        let (plural, name) = match self {
            Self::ConfigMap(name) => ("configmaps", name),
            Self::Secret(name) => ("secrets", name),
        };
        format!("/api/v1/namespaces/{namespace}/{plural}/{name}")
    }

    fn named(kind: &str, name: &str) -> Option<Self> {
        match kind {
            "configMapKeyRef" | "configMapRef" => Some(Self::ConfigMap(name.into())),
            "secretKeyRef" | "secretRef" => Some(Self::Secret(name.into())),
            _ => None,
        }
    }
}

/// All sources that a container's environment names.
pub(crate) fn sources(container: &Value) -> BTreeSet<Source> {
    let whole = list(container, "/envFrom").iter().filter_map(Value::as_object);
    let single = list(container, "/env").iter().filter_map(|variable| variable["valueFrom"].as_object());
    let all = whole.chain(single).flatten();
    all.filter_map(|(kind, reference)| Source::named(kind, text(reference, "/name"))).collect()
}

/// The environment of a container, or what it lacks.
pub(crate) fn environment(
    container: &Value,
    pod: &Value,
    ip: Ipv4Addr,
    sources: &Sources,
) -> Result<Environment, String> {
    let mut environment = given(text(pod, "/metadata/name"));
    for reference in list(container, "/envFrom") {
        environment.extend(whole(reference, sources)?);
    }
    for variable in list(container, "/env") {
        if let Some(value) = value(variable, pod, ip, sources, &environment)? {
            environment.push((text(variable, "/name").into(), value));
        }
    }
    Ok(environment)
}

/// The command of a container. An image brings none: there are no images here.
pub(crate) fn command(container: &Value, environment: &Environment) -> Result<Vec<String>, String> {
    if list(container, "/command").is_empty() {
        return Err("no command: images are not pulled here, so a container has to say what it runs".into());
    }
    let words = texts(container, "/command").into_iter().chain(texts(container, "/args"));
    Ok(words.map(|word| expanded(&word, environment)).collect())
}

/// The environment of every container.
fn given(pod: &str) -> Environment {
    let pairs = [
        ("PATH", PATH),
        ("HOME", "/root"),
        ("HOSTNAME", pod),
        ("KUBERNETES_SERVICE_HOST", "10.96.0.1"),
        ("KUBERNETES_SERVICE_PORT", "443"),
        ("KUBERNETES_SERVICE_PORT_HTTPS", "443"),
        ("KUBERNETES_PORT", "tcp://10.96.0.1:443"),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// All that a source says.
fn whole(reference: &Value, sources: &Sources) -> Result<Environment, String> {
    let prefix = text(reference, "/prefix");
    let mut environment = Environment::new();
    for kind in ["configMapRef", "secretRef"] {
        let Some(source) = Source::named(kind, text(reference, &format!("/{kind}/name"))) else { continue };
        match sources.get(&source) {
            _ if reference.get(kind).is_none() => {}
            Some(content) => environment.extend(
                content
                    .iter()
                    .map(|(key, value)| (format!("{prefix}{key}"), String::from_utf8_lossy(value).into_owned())),
            ),
            None if reference[kind]["optional"] == true => {}
            None => return Err(format!("{source:?} doesn't exist")),
        }
    }
    Ok(environment)
}

/// The value of a variable; none where something optional isn't there.
fn value(
    variable: &Value,
    pod: &Value,
    ip: Ipv4Addr,
    sources: &Sources,
    before: &Environment,
) -> Result<Option<String>, String> {
    let Some(from) = variable["valueFrom"].as_object() else {
        return Ok(Some(expanded(text(variable, "/value"), before)));
    };
    let Some((kind, reference)) = from.iter().next() else { return Ok(None) };
    if kind == "fieldRef" {
        return field(text(reference, "/fieldPath"), pod, ip).map(Some);
    }
    let source = Source::named(kind, text(reference, "/name")).ok_or(format!("{kind} is not known here"))?;
    let key = text(reference, "/key");
    match sources.get(&source).and_then(|content| content.get(key)) {
        Some(value) => Ok(Some(String::from_utf8_lossy(value).into_owned())),
        None if reference["optional"] == true => Ok(None),
        None => Err(format!("{source:?} has no key {key}")),
    }
}

/// A field of the Pod, by the path of the downward API.
pub(crate) fn field(path: &str, pod: &Value, ip: Ipv4Addr) -> Result<String, String> {
    if let Some((map, key)) = path.strip_suffix("']").and_then(|path| path.split_once("['")) {
        let map = format!("/{}", map.replace('.', "/"));
        return Ok(pairs(pod, &map)
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value.to_owned())
            .unwrap_or_default());
    }
    match path {
        "status.podIP" | "status.podIPs" => Ok(ip.to_string()),
        "status.hostIP" | "status.hostIPs" => Ok(MACHINE.to_string()),
        "metadata.labels" | "metadata.annotations" => {
            let map = format!("/{}", path.replace('.', "/"));
            let lines: Vec<String> = pairs(pod, &map).map(|(name, value)| format!("{name}={value:?}")).collect();
            Ok(lines.join("\n"))
        }
        "metadata.name" | "metadata.namespace" | "metadata.uid" | "spec.nodeName" | "spec.serviceAccountName" => {
            Ok(text(pod, &format!("/{}", path.replace('.', "/"))).into())
        }
        _ => Err(format!("the field {path} is not known here")),
    }
}

/// A text with `$(NAME)` replaced by the variable's value. An unknown name stays as it is, and `$$` is a dollar.
fn expanded(text: &str, environment: &Environment) -> String {
    let (mut result, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        result.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            result.push('$');
            rest = after;
            continue;
        }
        rest = after;
        let reference = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        let known = reference.and_then(|(name, after)| {
            let (_, value) = environment.iter().rev().find(|(known, _)| known == name)?;
            Some((value, after))
        });
        match known {
            Some((value, after)) => {
                result.push_str(value);
                rest = after;
            }
            None => result.push('$'),
        }
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const IP: Ipv4Addr = Ipv4Addr::new(10, 244, 1, 2);

    fn of(container: &Value, sources: &Sources) -> Result<BTreeMap<String, String>, String> {
        let pod = json!({
            "metadata": {"name": "otter", "namespace": "zoo", "labels": {"app.kubernetes.io/name": "x"}},
            "spec": {"serviceAccountName": "keeper"},
        });
        environment(container, &pod, IP, sources).map(|environment| environment.into_iter().collect())
    }

    fn settings() -> Sources {
        let content = BTreeMap::from([("a".to_owned(), b"1".to_vec()), ("b".to_owned(), b"2".to_vec())]);
        BTreeMap::from([(Source::ConfigMap("settings".into()), content)])
    }

    #[test]
    fn reads_the_fields_of_the_pod() {
        let field = |path: &str| json!({"name": path, "valueFrom": {"fieldRef": {"fieldPath": path}}});
        let paths = ["metadata.labels['app.kubernetes.io/name']", "spec.serviceAccountName", "status.podIP"];
        let environment = of(&json!({"env": paths.map(field)}), &Sources::new()).unwrap();
        assert_eq!(paths.map(|path| environment[path].as_str()), ["x", "keeper", "10.244.1.2"]);
        assert!(of(&json!({"env": [field("status.phase")]}), &Sources::new()).is_err());
    }

    #[test]
    fn takes_one_key_or_all_of_them() {
        let container = json!({
            "envFrom": [{"prefix": "P_", "configMapRef": {"name": "settings"}}],
            "env": [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "b"}}}],
        });
        assert_eq!(sources(&container).into_iter().collect::<Vec<_>>(), [Source::ConfigMap("settings".into())]);
        let environment = of(&container, &settings()).unwrap();
        assert_eq!(["P_a", "P_b", "X"].map(|name| environment[name].as_str()), ["1", "2", "2"]);
    }

    #[test]
    fn leaves_out_what_is_optional_and_refuses_what_is_not() {
        let variable = |optional: bool| {
            let reference = json!({"name": "settings", "key": "c", "optional": optional});
            json!({"env": [{"name": "X", "valueFrom": {"configMapKeyRef": reference}}]})
        };
        assert_eq!(of(&variable(true), &settings()).unwrap().get("X"), None);
        assert_eq!(of(&variable(false), &settings()).unwrap_err(), "ConfigMap(\"settings\") has no key c");
    }

    #[test]
    fn expands_references_to_what_came_before() {
        let environment = vec![("A".to_owned(), "1".to_owned()), ("A".to_owned(), "2".to_owned())];
        let cases = [("$(A)", "2"), ("$$(A)", "$(A)"), ("$(B)-$(A)", "$(B)-2"), ("$A $", "$A $"), ("$(A", "$(A")];
        for (text, wanted) in cases {
            assert_eq!(expanded(text, &environment), wanted);
        }
    }

    #[test]
    fn a_container_without_a_command_has_nothing_to_run() {
        assert!(command(&json!({"args": ["serve"]}), &vec![]).is_err());
        let words = command(&json!({"command": ["gateward"], "args": ["$(A)"]}), &vec![("A".into(), "b".into())]);
        assert_eq!(words.unwrap(), ["gateward", "b"]);
    }
}
