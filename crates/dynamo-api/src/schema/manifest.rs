//! The CRDs around the schemas: names, versions, columns, subresources, conversion.

use serde_json::{Value, json};

use super::{Mismatch, v1alpha1, v1beta1};
use crate::constants::GROUP;

/// All CRDs, in the order of [`crate::crds::all`].
pub fn definitions() -> Result<[Definition; 6], Mismatch> {
    Ok([graph()?, component_deployment()?, request()?, scaling_adapter()?, model()?, worker_metadata()?])
}

/// One CRD.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The plural of the kind, which also names the file.
    pub plural: &'static str,
    /// The whole CustomResourceDefinition.
    pub document: Value,
}

/// The names of a kind.
#[derive(Clone, Copy)]
struct Names {
    kind: &'static str,
    plural: &'static str,
    short: &'static str,
}

const GRAPH: Names = Names { kind: "DynamoGraphDeployment", plural: "dynamographdeployments", short: "dgd" };
const COMPONENT: Names =
    Names { kind: "DynamoComponentDeployment", plural: "dynamocomponentdeployments", short: "dcd" };
const REQUEST: Names =
    Names { kind: "DynamoGraphDeploymentRequest", plural: "dynamographdeploymentrequests", short: "dgdr" };
const SCALING_ADAPTER: Names = Names {
    kind: "DynamoGraphDeploymentScalingAdapter",
    plural: "dynamographdeploymentscalingadapters",
    short: "dgdsa",
};
const MODEL: Names = Names { kind: "DynamoModel", plural: "dynamomodels", short: "dm" };
const WORKER_METADATA: Names = Names { kind: "DynamoWorkerMetadata", plural: "dynamoworkermetadatas", short: "dwm" };

fn graph() -> Result<Definition, Mismatch> {
    let columns = || {
        [
            column("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#, "Whether the graph is ready"),
            column("Backend", "string", ".spec.backendFramework", "Inference engine"),
            age("Age"),
        ]
    };
    let text = "An inference graph: components that serve a model together.";
    Ok(GRAPH.definition(vec![
        version("v1alpha1", text, v1alpha1::graph()?).columns(&columns()).deprecated(GRAPH.kind),
        version("v1beta1", text, v1beta1::graph()?).columns(&columns()).stored(),
    ]))
}

fn component_deployment() -> Result<Definition, Mismatch> {
    let available = || {
        let path = ".status.conditions[?(@.type=='Available')].status";
        column("Available", "string", path, "Whether the component is available")
    };
    let backend = || column("Backend", "string", ".spec.backendFramework", "Inference engine");
    let component = column("DynamoComponent", "string", ".spec.dynamoComponent", "Component of a Dynamo build");
    let text = "One component of an inference graph, deployed on its own.";
    Ok(COMPONENT.definition(vec![
        version("v1alpha1", text, v1alpha1::component_deployment()?)
            .columns(&[component, available(), backend(), age("Age")])
            .deprecated(COMPONENT.kind),
        version("v1beta1", text, v1beta1::component_deployment()?)
            .columns(&[available(), backend(), age("Age")])
            .stored(),
    ]))
}

fn request() -> Result<Definition, Mismatch> {
    let model = || column("Model", "string", ".spec.model", "Model to serve");
    let succeeded = |member: &str| format!(r#".status.conditions[?(@.type=="Succeeded")].{member}"#);
    let text = "A wish for a graph that serves a model within given targets; the operator finds out how.";
    Ok(REQUEST.definition(vec![
        version("v1alpha1", text, v1alpha1::request()?)
            .columns(&[
                model(),
                column("Backend", "string", ".status.backend", "Inference engine that was chosen"),
                column("State", "string", ".status.state", "Where the request stands"),
                column("DGD-State", "string", ".status.deployment.state", "Where the deployed graph stands"),
                age("Age"),
            ])
            .deprecated(REQUEST.kind),
        version("v1beta1", text, v1beta1::request()?)
            .columns(&[
                model(),
                column("Backend", "string", ".spec.backend", "Inference engine"),
                column("Phase", "string", ".status.phase", "Where the request stands"),
                column("Profiling", "string", ".status.profilingPhase", "Where profiling stands"),
                column("Reason", "string", &succeeded("reason"), "Why the request stands there, in a word"),
                column("Message", "string", &succeeded("message"), "Why the request stands there"),
                column("DGD", "string", ".status.dgdName", "Graph made for the request"),
                age("Age"),
            ])
            .stored(),
    ]))
}

fn scaling_adapter() -> Result<Definition, Mismatch> {
    let graph = || column("DGD", "string", ".spec.dgdRef.name", "Graph that is scaled");
    let replicas = || column("REPLICAS", "integer", ".status.replicas", "Replicas as they are");
    let service = column("SERVICE", "string", ".spec.dgdRef.serviceName", "Service that is scaled");
    let component = column("COMPONENT", "string", ".spec.dgdRef.componentName", "Component that is scaled");
    let text = "The scale subresource of one component of a graph.";
    Ok(SCALING_ADAPTER.definition(vec![
        version("v1alpha1", text, v1alpha1::scaling_adapter()?)
            .columns(&[graph(), service, replicas(), age("AGE")])
            .scalable()
            .deprecated(SCALING_ADAPTER.kind),
        version("v1beta1", text, v1beta1::scaling_adapter()?)
            .columns(&[graph(), component, replicas(), age("AGE")])
            .scalable()
            .stored(),
    ]))
}

fn model() -> Result<Definition, Mismatch> {
    let text = "A model, or an adapter of one, that running workers serve.";
    Ok(MODEL.definition(vec![
        version("v1alpha1", text, v1alpha1::model()?)
            .columns(&[
                column("BaseModel", "string", ".spec.baseModelName", "Model whose workers serve it"),
                column("Type", "string", ".spec.modelType", "Whether the model stands alone"),
                column("Ready", "integer", ".status.readyEndpoints", "Endpoints that serve the model"),
                column("Total", "integer", ".status.totalEndpoints", "All endpoints"),
                age("Age"),
            ])
            .stored(),
    ]))
}

fn worker_metadata() -> Result<Definition, Mismatch> {
    let text = "What a worker's pod tells others about itself.";
    Ok(WORKER_METADATA
        .definition(vec![version("v1alpha1", text, v1alpha1::worker_metadata()?).columns(&[age("Age")]).stored()]))
}

impl Names {
    /// The CRD of a kind with these versions; several versions are converted by the webhook.
    fn definition(self, versions: Vec<Version>) -> Definition {
        let conversion = (versions.len() > 1).then(conversion);
        let versions: Vec<Value> = versions.into_iter().map(|version| version.0).collect();
        let mut document = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {
                "name": format!("{}.{GROUP}", self.plural),
                "annotations": {"helm.sh/resource-policy": "keep"},
            },
            "spec": {
                "group": GROUP,
                "names": {
                    "kind": self.kind,
                    "listKind": format!("{}List", self.kind),
                    "plural": self.plural,
                    "shortNames": [self.short],
                    "singular": self.kind.to_lowercase(),
                },
                "scope": "Namespaced",
                "versions": versions,
            },
        });
        if let Some(conversion) = conversion {
            document["spec"]["conversion"] = conversion;
        }
        Definition { plural: self.plural, document }
    }
}

/// Where the API server has objects converted; name and namespace are replaced on installation.
fn conversion() -> Value {
    json!({
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {
                "service": {
                    "name": "dynamo-operator-webhook-service",
                    "namespace": "dynamo-system",
                    "path": "/convert",
                },
            },
            "conversionReviewVersions": ["v1"],
        },
    })
}

/// One version of a CRD.
struct Version(Value);

/// A served version whose objects have a spec and, with a second schema, a status.
fn version<const N: usize>(name: &str, description: &str, schemas: [Value; N]) -> Version {
    let mut schema = json!({
        "description": description,
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string", "description": "Group and version of the object."},
            "kind": {"type": "string", "description": "Kind of the object."},
            "metadata": {"type": "object"},
        },
    });
    let mut version = json!({"name": name, "served": true, "storage": false});
    for (member, part) in ["spec", "status"].into_iter().zip(schemas) {
        schema["properties"][member] = part;
    }
    if N > 1 {
        version["subresources"] = json!({"status": {}});
    }
    version["schema"] = json!({"openAPIV3Schema": schema});
    Version(version)
}

impl Version {
    /// Objects are kept in this version.
    fn stored(mut self) -> Self {
        self.0["storage"] = json!(true);
        self
    }

    /// The deprecation warning names v1beta1.
    fn deprecated(mut self, kind: &str) -> Self {
        self.0["deprecated"] = json!(true);
        self.0["deprecationWarning"] =
            json!(format!("{GROUP}/v1alpha1 {kind} is deprecated; use {GROUP}/v1beta1 {kind}"));
        self
    }

    /// What `kubectl get` prints.
    fn columns(mut self, columns: &[Value]) -> Self {
        self.0["additionalPrinterColumns"] = json!(columns);
        self
    }

    /// Objects have a scale subresource.
    fn scalable(mut self) -> Self {
        self.0["subresources"]["scale"] = json!({
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        });
        self
    }
}

fn column(name: &str, kind: &str, path: &str, description: &str) -> Value {
    json!({"name": name, "type": kind, "jsonPath": path, "description": description})
}

fn age(name: &str) -> Value {
    json!({"name": name, "type": "date", "jsonPath": ".metadata.creationTimestamp"})
}
