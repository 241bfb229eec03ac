//! An `extraPodSpec` that Go reads as the zero value of its type, apart from the main container's name: it makes no pod.

use serde_json::{Map, Value};

use crate::conversion::merge::is_zero;
use gateward::conversion::equivalence::means_absent;

/// Members of a pod's spec whose zero value equals their absence. So do empty lists; all other members are pointers, and
/// an empty one is a value.
const PLAIN_OF_POD: [&str; 14] = [
    "dnsPolicy",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostname",
    "nodeName",
    "nodeSelector",
    "overhead",
    "priorityClassName",
    "restartPolicy",
    "schedulerName",
    "serviceAccount",
    "serviceAccountName",
    "subdomain",
];

/// The same for a container.
const PLAIN_OF_CONTAINER: [&str; 9] = [
    "image",
    "imagePullPolicy",
    "resources",
    "stdin",
    "stdinOnce",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tty",
    "workingDir",
];

/// Whether it is the zero value but for a name of the main container.
pub(super) fn is_bare(extra: &Map<String, Value>) -> bool {
    extra.iter().all(|(name, member)| match (name.as_str(), member) {
        ("mainContainer", Value::Object(main)) => is_bare_container(main),
        (name, member) => is_unset(member, PLAIN_OF_POD.contains(&name)),
    })
}

fn is_bare_container(main: &Map<String, Value>) -> bool {
    main.iter().all(|(name, member)| match (name.as_str(), member) {
        ("name", member) => member.is_string() || member.is_null(),
        (name, member) => is_unset(member, PLAIN_OF_CONTAINER.contains(&name)),
    })
}

fn is_unset(member: &Value, is_plain: bool) -> bool {
    let is_empty_list = member.as_array().is_some_and(Vec::is_empty);
    member.is_null() || is_empty_list || is_plain && (is_zero(member) || means_absent(member))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bare(extra: &Value) -> bool {
        extra.as_object().is_some_and(is_bare)
    }

    #[test]
    fn what_go_can_not_tell_from_nothing_is_bare() {
        for extra in [
            json!({}),
            json!({"mainContainer": {}, "containers": []}),
            json!({"mainContainer": {"name": "other", "resources": {"limits": {}}, "env": [], "image": "", "tty": false}}),
            json!({"mainContainer": null, "containers": null, "nodeSelector": {}, "hostNetwork": false, "hostname": ""}),
        ] {
            assert!(bare(&extra), "{extra}");
        }
    }

    #[test]
    fn what_go_can_tell_from_nothing_is_not() {
        for extra in [
            json!({"mainContainer": {"image": "x:1"}}),
            json!({"mainContainer": {"securityContext": {}}}),
            json!({"mainContainer": "odd"}),
            json!({"mainContainer": {"name": 5}}),
            json!({"containers": [{}]}),
            json!({"securityContext": {}}),
            json!({"terminationGracePeriodSeconds": 0}),
            json!({"shareProcessNamespace": false}),
            json!({"unknown": {}}),
        ] {
            assert!(!bare(&extra), "{extra}");
        }
    }
}
