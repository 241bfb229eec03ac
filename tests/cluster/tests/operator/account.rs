//! `ServiceAccount`s and their rights.

use std::path::PathBuf;
use std::time::Duration;

use cluster_tests::{Sandbox, until};
use gateward_certs::ProvisionMode;
use gateward_cluster::Connection;
use gateward_cluster::permissions::{PermissionNames, Permissions, ResourceName, permissions};
use serde_json::{Value, json};

use crate::definition::ALL;

/// A `ServiceAccount` of the sandbox's namespace.
pub struct Account<'a> {
    sandbox: &'a Sandbox,
    name: &'static str,
    pub token: String,
}

impl<'a> Account<'a> {
    /// One that may do nothing.
    pub async fn without_rights(sandbox: &'a Sandbox, name: &'static str) -> Self {
        let accounts = format!("/api/v1/namespaces/{}/serviceaccounts", sandbox.namespace());
        let client = sandbox.bed().client();
        client.post(&accounts, &json!({"metadata": {"name": name}})).await.unwrap().granted().unwrap();
        let request = json!({"spec": {"expirationSeconds": 3600}});
        let answer = client.post(&format!("{accounts}/{name}/token"), &request).await.unwrap().granted().unwrap();
        Self { sandbox, name, token: answer["status"]["token"].as_str().unwrap().to_owned() }
    }

    /// One that may do what rules say.
    pub async fn with_rules(sandbox: &'a Sandbox, name: &'static str, rules: &Value) -> Self {
        let account = Self::without_rights(sandbox, name).await;
        let role = format!("{}-{name}", sandbox.namespace());
        let subject = json!({"kind": "ServiceAccount", "name": name, "namespace": sandbox.namespace()});
        let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role});
        let binding = json!({"metadata": {"name": role}, "roleRef": reference, "subjects": [subject]});
        let role = json!({"metadata": {"name": role}, "rules": rules});
        for (plural, object) in [("clusterroles", role), ("clusterrolebindings", binding)] {
            let path = format!("/apis/rbac.authorization.k8s.io/v1/{plural}");
            sandbox.bed().client().post(&path, &object).await.unwrap().granted().unwrap();
        }
        account.wait_for(rules.as_array().and_then(|rules| rules.last()).unwrap()).await;
        account
    }

    /// One that may do in the cluster what a replica may.
    pub async fn of_a_replica(sandbox: &'a Sandbox, name: &'static str) -> Self {
        let Permissions { cluster_role, .. } = permissions(&names()).of(ProvisionMode::Automatic);
        let rules: Vec<Value> =
            cluster_role.iter().map(|permission| serde_json::to_value(&permission.rule).unwrap()).collect();
        Self::with_rules(sandbox, name, &rules.into()).await
    }

    /// The API server learns of a binding a moment later than we do.
    async fn wait_for(&self, rule: &Value) {
        let account = self.username();
        let verb = &rule["verbs"][0];
        let spec = match &rule["nonResourceURLs"][0] {
            Value::Null => {
                let (group, resource) = (&rule["apiGroups"][0], &rule["resources"][0]);
                let resource = json!({"group": group, "resource": resource, "verb": verb});
                json!({"user": account, "resourceAttributes": resource})
            }
            path => json!({"user": account, "nonResourceAttributes": {"path": path, "verb": verb}}),
        };
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let allowed = async || {
            let review = self.sandbox.bed().client().post(path, &json!({"spec": spec})).await.unwrap();
            review.body["status"]["allowed"] == true
        };
        until("a right", Duration::from_mins(2), allowed).await;
    }

    /// Its name as a user.
    pub fn username(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.sandbox.namespace(), self.name)
    }

    /// A kubeconfig that holds its token.
    pub fn kubeconfig(&self) -> PathBuf {
        let folder = self.sandbox.bed().folder();
        let text = std::fs::read_to_string(folder.join("kubeconfig")).unwrap();
        let mut config: Value = serde_json::from_str(&text).unwrap();
        config["users"][0]["user"] = json!({"token": self.token});
        let file = folder.join(format!("kubeconfig-{}-{}", self.sandbox.namespace(), self.name));
        std::fs::write(&file, config.to_string()).unwrap();
        file
    }

    /// A connection in its name.
    pub async fn connection(&self) -> Connection {
        Connection::of_kubeconfig(&self.kubeconfig(), "tests/0.1.0").await.unwrap()
    }
}

fn names() -> PermissionNames {
    PermissionNames {
        secret: "leaf".into(),
        ca_secret: "leaf-ca".into(),
        bundle_secret: "leaf-bundle".into(),
        lease: "writer".into(),
        namespace_lease: "lock".into(),
        claiming_leases: Vec::new(),
        validating_configuration: "river-validating".into(),
        mutating_configuration: "river-mutating".into(),
        crds: ALL.into_iter().map(|plural| format!("{plural}.nvidia.com")).collect(),
        reads: vec![ResourceName { group: "grove.io".into(), plural: "clustertopologybindings".into() }],
        lists: Vec::new(),
        watches: Vec::new(),
    }
}
