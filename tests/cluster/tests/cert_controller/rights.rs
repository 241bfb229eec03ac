//! What replicas may do, and in whose name they ask.

use std::path::PathBuf;

use gateward_cluster::permissions::{Permission, PermissionNames, permissions};
use serde_json::{Value, json};

use crate::setup::{BUNDLE_SECRET, CA_SECRET, LEASE, SERVING_SECRET};
use crate::zoo::Zoo;

const RBAC: &str = "rbac.authorization.k8s.io";
const RBAC_PATH: &str = "/apis/rbac.authorization.k8s.io/v1";

impl Zoo {
    pub async fn take_away_the_rights_in_the_cluster(&self) {
        let binding = format!("{RBAC_PATH}/clusterrolebindings/{}", self.group());
        self.client().delete(&binding).await.unwrap().granted().unwrap();
    }

    pub async fn give_back_the_rights_in_the_cluster(&self) {
        self.bind("ClusterRole", "").await;
    }

    async fn bind(&self, kind: &str, at: &str) {
        let subjects = json!([{"kind": "Group", "apiGroup": RBAC, "name": self.group()}]);
        let role_ref = json!({"apiGroup": RBAC, "kind": kind, "name": self.group()});
        let binding = json!({"metadata": {"name": self.group()}, "roleRef": role_ref, "subjects": subjects});
        let bindings = format!("{RBAC_PATH}/{at}{}bindings", kind.to_lowercase());
        self.client().post(&bindings, &binding).await.unwrap().granted().unwrap();
    }

    pub async fn grant(&self) {
        let permissions = permissions(&self.names()).of(self.setup.provision.mode());
        let rules = |permissions: &[Permission]| {
            permissions.iter().map(|permission| json!(permission.rule)).collect::<Vec<_>>()
        };
        for (kind, at, rules) in [
            ("Role", format!("namespaces/{}/", self.namespace()), rules(&permissions.role)),
            ("ClusterRole", String::new(), rules(&permissions.cluster_role)),
        ] {
            let role = json!({"metadata": {"name": self.group()}, "rules": rules});
            let roles = format!("{RBAC_PATH}/{at}{}s", kind.to_lowercase());
            self.client().post(&roles, &role).await.unwrap().granted().unwrap();
            self.bind(kind, &at).await;
        }
    }

    fn names(&self) -> PermissionNames {
        PermissionNames {
            secret: SERVING_SECRET.to_owned(),
            ca_secret: CA_SECRET.to_owned(),
            bundle_secret: BUNDLE_SECRET.to_owned(),
            lease: LEASE.to_owned(),
            namespace_lease: "otter-lock".to_owned(),
            claiming_leases: Vec::new(),
            validating_configuration: self.setup.targets.validating.clone(),
            mutating_configuration: self.setup.targets.mutating.clone(),
            crds: self.setup.targets.crds.clone(),
            reads: Vec::new(),
            lists: Vec::new(),
            watches: Vec::new(),
        }
    }

    /// The administrator's kubeconfig in the name of a replica, which has the rights of one and no more.
    pub fn kubeconfig(&self, replica: &str) -> PathBuf {
        let folder = self.sandbox().bed().folder();
        let text = std::fs::read_to_string(folder.join("kubeconfig")).unwrap();
        let mut kubeconfig: Value = serde_json::from_str(&text).unwrap();
        let user = &mut kubeconfig["users"][0]["user"];
        user["as"] = self.user_of(replica).into();
        user["as-groups"] = json!([self.group()]);
        let file = folder.join(format!("{}-{replica}.kubeconfig", self.namespace()));
        std::fs::write(&file, kubeconfig.to_string()).unwrap();
        file
    }
}
