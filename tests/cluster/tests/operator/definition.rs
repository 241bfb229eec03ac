//! CRDs as the API server has them, and what tests do to them.

use std::time::Duration;

use base64::Engine;
use cluster_tests::{Bed, until};
use serde_json::{Value, json};

/// The annotation that names the version of the operator.
pub const VERSION: &str = "dynamo.nvidia.com/operator-version";
pub const GRAPHS: &str = "dynamographdeployments";

pub fn place(plural: &str) -> String {
    format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.nvidia.com")
}

/// Our CRDs whose objects are converted.
pub const CONVERTED: [&str; 4] =
    [GRAPHS, "dynamocomponentdeployments", "dynamographdeploymentrequests", "dynamographdeploymentscalingadapters"];
/// The others.
const UNCONVERTED: [&str; 2] = ["dynamomodels", "dynamoworkermetadatas"];

/// All our CRDs.
pub fn plurals() -> impl Iterator<Item = &'static str> {
    CONVERTED.into_iter().chain(UNCONVERTED)
}

pub async fn installed(bed: &Bed, plural: &str) -> Value {
    bed.client().get(&place(plural)).await.unwrap().granted().unwrap()
}

/// Removes our CRDs with all their objects.
pub async fn remove_all(bed: &Bed) {
    for plural in plurals() {
        remove(bed, plural).await;
    }
}

/// Removes a CRD with all its objects, also where nobody is left who converts them.
pub async fn remove(bed: &Bed, plural: &str) {
    let path = place(plural);
    bed.client().merge(&path, &unconverted()).await.unwrap();
    bed.client().delete(&path).await.unwrap();
    let gone = async || bed.client().get(&path).await.unwrap().status == 404;
    until(&format!("{plural} gone"), Duration::from_secs(30), gone).await;
}

/// Removes the objects of a kind, in the version in which they can be read.
pub async fn remove_objects(bed: &Bed, plural: &str) {
    let group = "/apis/nvidia.com/v1beta1";
    let list = bed.client().get(&format!("{group}/{plural}")).await.unwrap().granted().unwrap();
    for object in list["items"].as_array().unwrap() {
        let (namespace, name) = (&object["metadata"]["namespace"], &object["metadata"]["name"]);
        let place = format!("{group}/namespaces/{}/{plural}/{}", namespace.as_str().unwrap(), name.as_str().unwrap());
        bed.client().delete(&place).await.unwrap().granted().unwrap();
    }
}

/// Changes what is told about a CRD.
pub async fn change(bed: &Bed, plural: &str, change: impl Fn(&mut Value)) {
    until(&format!("a change of {plural}"), Duration::from_secs(10), async || {
        let mut crd = installed(bed, plural).await;
        change(&mut crd);
        bed.client().put(&place(plural), &crd).await.unwrap().status.is_success()
    })
    .await;
}

/// Has objects stored in a version from now on.
pub fn store_in(crd: &mut Value, name: &str) {
    for version in crd["spec"]["versions"].as_array_mut().unwrap() {
        version["storage"] = (version["name"] == name).into();
    }
}

/// The versions with a property.
pub fn versions<'a>(crd: &'a Value, property: &str) -> Vec<&'a str> {
    let versions = crd["spec"]["versions"].as_array().unwrap().iter();
    versions.filter(|version| version[property] == true).map(|version| version["name"].as_str().unwrap()).collect()
}

/// Ends the conversion by a Service, which would stand beside a local server's URL.
pub async fn name_no_service(bed: &Bed) {
    for plural in CONVERTED {
        let crd = bed.client().get(&place(plural)).await.unwrap().body;
        if crd.pointer("/spec/conversion/webhook/clientConfig/service").is_some() {
            bed.client().merge(&place(plural), &unconverted()).await.unwrap().granted().unwrap();
        }
    }
}

fn unconverted() -> Value {
    json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}})
}

/// Has the local server convert, as the Service's Pods would.
pub async fn convert_by_local_server(bed: &Bed) {
    let authority = std::fs::read(bed.folder().join("webhooks.crt")).unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority);
    let config = json!({"service": null, "url": "https://127.0.0.1:9443/convert", "caBundle": bundle});
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": config}}}});
    for plural in CONVERTED {
        bed.client().merge(&place(plural), &patch).await.unwrap().granted().unwrap();
    }
}
