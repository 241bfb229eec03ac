//! CRDs as the API server has them, and what tests do to them.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine;
use cluster_tests::objects::object;
use cluster_tests::{Bed, Conversion, crds, until};
use serde_json::{Value, json};

/// The annotation that names the version of the operator.
pub const VERSION: &str = "dynamo.nvidia.com/operator-version";
pub const GRAPHS: &str = "dynamographdeployments";
pub const REQUESTS: &str = "dynamographdeploymentrequests";
pub const ADAPTERS: &str = "dynamographdeploymentscalingadapters";

/// All our CRDs.
pub const ALL: [&str; 6] =
    [GRAPHS, REQUESTS, ADAPTERS, "dynamocomponentdeployments", "dynamomodels", "dynamoworkermetadatas"];

pub fn place(plural: &str) -> String {
    format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.nvidia.com")
}

pub async fn installed(bed: &Bed, plural: &str) -> Value {
    bed.client().get(&place(plural)).await.unwrap().granted().unwrap()
}

/// Removes our CRDs with all their objects.
pub async fn remove_all(bed: &Bed) {
    for plural in ALL {
        remove(bed, plural).await;
    }
}

/// Removes a CRD with all its objects, also where nobody is left who converts them.
pub async fn remove(bed: &Bed, plural: &str) {
    let path = place(plural);
    bed.client().merge(&path, &unconverted()).await.unwrap();
    bed.client().delete(&path).await.unwrap();
    let gone = async || bed.client().get(&path).await.unwrap().status == 404;
    until(&format!("{plural} gone"), Duration::from_mins(2), gone).await;
}

/// Changes the text about a CRD.
pub async fn change(bed: &Bed, plural: &str, change: impl Fn(&mut Value)) {
    until(&format!("a change of {plural}"), Duration::from_mins(2), async || {
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

/// Who converts objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Converter {
    /// The local server.
    Local,
    /// A server that is gone.
    Gone,
}

impl Converter {
    fn stanza(self, bed: &Bed) -> Value {
        let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        let converter = if self == Self::Local { bed.webhooks() } else { nobody };
        let ca = std::fs::read(bed.folder().join("webhooks.crt")).unwrap();
        let bundle = base64::engine::general_purpose::STANDARD.encode(ca);
        let config = json!({"url": format!("https://{converter}/convert"), "caBundle": bundle});
        json!({"strategy": "Webhook", "webhook": {"clientConfig": config, "conversionReviewVersions": ["v1"]}})
    }
}

/// Says who converts the objects of a kind that is installed.
pub async fn converted_by(bed: &Bed, plural: &str, converter: Converter) {
    let stanza = converter.stanza(bed);
    change(bed, plural, |crd| crd["spec"]["conversion"] = stanza.clone()).await;
}

/// Installs a CRD as a release has it, whatever became of it before.
pub async fn as_released(bed: &Bed, plural: &str) {
    static RELEASED: OnceLock<Vec<Value>> = OnceLock::new();
    let released = RELEASED.get_or_init(|| crds(bed.programs(), Conversion::None).unwrap());
    let mut crd = released.iter().find(|crd| crd["spec"]["names"]["plural"] == plural).unwrap().clone();
    crd["spec"]["conversion"] = Converter::Local.stanza(bed);
    if bed.client().get(&place(plural)).await.unwrap().status == 404 {
        return bed.install_crds(&[crd]).await.unwrap();
    }
    change(bed, plural, |installed| installed["spec"] = crd["spec"].clone()).await;
}

fn unconverted() -> Value {
    json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}})
}

/// An adapter.
pub fn heron() -> Value {
    let reference = json!({"name": "heron", "componentName": "worker"});
    object("v1beta1", "DynamoGraphDeploymentScalingAdapter", "heron", &json!({"replicas": 7, "dgdRef": reference}))
}
