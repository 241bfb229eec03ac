//! Users that may change the fields that the operator owns.

use dynamo_api::constants::PLANNER_SERVICE_ACCOUNT;

/// Whether a user may change replicas that a scaling adapter owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalePermission {
    /// For the operator and planners.
    Granted,
    /// For every other user, whatever the groups.
    Denied,
}

impl ScalePermission {
    /// The permission of a user: REPL-03, and REPL-04 for an empty name.
    pub(crate) fn of(username: &str, principals: &[String]) -> Self {
        let Some(account) = username.strip_prefix("system:serviceaccount:") else { return Self::Denied };
        if is_operator(username, principals) || is_planner(account) { Self::Granted } else { Self::Denied }
    }
}

/// Whether a user is one of the operator's own identities.
pub(crate) fn is_operator(username: &str, principals: &[String]) -> bool {
    principals.iter().any(|principal| principal == username)
}

/// Whether `namespace:name` is a planner's account. Planners run in the namespaces of their graphs.
fn is_planner(account: &str) -> bool {
    let mut parts = account.split(':');
    matches!((parts.next(), parts.next(), parts.next()), (Some(_), Some(PLANNER_SERVICE_ACCOUNT), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATOR: &str = "system:serviceaccount:dyn-home:dyn-controller";

    fn may_scale(username: &str) -> bool {
        ScalePermission::of(username, &[OPERATOR.to_owned()]) == ScalePermission::Granted
    }

    #[test]
    fn the_operator_and_a_planner_of_any_namespace_may_scale() {
        assert!(may_scale(OPERATOR));
        assert!(may_scale("system:serviceaccount:pier-7:planner-serviceaccount"));
        assert!(may_scale("system:serviceaccount::planner-serviceaccount"));
    }

    #[test]
    fn accounts_that_only_look_alike_may_not() {
        for user in [
            "",
            "kubernetes-admin",
            "planner-serviceaccount",
            "system:serviceaccount:pier-7:x-planner-serviceaccount",
            "system:serviceaccount:pier-7:planner-serviceaccount:x",
            "system:serviceaccount:planner-serviceaccount",
            "system:serviceaccount:pier-7:dyn-controller",
            "system:serviceaccount:dyn-home:dyn-controller:x",
        ] {
            assert!(!may_scale(user), "{user}");
        }
    }

    #[test]
    fn a_principal_that_is_no_service_account_may_not_scale() {
        assert_eq!(ScalePermission::of("jane", &["jane".to_owned()]), ScalePermission::Denied);
        assert!(is_operator("jane", &["jane".to_owned()]));
    }
}
