//! What the roles of a release grant, verb by verb.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use cluster_tests::{Release, Sandbox, until};
use serde_json::{Value, json};

/// One verb for one resource, in one rule of a role.
pub struct Right {
    /// Where the role is.
    pub role: String,
    rule: usize,
    group: String,
    pub resource: String,
    pub verb: String,
    /// One of the names that the rule is for; empty where it is for all.
    name: String,
    /// Empty where it is for the whole cluster.
    namespace: String,
}

impl Right {
    /// All that the roles of a release grant.
    pub async fn all(sandbox: &Sandbox, release: &Release) -> Vec<Self> {
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let roles = [
            (release.namespace(), format!("{rbac}/namespaces/{}/roles/{}", release.namespace(), release.fullname())),
            ("", format!("{rbac}/clusterroles/{}", release.fullname())),
        ];
        let mut rights = Vec::new();
        for (namespace, role) in roles {
            let rules = sandbox.bed().client().get(&role).await.unwrap().granted().unwrap()["rules"].take();
            for (number, rule) in rules.as_array().unwrap().iter().enumerate() {
                for resource in words(&rule["resources"]) {
                    rights.extend(words(&rule["verbs"]).into_iter().map(|verb| Self {
                        role: role.clone(),
                        rule: number,
                        group: words(&rule["apiGroups"])[0].clone(),
                        resource: resource.clone(),
                        verb,
                        name: words(&rule["resourceNames"]).first().cloned().unwrap_or_default(),
                        namespace: namespace.to_owned(),
                    }));
                }
            }
        }
        rights
    }

    /// Takes the right from a user and waits until the API server knows. Gives the role as it was.
    pub async fn take_away(&self, sandbox: &Sandbox, user: &str) -> Value {
        let client = sandbox.bed().client();
        let whole = client.get(&self.role).await.unwrap().granted().unwrap();
        client.put(&self.role, &self.without(&whole)).await.unwrap().granted().unwrap();
        until(&format!("{self} is taken away"), Duration::from_secs(10), async || {
            let (group, resource) = (&self.group, &self.resource);
            let asked = json!({
                "group": group, "resource": resource, "verb": self.verb, "name": self.name, "namespace": self.namespace,
            });
            let review = json!({
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {"user": user, "resourceAttributes": asked},
            });
            let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            client.post(path, &review).await.unwrap().granted().unwrap()["status"]["allowed"] == false
        })
        .await;
        let mut whole = whole;
        whole["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        whole
    }

    /// The role without it: the rest of its rule is granted by two others.
    fn without(&self, role: &Value) -> Value {
        let mut role = role.clone();
        let rules = role["rules"].as_array_mut().unwrap();
        let rule = rules.remove(self.rule);
        let (mut others, mut same) = (rule.clone(), rule);
        remove(&mut others["resources"], &self.resource);
        same["resources"] = json!([self.resource]);
        remove(&mut same["verbs"], &self.verb);
        let grants = |rule: &Value| !words(&rule["resources"]).is_empty() && !words(&rule["verbs"]).is_empty();
        rules.extend([others, same].into_iter().filter(grants));
        role
    }
}

impl Display for Right {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.verb, self.resource, self.name)
    }
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn remove(list: &mut Value, word: &str) {
    list.as_array_mut().unwrap().retain(|item| item != word);
}
