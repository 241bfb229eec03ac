//! All that is in a cluster, to see whether an installation leaves a trace.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use gateward_testbed::{Bed, Client};
use serde_json::Value;

/// How long what was deleted may take to go, and the rest between two looks.
const PATIENCE: Duration = Duration::from_mins(1);
const REST: Duration = Duration::from_millis(200);

/// What a cluster makes in each namespace.
const IN_EACH_NAMESPACE: [&str; 2] = ["/configmaps/kube-root-ca.crt", "/serviceaccounts/default"];

/// The places of all objects of a cluster, of every kind that it can list.
pub struct Inventory(BTreeSet<String>);

impl Inventory {
    /// What there is now.
    pub async fn of(bed: &Bed) -> anyhow::Result<Self> {
        let mut places = BTreeSet::new();
        for version in group_versions(bed.client()).await? {
            let resources = bed.client().get(&version).await?.granted()?;
            for resource in items(&resources["resources"]).filter(|resource| is_listed(resource)) {
                let plural = text(&resource["name"]);
                let list = listed(bed.client(), &format!("{version}/{plural}")).await?;
                places.extend(items(&list["items"]).map(|object| place(&version, plural, object)));
            }
        }
        places.retain(|place| !place.contains("/events/") && !IN_EACH_NAMESPACE.iter().any(|own| place.ends_with(own)));
        Ok(Self(places))
    }

    /// Waits until nothing is there that wasn't there before: what is deleted goes after a while.
    pub async fn is_restored(&self, bed: &Bed) {
        let start = Instant::now();
        loop {
            let left = match Self::of(bed).await {
                Ok(now) => now.0.difference(&self.0).cloned().collect(),
                // In between kinds come and go.
                Err(error) => vec![format!("{error:#}")],
            };
            if left.is_empty() {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "still there: {left:#?}");
            tokio::time::sleep(REST).await;
        }
    }
}

/// A list; `null` where the kind's CRD is being deleted.
async fn listed(client: &Client, path: &str) -> anyhow::Result<Value> {
    let start = Instant::now();
    loop {
        let answer = client.get(path).await?;
        match answer.status.as_u16() {
            404 => return Ok(Value::Null),
            // A kind whose CRD is new.
            429 if start.elapsed() < PATIENCE => tokio::time::sleep(REST).await,
            _ => return answer.granted(),
        }
    }
}

/// Where the versions are that the cluster prefers.
async fn group_versions(client: &Client) -> anyhow::Result<Vec<String>> {
    let groups = client.get("/apis").await?.granted()?;
    let preferred = items(&groups["groups"]).map(|group| text(&group["preferredVersion"]["groupVersion"]));
    Ok(preferred.map(|version| format!("/apis/{version}")).chain(["/api/v1".to_owned()]).collect())
}

fn is_listed(resource: &Value) -> bool {
    items(&resource["verbs"]).any(|verb| verb == "list")
}

fn place(version: &str, plural: &str, object: &Value) -> String {
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str().map(|name| format!("/namespaces/{name}")).unwrap_or_default();
    format!("{version}{namespace}/{plural}/{}", text(&metadata["name"]))
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
