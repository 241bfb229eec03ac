//! With `webhook.excludeClaimedNamespaces` an operator of the whole cluster that is down keeps no tenant from writing
//! that runs its own.

use std::time::Duration;

use cluster_tests::{Chart, Release, Sandbox, Test, is_admitted, tests, until};
use serde_json::{Value, json};

use crate::table::{Did, PATIENCE, Probe, Verdicts, install_team};
use crate::{PLATFORM, TEAM};

pub fn tests() -> Vec<Test> {
    tests![a_tenant_with_an_operator_of_its_own_does_not_depend_on_the_one_of_the_whole_cluster]
}

const NOT_ASKED: Verdicts = Verdicts { platform: Did::Nothing, team: Did::Judged };

async fn a_tenant_with_an_operator_of_its_own_does_not_depend_on_the_one_of_the_whole_cluster(sandbox: Sandbox) {
    let platform = Release::of(&sandbox, PLATFORM.0, PLATFORM.1);
    let values = |excluded: bool| json!({"dynamo-operator": {"webhook": {"excludeClaimedNamespaces": excluded}}});
    platform.upgrade(Chart::Current, &values(true)).await.unwrap();
    platform.settled().await.unwrap();
    let team = install_team(&sandbox).await;
    let probe = Probe::new(&sandbox, TEAM.1);
    probe.until("the namespace is left out", NOT_ASKED).await;
    repaired(&sandbox, &platform.configurations()[0], &probe).await;
    platform.scale(0).await.unwrap();
    until("the platform is gone", PATIENCE, async || platform.pods().await.unwrap().is_empty()).await;
    probe.until("the operator of the whole cluster is gone", NOT_ASKED).await;
    assert!(
        is_admitted(&sandbox, TEAM.1, "hf://zoo/otter").await,
        "what the namespace's own operator allows is admitted"
    );
    assert!(
        !is_admitted(&sandbox, "default", "hf://zoo/otter").await,
        "elsewhere nothing passes that nobody has judged"
    );
    platform.scale(2).await.unwrap();
    platform.rolled_out().await.unwrap();
    // API servers call no webhook here until the expression is written anew: the hole that the docs name.
    team.uninstall().await.unwrap();
    probe.until("the namespace's own operator is gone", crate::table::PLATFORM_ALONE).await;
    platform.upgrade(Chart::Current, &values(false)).await.unwrap();
}

/// Somebody takes the expression away, and it comes back.
async fn repaired(sandbox: &Sandbox, configuration: &str, probe: &Probe<'_>) {
    let client = sandbox.bed().client();
    let written = client.get(configuration).await.unwrap().granted().unwrap();
    let marked = |configuration: &Value| {
        let webhooks = configuration["webhooks"].as_array().unwrap();
        webhooks
            .iter()
            .all(|webhook| webhook["namespaceSelector"].to_string().contains("[\"claimed.gateward.dev\",\"team-a\"]"))
    };
    assert!(marked(&written), "{written}");
    let mut without = written.clone();
    for webhook in without["webhooks"].as_array_mut().unwrap() {
        let expressions = webhook["namespaceSelector"]["matchExpressions"].as_array_mut().unwrap();
        expressions.retain(|expression| !expression.to_string().contains("claimed.gateward.dev"));
    }
    client.put(configuration, &without).await.unwrap().granted().unwrap();
    let back = async || marked(&client.get(configuration).await.unwrap().granted().unwrap());
    let took = until("the expression is back", Duration::from_mins(1), back).await;
    println!("the expression was back after {took:.1?}");
    probe.until("the expression was taken away", NOT_ASKED).await;
}
