//! Metadata and conditions, as every Kubernetes object has them.

use std::collections::BTreeMap;

object! {
    /// What rules and conversion read of an object's metadata.
    ///
    /// See the [object metadata reference](https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/).
    pub struct ObjectMeta {
        /// Name, unique among the objects of the kind in the namespace.
        pub name: String,
        /// Prefix that the API server completes to a name where none is given.
        pub generate_name: String,
        /// Namespace of the object.
        pub namespace: String,
        /// Identity that no other object ever has.
        pub uid: String,
        /// The stored revision.
        pub resource_version: String,
        /// Counts the changes of the spec, from 1.
        pub generation: Option<i64>,
        /// When the object was created, RFC 3339.
        pub creation_timestamp: Option<String>,
        /// When deletion was asked for, RFC 3339; present while finalizers hold the object.
        pub deletion_timestamp: Option<String>,
        /// Labels by key.
        pub labels: BTreeMap<String, String>,
        /// Annotations by key.
        pub annotations: BTreeMap<String, String>,
        /// Objects that this one goes away with.
        pub owner_references: Vec<OwnerReference>,
        /// What must happen before the object is removed.
        pub finalizers: Vec<String>,
    }
}

impl ObjectMeta {
    /// Whether deletion was asked for.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The value of an annotation; `None` where the key is absent.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }
}

object! {
    /// An object that another one belongs to.
    pub struct OwnerReference {
        /// Group and version of the owner.
        pub api_version: String,
        /// Kind of the owner.
        pub kind: String,
        /// Name of the owner, in the same namespace.
        pub name: String,
        /// Identity of the owner.
        pub uid: String,
        /// Whether the owner is the one that controls the object.
        pub controller: Option<bool>,
    }
}

object! {
    /// One aspect of an object's state.
    pub struct Condition {
        /// Which aspect, unique in the list.
        #[serde(rename = "type")]
        pub condition_type: String,
        /// `True`, `False` or `Unknown`.
        pub status: String,
        /// The generation of the spec that was looked at.
        pub observed_generation: Option<i64>,
        /// When the status last changed, RFC 3339.
        pub last_transition_time: Option<String>,
        /// The cause, one word in camel case.
        pub reason: String,
        /// The cause, for people.
        // An empty one is not an absent one: the schema demands it.
        pub message: Option<String>,
    }
}
