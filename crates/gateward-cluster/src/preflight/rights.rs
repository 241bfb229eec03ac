//! Whether the Pods' ServiceAccount has the rights of the chosen mode.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use gateward_certs::ProvisionMode;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReviewSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};

use super::check::{PreflightCheck, PreflightResult};
use super::planned_release::PlannedRelease;
use crate::config::ServedNamespaces;
use crate::permissions::{Need, Permission, PermissionNames, Permissions, permissions};
use crate::request::{READ_TIMEOUT, RequestError, with_read_timeout};
use crate::subject_access;

const CHECK: PreflightCheck = PreflightCheck::Rbac;
/// How many reviews are asked for at once.
const AT_ONCE: usize = 8;
/// How many missing rights are named.
const SHOWN: usize = 4;

/// One right, as an access review asks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RequiredRight {
    verb: String,
    group: String,
    plural: String,
    /// The object; all of them where there is none.
    name: Option<String>,
    /// The namespace; the whole cluster where there is none.
    namespace: Option<String>,
}

/// Rights, each with what it is for.
type Rights = BTreeMap<RequiredRight, &'static str>;

/// A choice of values on which rights depend.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    mode: ProvisionMode,
    needs: Vec<Need>,
}

pub(super) async fn check(client: &Client, planned: &PlannedRelease) -> PreflightResult {
    let (namespace, account) = (&planned.config.namespace, &planned.service_account);
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    match with_read_timeout(accounts.get_opt(account)).await {
        Ok(None) => CHECK.not_provable_yet(format!(
            "there is no ServiceAccount {namespace}/{account} yet: the upgrade makes it, with its roles"
        )),
        Ok(Some(_)) => match granted(client, planned).await {
            Ok(granted) => judge(planned, &granted),
            Err(why) => CHECK
                .not_provable_yet(format!("what ServiceAccount {namespace}/{account} may do can't be asked: {why}")),
        },
        Err(why) => CHECK.not_provable_yet(format!("ServiceAccount {namespace}/{account} can't be read: {why}")),
    }
}

/// Which rights are granted, of those that any choice needs.
async fn granted(client: &Client, planned: &PlannedRelease) -> Result<BTreeSet<RequiredRight>, RequestError> {
    let rights: BTreeSet<_> = choices(planned).iter().flat_map(|it| required(planned, it).into_keys()).collect();
    let asked = stream::iter(rights).map(async |right| is_granted(client, planned, &right).await.map(|is| (right, is)));
    let answers: Vec<_> = asked.buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(answers.into_iter().filter_map(|(right, is_granted)| is_granted.then_some(right)).collect())
}

async fn is_granted(client: &Client, planned: &PlannedRelease, right: &RequiredRight) -> Result<bool, RequestError> {
    let namespace = &planned.config.namespace;
    let groups = ["system:serviceaccounts", &format!("system:serviceaccounts:{namespace}"), "system:authenticated"];
    let spec = SubjectAccessReviewSpec {
        user: Some(format!("system:serviceaccount:{namespace}:{}", planned.service_account)),
        groups: Some(groups.map(str::to_owned).into()),
        resource_attributes: Some(ResourceAttributes {
            verb: Some(right.verb.clone()),
            group: Some(right.group.clone()),
            resource: Some(right.plural.clone()),
            name: right.name.clone(),
            namespace: right.namespace.clone(),
            ..ResourceAttributes::default()
        }),
        ..SubjectAccessReviewSpec::default()
    };
    subject_access::is_granted(client, READ_TIMEOUT, spec).await
}

/// The chosen values first, then others that the installed release may have been given.
fn choices(planned: &PlannedRelease) -> Vec<Choice> {
    let chosen = Choice { mode: planned.config.provision.mode(), needs: planned.needs.clone() };
    let mut choices = vec![chosen.clone()];
    let changeable = [Need::ToInstallCrds, Need::ToExcludeClaims, Need::ToKeepBundle];
    let fixed: Vec<Need> = chosen.needs.iter().copied().filter(|need| !changeable.contains(need)).collect();
    for mode in ProvisionMode::ALL {
        for subset in 0..1_u8 << changeable.len() {
            let further = changeable.iter().enumerate().filter(|(index, _)| subset & 1 << index != 0);
            choices.push(Choice { mode, needs: fixed.iter().chain(further.map(|(_, need)| need)).copied().collect() });
        }
    }
    choices
}

impl PlannedRelease {
    /// What its Pods may do, as its values have it.
    pub fn permissions(&self) -> Permissions {
        self.permissions_of_all_modes().of(self.config.provision.mode()).for_needs(&self.needs)
    }

    /// What Pods of its names may do in any mode and for any need, each permission with those that it is for.
    pub fn permissions_of_all_modes(&self) -> Permissions {
        permissions(&names(self)).with_controllers(&self.controllers)
    }
}

/// The rights that a choice needs.
fn required(planned: &PlannedRelease, choice: &Choice) -> Rights {
    let Permissions { role, cluster_role, namespace_role } =
        planned.permissions_of_all_modes().of(choice.mode).for_needs(&choice.needs);
    let served = match &planned.config.namespaces {
        ServedNamespaces::One(one) => Some(&one.namespace),
        ServedNamespaces::All(_) => None,
    };
    let namespace_role = served.map(|served| (Some(served), namespace_role));
    let roles = [(Some(&planned.config.namespace), role), (None, cluster_role)].into_iter().chain(namespace_role);
    let mut rights = Rights::new();
    for (namespace, permissions) in roles {
        for permission in &permissions {
            rights.extend(rights_of(permission, namespace));
        }
    }
    rights
}

fn rights_of<'a>(
    Permission { reason, rule, .. }: &'a Permission,
    namespace: Option<&'a String>,
) -> impl Iterator<Item = (RequiredRight, &'static str)> + 'a {
    let names = match rule.resource_names.as_deref() {
        Some(names) => names.iter().cloned().map(Some).collect(),
        None => vec![None],
    };
    let groups = rule.api_groups.iter().flatten();
    let kinds = groups.flat_map(|group| rule.resources.iter().flatten().map(move |plural| (group, plural)));
    let named = kinds.flat_map(move |kind| names.clone().into_iter().map(move |name| (kind, name)));
    named.flat_map(move |((group, plural), name)| {
        rule.verbs.iter().map(move |verb| {
            let right = RequiredRight {
                verb: verb.clone(),
                group: group.clone(),
                plural: plural.clone(),
                name: name.clone(),
                namespace: namespace.cloned(),
            };
            (right, *reason)
        })
    })
}

fn names(planned: &PlannedRelease) -> PermissionNames {
    let PlannedRelease { config, crds, lookups, lists, watches, .. } = planned;
    let (namespace_lease, claiming_leases) = match &config.namespaces {
        ServedNamespaces::All(claims) => (String::new(), claims.leases.clone()),
        ServedNamespaces::One(one) => (one.name.clone(), Vec::new()),
    };
    PermissionNames {
        secret: config.secrets.serving.clone(),
        ca_secret: config.secrets.ca.clone(),
        bundle_secret: config.secrets.bundle.clone(),
        lease: config.lease.name.clone(),
        namespace_lease,
        claiming_leases,
        validating_configuration: config.targets.validating.clone(),
        mutating_configuration: config.targets.mutating.clone(),
        crds: crds.clone(),
        reads: lookups.clone(),
        lists: lists.clone(),
        watches: watches.clone(),
    }
}

/// Rights that come with other values, or with another name of the Secrets, come with the upgrade; all other gaps are a
/// failure.
fn judge(planned: &PlannedRelease, granted: &BTreeSet<RequiredRight>) -> PreflightResult {
    let (namespace, account) = (&planned.config.namespace, &planned.service_account);
    let choices = choices(planned);
    let needed = choices.first().map(|chosen| required(planned, chosen)).unwrap_or_default();
    let missing: Vec<_> = needed.into_iter().filter(|(right, _)| !granted.contains(right)).collect();
    if missing.is_empty() {
        return CHECK.ok(format!("ServiceAccount {namespace}/{account} has every right of this mode"));
    }
    let shown: Vec<_> = missing.iter().take(SHOWN).map(|(right, reason)| format!("{right} ({reason})")).collect();
    let more = missing.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let what = format!("ServiceAccount {namespace}/{account} may not {}{more}", shown.join(", "));
    let names_a_secret = |right: &RequiredRight| right.plural == "secrets" && right.name.is_some();
    let knows_a_secret = granted.iter().any(names_a_secret);
    let is_expected = |right: &RequiredRight| knows_a_secret || !names_a_secret(right);
    // More than another choice needs is what is left of the chosen one's roles.
    let are_those_of = |choice: &Choice| {
        let rights: BTreeSet<_> = required(planned, choice).into_keys().filter(is_expected).collect();
        rights == *granted
    };
    if choices.iter().any(are_those_of) {
        return CHECK
            .not_provable_yet(format!("{what}; its roles are those of other values, and the upgrade writes them"));
    }
    CHECK.failed(format!(
        "{what}; `helm upgrade` writes the roles and bindings of the chart: see that it may, and that nothing changes \
         them back"
    ))
}

impl fmt::Display for RequiredRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, plural, name, namespace, .. } = self;
        write!(f, "{verb} {plural}")?;
        name.iter().try_for_each(|name| write!(f, "/{name}"))?;
        namespace.iter().try_for_each(|namespace| write!(f, " in {namespace}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::PreflightState;
    use super::super::testing::{planned, planned_by};
    use super::*;
    use gateward_certs::{CaBundle, Provision};

    fn external() -> PlannedRelease {
        planned_by(Provision::External { ca_bundle: CaBundle::default() })
    }

    fn rights(planned: &PlannedRelease) -> BTreeSet<RequiredRight> {
        required(planned, &choices(planned)[0]).into_keys().collect()
    }

    fn texts(rights: &BTreeSet<RequiredRight>) -> Vec<String> {
        rights.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rights_follow_the_mode_and_the_needs() {
        let automatic = texts(&rights(&planned()));
        for needed in [
            "create secrets in zoo",
            "update secrets/webhook-server-cert-ca in zoo",
            "patch validatingwebhookconfigurations/river-validating",
            "create customresourcedefinitions/otters.zoo.org",
            "get rivers",
        ] {
            assert!(automatic.contains(&needed.to_owned()), "{needed}: {automatic:?}");
        }
        let external = texts(&rights(&external()));
        assert!(external.contains(&"get secrets/webhook-server-cert in zoo".to_owned()), "{external:?}");
        assert!(!external.iter().any(|right| right.starts_with("create secrets")), "{external:?}");
        let without = PlannedRelease { needs: vec![Need::Always, Need::ClusterWide], ..planned() };
        assert!(!texts(&rights(&without)).iter().any(|right| right.starts_with("create customresource")));
    }

    #[test]
    fn an_account_with_every_right_is_fine() {
        assert_eq!(judge(&planned(), &rights(&planned())).state, PreflightState::Ok);
    }

    #[test]
    fn a_right_that_no_values_leave_out_is_a_failure_that_names_it_with_its_use() {
        let mut granted = rights(&planned());
        granted.retain(|right| right.plural != "leases" || right.verb != "create");
        let result = judge(&planned(), &granted);
        assert_eq!(result.state, PreflightState::Failed);
        assert!(
            result.text.starts_with(
                "ServiceAccount zoo/river may not create leases in zoo (makes the leader's Lease where there is none); \
                 `helm upgrade` writes"
            ),
            "{result}"
        );
    }

    #[test]
    fn an_account_without_rights_is_a_failure_that_stays_short() {
        let result = judge(&planned(), &BTreeSet::new());
        assert_eq!(result.state, PreflightState::Failed);
        assert!(result.text.len() < 1000 && result.text.contains(" more; "), "{result}");
    }

    #[test]
    fn roles_that_name_the_secrets_of_before_are_no_failure() {
        let mut granted = rights(&planned());
        granted.retain(|right| right.plural != "secrets" || right.name.is_none());
        assert_eq!(judge(&planned(), &granted).state, PreflightState::NotProvableYet);
    }

    #[test]
    fn a_role_that_names_the_secrets_and_lacks_a_verb_is_a_failure() {
        let mut granted = rights(&planned());
        granted.retain(|right| right.plural != "secrets" || right.verb != "update");
        let result = judge(&planned(), &granted);
        assert_eq!(result.state, PreflightState::Failed, "{result}");
        assert!(result.text.contains("may not update secrets/webhook-server-cert in zoo"), "{result}");
    }

    #[test]
    fn rights_of_the_mode_before_are_no_failure() {
        let result = judge(&external(), &rights(&planned()));
        assert_eq!(result.state, PreflightState::Ok, "an external certificate needs fewer rights: {result}");
        let result = judge(&planned(), &rights(&external()));
        assert_eq!(result.state, PreflightState::NotProvableYet);
        assert!(result.text.ends_with("its roles are those of other values, and the upgrade writes them"), "{result}");
    }
}
