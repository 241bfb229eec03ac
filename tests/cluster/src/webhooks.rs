//! The server under test, beside the API server instead of in a Pod, and what makes the API server ask it.

use std::time::Duration;

use gateward_testbed::{Bed, LocalWebhooks, Prepared, Programs, printed, until, version_of};
use serde_json::{Value, json};

use crate::objects::{graph, graph_v1alpha1, model};

/// A user whom the webhooks skip, so that tests can store objects that they would refuse.
pub const UNSEEN: &str = "unseen-by-webhooks";

/// Who converts the objects of our CRDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Nobody: a version is only a name.
    None,
    /// The Service that the CRDs name.
    Service,
}

/// Our CRDs, as the binary prints them.
pub fn crds(programs: &Programs, conversion: Conversion) -> anyhow::Result<Vec<Value>> {
    let mut crds = printed(&mut programs.gateward(), &["generate", "crds"])?;
    if conversion == Conversion::None {
        for spec in crds.iter_mut().filter_map(|crd| crd["spec"].as_object_mut()) {
            spec.remove("conversion");
        }
    }
    Ok(crds)
}

/// `gateward serve --local`, which ends when this is dropped.
pub struct Webhooks(Option<LocalWebhooks>);

impl Prepared for Webhooks {}

impl Webhooks {
    /// Starts the server, installs our CRDs and has the API server ask the server about their objects.
    pub async fn install(bed: &Bed) -> anyhow::Result<Self> {
        let webhooks = start(bed).await?;
        have_asked(bed, &webhooks).await?;
        Ok(Self(Some(webhooks)))
    }

    /// Starts the server, which nobody asks yet. Its certificate is `webhooks.crt` in the bed's folder.
    pub async fn serve(bed: &Bed) -> anyhow::Result<Self> {
        Ok(Self(Some(start(bed).await?)))
    }

    /// Ends the server without a warning.
    pub fn kill(&mut self) {
        self.0 = None;
    }

    /// Starts it again, with a new CA, which the API server trusts from then on.
    pub async fn restart(&mut self, bed: &Bed) -> anyhow::Result<()> {
        self.kill();
        *self = Self::install(bed).await?;
        Ok(())
    }
}

async fn start(bed: &Bed) -> anyhow::Result<LocalWebhooks> {
    let facts = bed.folder().join("facts.json");
    // The cluster of most cases of the rule books.
    std::fs::write(&facts, r#"{"clusterWide": true}"#)?;
    let mut command = bed.programs().gateward();
    LocalWebhooks::start(bed, command.args(["serve", "--local", "--facts"]).arg(&facts)).await
}

/// Has the API server ask a server.
async fn have_asked(bed: &Bed, webhooks: &LocalWebhooks) -> anyhow::Result<()> {
    let mut configurations = printed(&mut bed.programs().gateward(), &["generate", "webhooks"])?;
    for webhook in configurations.iter_mut().filter_map(|it| it["webhooks"].as_array_mut()).flatten() {
        let expression = format!("request.userInfo.username != '{UNSEEN}'");
        webhook["matchConditions"] = json!([{"name": "seen", "expression": expression}]);
    }
    webhooks.have_asked(bed, crds(bed.programs(), Conversion::Service)?, configurations).await?;
    until("the webhooks are asked", Duration::from_mins(1), async || is_asked(bed).await).await;
    Ok(())
}

/// Whether the API server, which hears of configurations and CRDs a moment later than we do, has objects defaulted,
/// converted and judged.
async fn is_asked(bed: &Bed) -> bool {
    let dry = async |object: Value| {
        let path = format!("{}?dryRun=All", bed.collection(&object, version_of(&object), "default"));
        bed.client().post(&path, &object).await
    };
    let defaulted = dry(graph("asked"))
        .await
        .is_ok_and(|answer| answer.status.is_success() && answer.body.pointer("/spec/components/0/replicas").is_some());
    let converted = dry(graph_v1alpha1("asked")).await.is_ok_and(|answer| answer.status.is_success());
    let denied = dry(model("asked", "ftp://example.org")).await;
    let denied = denied.is_ok_and(|answer| answer.body["message"].to_string().contains("denied the request"));
    defaulted && converted && denied
}
