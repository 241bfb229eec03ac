//! This program as a test program with a bed.

use std::net::TcpListener;
use std::process::{Command, ExitCode};
use std::time::Duration;

use cluster_tests::objects::graph;
use cluster_tests::{Sandbox, Test, Webhooks, refused, run, until};
use serde_json::json;

/// Set for a process that is to have a bed: which one.
const BED: &str = "FALLBACK_TEST_BED";

/// The tests that can run on a bed.
pub const WEBHOOKS: &str = "webhooks_fill_in_and_refuse";
pub const PODS: &str = "a_pod_asks_the_api_server";

/// What a bed is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The webhooks, while somebody else has the usual ports.
    Webhooks,
    /// The webhooks and Pods.
    Pods,
    /// Nothing. It tells its folder and rests until it is killed.
    Rest,
}

impl Purpose {
    const ALL: [Self; 3] = [Self::Webhooks, Self::Pods, Self::Rest];

    fn name(self) -> &'static str {
        match self {
            Self::Webhooks => "webhooks",
            Self::Pods => "pods",
            Self::Rest => "rest",
        }
    }

    /// Has a command that runs this program run it for this purpose.
    pub fn of(self, command: &mut Command) -> &mut Command {
        command.env(BED, self.name())
    }
}

/// Runs tests on a bed, if this process is to have one.
pub fn run_as_bed() -> Option<ExitCode> {
    let name = std::env::var(BED).ok()?;
    let webhooks = || Test::new(WEBHOOKS, webhooks_fill_in_and_refuse);
    let ended = match Purpose::ALL.into_iter().find(|purpose| purpose.name() == name)? {
        Purpose::Webhooks => {
            let _others = [2379, 6443, 8080, 8081, 9443].map(|port| TcpListener::bind(("127.0.0.1", port)));
            run(vec![webhooks()], async |bed| Webhooks::install(&bed).await)
        }
        Purpose::Pods => run(vec![webhooks(), Test::new(PODS, a_pod_asks_the_api_server)], async |bed| {
            bed.start_node().await?;
            Webhooks::install(&bed).await
        }),
        Purpose::Rest => run(vec![webhooks()], async |bed| {
            println!("{}", bed.folder().display());
            std::future::pending::<anyhow::Result<()>>().await
        }),
    };
    Some(ended)
}

async fn webhooks_fill_in_and_refuse(sandbox: Sandbox) {
    sandbox.defaults_to(&graph("otter"), &[("/spec/components/0/replicas", json!(1))]).await;
    let mut stork = graph("stork");
    stork["spec"]["components"][1]["frontendSidecar"] = "nobody".into();
    let refusal = refused(sandbox.create(&stork).await);
    assert_eq!(refusal.fields(), ["spec.components[1].frontendSidecar"], "{}", refusal.message);
}

async fn a_pod_asks_the_api_server(sandbox: Sandbox) {
    let script = "kubectl get --raw /version; exec sleep infinity";
    let container = json!({"name": "main", "image": "local", "command": ["sh", "-c", script]});
    let spec = json!({"containers": [container], "terminationGracePeriodSeconds": 1});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "otter"}, "spec": spec});
    sandbox.accepts(&pod).await;
    let pods = || sandbox.bed().node().pods(sandbox.namespace(), "");
    let reported = async || pods().first().is_some_and(|pod| pod.is_ready() && pod.log().contains("gitVersion"));
    until("the API server tells its version to a Pod", Duration::from_mins(1), reported).await;
}
