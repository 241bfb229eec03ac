//! A policy of the cluster that stands in a user's way.

use std::time::Duration;

use serde_json::{Value, json};

use gateward_testbed::until;
use gateward_testbed::{Client, Response};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const NAME: &str = "denial";

/// What the policy says.
pub const DENIED: &str = "denied by a policy of the cluster";

/// Denies a user some writes, until it is lifted. There is one at a time.
pub struct Denial {
    client: Client,
}

impl Denial {
    /// Denies what a rule of a policy covers, and waits until the user's own attempt is denied.
    pub async fn of(client: &Client, user: &str, rule: &Value, mut attempt: impl AsyncFnMut() -> Response) -> Self {
        let condition = json!({"name": "theirs", "expression": format!("request.userInfo.username == '{user}'")});
        let policy = json!({
            "metadata": {"name": NAME},
            "spec": {
                "matchConstraints": {"resourceRules": [rule]},
                "matchConditions": [condition],
                "validations": [{"expression": "false", "message": DENIED}],
            },
        });
        let binding = json!({"metadata": {"name": NAME}, "spec": {"policyName": NAME, "validationActions": ["Deny"]}});
        for (path, object) in [(POLICIES, policy), (BINDINGS, binding)] {
            client.post(path, &object).await.unwrap().granted().unwrap();
        }
        until("the policy holds", Duration::from_mins(1), async || {
            let answer = attempt().await;
            answer.body["message"].as_str().unwrap_or_default().contains(DENIED)
        })
        .await;
        Self { client: client.clone() }
    }

    /// Denies nothing any more.
    pub async fn lift(self) {
        for path in [BINDINGS, POLICIES] {
            self.client.delete(&format!("{path}/{NAME}")).await.unwrap().granted().unwrap();
        }
    }
}
