//! What the roles of a release grant, verb by verb.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use cluster_tests::{Release, Sandbox, until};
use serde_json::{Value, json};

/// One verb for one resource, in one rule of a role.
pub struct Right {
    /// Where the role is.
    role: String,
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

    /// Those that can be taken away at the same time: each is missed though the others are missing too.
    pub fn groups(rights: Vec<Self>) -> Vec<Vec<Self>> {
        let mut groups: Vec<Vec<Self>> = Vec::new();
        for right in rights {
            let group = groups.iter_mut().find(|group| group[0].goes_with(&right));
            match group {
                Some(group) => group.push(right),
                None => groups.push(vec![right]),
            }
        }
        groups
    }

    fn goes_with(&self, other: &Self) -> bool {
        self.verb == other.verb && self.is_missed_by_itself() && other.is_missed_by_itself()
    }

    /// What a replica lists and watches from its start, and the objects that are patched one by one.
    fn is_missed_by_itself(&self) -> bool {
        self.is_used_at_start() || self.verb == "patch"
    }

    /// Whether a replica that starts uses it, and does so before it is ready.
    pub fn is_used_at_start(&self) -> bool {
        matches!(self.verb.as_str(), "list" | "watch") && self.resource != "pods"
    }

    /// Whether the API server grants it to a user.
    async fn is_granted(&self, sandbox: &Sandbox, user: &str) -> bool {
        let asked = json!({
            "group": self.group, "resource": self.resource, "verb": self.verb,
            "name": self.name, "namespace": self.namespace,
        });
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": asked},
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        sandbox.bed().client().post(path, &review).await.unwrap().granted().unwrap()["status"]["allowed"] != false
    }
}

/// Roles as they were before rights were taken out of them.
pub struct WholeRoles(Vec<(String, Value)>);

impl WholeRoles {
    /// Takes rights from a user and waits until the API server knows.
    pub async fn without(rights: &[Right], sandbox: &Sandbox, user: &str) -> Self {
        let client = sandbox.bed().client();
        let mut roles: Vec<&str> = rights.iter().map(|right| right.role.as_str()).collect();
        roles.dedup();
        let mut whole = Vec::new();
        for path in roles {
            let role = client.get(path).await.unwrap().granted().unwrap();
            client.put(path, &without(&role, path, rights)).await.unwrap().granted().unwrap();
            whole.push((path.to_owned(), role));
        }
        for right in rights {
            let about = format!("{right} is taken away");
            until(&about, Duration::from_mins(2), async || !right.is_granted(sandbox, user).await).await;
        }
        Self(whole)
    }

    /// Makes the roles as they were.
    pub async fn put_back(self, sandbox: &Sandbox) {
        for (path, mut role) in self.0 {
            role["metadata"].as_object_mut().unwrap().remove("resourceVersion");
            sandbox.bed().client().put(&path, &role).await.unwrap().granted().unwrap();
        }
    }
}

/// A role without some rights: each verb for each resource that is left has a rule of its own.
fn without(role: &Value, path: &str, rights: &[Right]) -> Value {
    let mut rules = Vec::new();
    for (number, rule) in role["rules"].as_array().unwrap().iter().enumerate() {
        for resource in words(&rule["resources"]) {
            for verb in words(&rule["verbs"]) {
                let is_taken = |right: &Right| {
                    right.role == path && right.rule == number && right.resource == resource && right.verb == verb
                };
                if !rights.iter().any(is_taken) {
                    let mut one = rule.clone();
                    (one["resources"], one["verbs"]) = (json!([resource]), json!([verb]));
                    rules.push(one);
                }
            }
        }
    }
    let mut role = role.clone();
    role["rules"] = rules.into();
    role
}

impl Display for Right {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.verb, self.resource, self.name)
    }
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
