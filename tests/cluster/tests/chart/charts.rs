//! The chart, and Helm's answers about it.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use cluster_tests::{Bed, Response};
use gateward_lint::yaml;
use serde::Deserialize;
use serde_json::{Value, json};

/// The Kubernetes that Helm takes the cluster for where it is not to ask.
pub const KUBERNETES: &str = "1.34.0";

/// One way to install the chart.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Installation {
    /// What is particular about it.
    #[serde(default)]
    pub name: String,
    #[serde(default = "usual_release")]
    pub release: String,
    #[serde(default = "usual_namespace")]
    pub namespace: String,
    /// Values of the whole chart.
    #[serde(default)]
    pub values: Value,
    /// APIs that the cluster has besides its own.
    #[serde(default)]
    pub apis: Vec<String>,
}

fn usual_release() -> String {
    "dynamo-platform".into()
}

fn usual_namespace() -> String {
    "dynamo-system".into()
}

impl Installation {
    /// With values of the operator.
    pub fn of(operator: &Value) -> Self {
        Self {
            name: String::new(),
            release: usual_release(),
            namespace: usual_namespace(),
            values: json!({"dynamo-operator": operator}),
            apis: Vec::new(),
        }
    }

    /// The same under another name, in another namespace.
    pub fn named(self, release: &str, namespace: &str) -> Self {
        Self { release: release.into(), namespace: namespace.into(), ..self }
    }

    /// The objects that Helm makes of it without asking a cluster.
    pub fn objects(&self, bed: &Bed) -> Vec<Value> {
        self.render(bed).unwrap_or_else(|said| panic!("{self:?}\n{said}"))
    }

    /// The same, or what Helm says against it.
    pub fn render(&self, bed: &Bed) -> Result<Vec<Value>, String> {
        let mut helm = self.helm(bed, &["template"]);
        helm.args(["--kube-version", KUBERNETES]);
        for api in &self.apis {
            helm.args(["--api-versions", api]);
        }
        let source = yaml::read(&output(helm)?);
        assert!(source.findings.is_empty(), "{:?}", source.findings);
        Ok(source.documents.into_iter().map(|document| document.value).collect())
    }

    /// What Helm tells a user after an installation, or what it says against it. Nothing is installed.
    pub fn notes(&self, bed: &Bed) -> Result<String, String> {
        let said = output(self.helm(bed, &["install", "--dry-run=server"]))?;
        Ok(said.split_once("NOTES:\n").unwrap_or_default().1.to_owned())
    }

    /// Helm with a command that takes release, chart and values.
    pub fn helm(&self, bed: &Bed, command: &[&str]) -> Command {
        static FILES: AtomicUsize = AtomicUsize::new(0);
        let file = bed.folder().join(format!("values-{}.json", FILES.fetch_add(1, Ordering::Relaxed)));
        std::fs::write(&file, self.values.to_string()).unwrap();
        let mut helm = bed.helm();
        helm.args(command).arg(&self.release).arg(chart()).args(["--namespace", &self.namespace]);
        helm.arg("--values").arg(file);
        helm
    }
}

/// The chart's folder.
pub fn chart() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/helm/dynamo-platform")
}

/// What a command prints, or what it says when it fails.
pub fn output(mut command: Command) -> Result<String, String> {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if status.success() { Ok(text(&stdout)) } else { Err(text(&stderr)) }
}

/// The objects of one kind.
pub fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// The only object of a kind.
pub fn the<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    match of_kind(objects, kind)[..] {
        [object] => object,
        ref found => panic!("{} objects are {kind}", found.len()),
    }
}

/// The server's configuration file.
pub fn configuration(objects: &[Value]) -> Value {
    let text = of_kind(objects, "ConfigMap").into_iter().find_map(|map| map["data"]["config.yaml"].as_str()).unwrap();
    yaml::read(text).documents.remove(0).value
}

/// What the API server says to an object, of which it stores nothing.
pub async fn judged(bed: &Bed, object: &Value) -> Response {
    let path = format!("{}?fieldManager=helm&fieldValidation=Strict&dryRun=All", place(object));
    bed.client().apply(&path, object).await.unwrap()
}

fn place(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    let plural = kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |kind| format!("{kind}ies"));
    let group = match object["apiVersion"].as_str().unwrap() {
        "v1" => "/api/v1".to_owned(),
        group => format!("/apis/{group}"),
    };
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str().map(|name| format!("/namespaces/{name}")).unwrap_or_default();
    format!("{group}{namespace}/{plural}/{}", metadata["name"].as_str().unwrap())
}

/// Some certificate as a bundle: the API server looks whether it is one.
pub fn bundle() -> String {
    let issued = rcgen::generate_simple_self_signed(["otter".to_owned()]).unwrap();
    base64::engine::general_purpose::STANDARD.encode(issued.cert.pem())
}
