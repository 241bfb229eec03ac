//! A Lease as anyone may have written it.
//!
//! Who may write Leases in one namespace could keep those of all others from being read: an API server takes times, such
//! as those of the year 10000, that nothing but Go reads, and a list of which one item can't be read is no list. And one
//! that a replica can't read it can't take, however long its holder is silent.

use std::borrow::Cow;

use gateward_core::terminal::is_obeyed;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::Resource;
use kube::api::ObjectMeta;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// How much of a holder's text is kept.
pub(crate) const HOLDER: usize = 256;

/// What is shown of a holder, whose text any writer of the Lease chooses.
pub(crate) fn shown_holder(holder: &str) -> String {
    holder.chars().filter(|&letter| !is_obeyed(letter)).take(HOLDER).collect()
}

/// A Lease. Of one that can't be read as a whole there is what decisions depend on, and of that again what can be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnyLease(pub(crate) Lease);

impl<'de> Deserialize<'de> for AnyLease {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lease = Value::deserialize(deserializer)?;
        Ok(Self(Lease::deserialize(&lease).unwrap_or_else(|_| read(&lease))))
    }
}

impl Serialize for AnyLease {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

fn read(lease: &Value) -> Lease {
    let (metadata, spec) = (&lease["metadata"], &lease["spec"]);
    Lease {
        metadata: ObjectMeta {
            name: member(metadata, "name"),
            namespace: member(metadata, "namespace"),
            uid: member(metadata, "uid"),
            resource_version: member(metadata, "resourceVersion"),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: member(spec, "holderIdentity"),
            lease_duration_seconds: member(spec, "leaseDurationSeconds"),
            renew_time: member(spec, "renewTime"),
            ..LeaseSpec::default()
        }),
    }
}

fn member<T: DeserializeOwned>(object: &Value, name: &str) -> Option<T> {
    T::deserialize(object.get(name)?).ok()
}

impl Resource for AnyLease {
    type DynamicType = <Lease as Resource>::DynamicType;
    type Scope = <Lease as Resource>::Scope;

    fn kind(known: &Self::DynamicType) -> Cow<'_, str> {
        Lease::kind(known)
    }

    fn group(known: &Self::DynamicType) -> Cow<'_, str> {
        Lease::group(known)
    }

    fn version(known: &Self::DynamicType) -> Cow<'_, str> {
        Lease::version(known)
    }

    fn plural(known: &Self::DynamicType) -> Cow<'_, str> {
        Lease::plural(known)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.metadata
    }
}

#[cfg(test)]
mod tests {
    use kube::core::ObjectList;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_that_only_go_reads_hides_no_other_lease() {
        let late = "10000-01-01T22:59:59.000000Z";
        let poisoned = json!({
            "metadata": {"name": "lock", "namespace": "team-b", "managedFields": [{"time": late}]},
            "spec": {"holderIdentity": "b/1", "acquireTime": late, "renewTime": late, "leaseDurationSeconds": "30"},
        });
        let sound = json!({
            "metadata": {"name": "lock", "namespace": "team-a", "uid": "u", "resourceVersion": "7"},
            "spec": {"holderIdentity": "a/1", "leaseDurationSeconds": 30, "renewTime": "2027-01-15T08:00:00.000000Z"},
        });
        let list = json!({"metadata": {}, "items": [poisoned, sound]});
        let list: ObjectList<AnyLease> = serde_json::from_value(list).unwrap();
        let [AnyLease(poisoned), AnyLease(read)] = list.items.as_slice() else { panic!("{list:?}") };
        assert_eq!(*read, serde_json::from_value(sound).unwrap());
        assert_eq!(poisoned.metadata.namespace.as_deref(), Some("team-b"));
        let spec = poisoned.spec.clone().unwrap();
        assert_eq!(spec.holder_identity.as_deref(), Some("b/1"));
        assert_eq!((spec.renew_time, spec.lease_duration_seconds), (None, None));
    }
}
