//! What a replica may do in the cluster: the rules of its `Role` and its `ClusterRole`, from which a chart renders
//! them.
//!
//! Kept here, beside the code that needs them, so that there is one list. A verb without a use is a fault, and so
//! is a rule for all names where the names are known.

use gateward_certs::ProvisionMode;
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde::Serialize;

/// The names that the rules are made of. They are only copied, so they may be expressions of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionNames {
    /// The Secret of the serving certificate.
    pub secret: String,
    /// The Secret of the CA.
    pub ca_secret: String,
    /// The Secret with the bundle that cert-manager injects.
    pub bundle_secret: String,
    /// The Lease of the leader.
    pub lease: String,
    /// The Lease by which an operator of one namespace claims it.
    pub namespace_lease: String,
    /// The Leases that an operator of the whole cluster heeds.
    pub claiming_leases: Vec<String>,
    /// The `ValidatingWebhookConfiguration` that is ours to write.
    pub validating_configuration: String,
    /// The `MutatingWebhookConfiguration` that is ours to write.
    pub mutating_configuration: String,
    /// The CRDs.
    pub crds: Vec<String>,
    /// What rules look up, each object by its name.
    pub reads: Vec<ResourceName>,
    /// What rules look up by name and by labels.
    pub lists: Vec<ResourceName>,
    /// What is kept in memory for rules.
    pub watches: Vec<ResourceName>,
}

/// A resource: its group and its plural.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceName {
    /// The API group.
    pub group: String,
    /// The plural.
    pub plural: String,
}

/// Who needs a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Need {
    /// Every replica.
    Always,
    /// The step that installs the CRDs, where a release has it.
    ToInstallCrds,
    /// Operators of the whole cluster: those of one namespace leave CRDs and other namespaces to them.
    ClusterWide,
    /// Operators of one namespace.
    OneNamespace,
    /// Operators whose own webhooks leave claimed namespaces out.
    ToExcludeClaims,
    /// Operators whose leader keeps the bundle that cert-manager injects: it may inject the CA of its Certificate
    /// instead.
    ToKeepBundle,
}

/// Which part of a replica makes use of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionUser {
    /// What keeps certificates, `caBundle`s, CRDs and claims on namespaces.
    Controller,
    /// What answers reviews and shows metrics.
    Server,
    /// The operator's own controllers.
    OperatorController,
}

/// One rule, and what it is for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Permission {
    /// What the rule is for, in one line.
    pub reason: &'static str,
    /// Who needs it.
    pub need: Need,
    /// In which modes it is needed.
    #[serde(skip)]
    pub modes: &'static [ProvisionMode],
    /// Which part makes use of it.
    #[serde(skip)]
    pub user: PermissionUser,
    /// The rule as Kubernetes writes it.
    pub rule: PolicyRule,
}

impl Permission {
    /// What an operator's own controllers may do with one resource of a group, in all namespaces.
    ///
    /// ```
    /// use gateward_cluster::permissions::Permission;
    ///
    /// let permission = Permission::allow(&["list", "watch", "patch"], "", "configmaps").because("writes the texts");
    /// assert_eq!(permission.rule.verbs, ["list", "watch", "patch"]);
    /// ```
    pub fn allow(verbs: &[&str], group: &str, resource: &str) -> PermissionBuilder {
        PermissionBuilder { user: PermissionUser::OperatorController, ..allow(verbs, group, resource) }
    }
}

/// All that a replica may do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Permissions {
    /// In the namespace of the release.
    pub role: Vec<Permission>,
    /// In the whole cluster.
    pub cluster_role: Vec<Permission>,
    /// In the namespace that an operator of one namespace serves.
    pub namespace_role: Vec<Permission>,
}

const AUTOMATIC: &[ProvisionMode] = &[ProvisionMode::Automatic];
const CERT_MANAGER: &[ProvisionMode] = &[ProvisionMode::CertManager];
const BY_OTHERS: &[ProvisionMode] = &[ProvisionMode::CertManager, ProvisionMode::External];

/// The rules of a release in every mode.
pub fn permissions(names: &PermissionNames) -> Permissions {
    Permissions {
        role: in_the_namespace(names),
        cluster_role: in_the_cluster(names),
        namespace_role: in_the_namespace_served(names),
    }
}

fn in_the_namespace_served(names: &PermissionNames) -> Vec<Permission> {
    vec![
        allow(&["create"], "coordination.k8s.io", "leases").because("makes the Lease that claims the namespace"),
        allow(&["get", "update", "delete"], "coordination.k8s.io", "leases")
            .named(&[&names.namespace_lease])
            .because("renews that Lease, hands it over and deletes it at the end"),
    ]
}

impl Permissions {
    /// Those of one mode.
    pub fn of(mut self, mode: ProvisionMode) -> Self {
        for permissions in [&mut self.role, &mut self.cluster_role] {
            permissions.retain(|permission| permission.modes.contains(&mode));
        }
        self
    }

    /// Those of a server whose certificate somebody else mounts: nothing keeps certificates there.
    pub fn without_controller(mut self) -> Self {
        for permissions in [&mut self.role, &mut self.cluster_role, &mut self.namespace_role] {
            permissions.retain(|permission| permission.user != PermissionUser::Controller);
        }
        self
    }

    /// The same, and what the operator's own controllers may do in the whole cluster.
    pub fn with_controllers(mut self, permissions: &[Permission]) -> Self {
        self.cluster_role.extend_from_slice(permissions);
        self
    }

    /// Those for one of these needs.
    pub fn for_needs(mut self, needs: &[Need]) -> Self {
        for permissions in [&mut self.role, &mut self.cluster_role, &mut self.namespace_role] {
            permissions.retain(|permission| needs.contains(&permission.need));
        }
        self
    }
}

fn in_the_namespace(names: &PermissionNames) -> Vec<Permission> {
    let secrets = [names.secret.as_str(), &names.ca_secret];
    vec![
        allow(&["create"], "", "secrets")
            .in_modes(AUTOMATIC)
            .because("makes the Secrets of server and CA where there are none"),
        allow(&["get", "list", "watch", "update"], "", "secrets")
            .named(&secrets)
            .in_modes(AUTOMATIC)
            .because("serves the certificate out of its Secret, and renews both"),
        allow(&["get", "list", "watch"], "", "secrets")
            .named(&[&names.secret])
            .in_modes(BY_OTHERS)
            .because("serves the certificate out of its Secret, which others write"),
        allow(&["create"], "", "secrets")
            .needed(Need::ToKeepBundle)
            .in_modes(CERT_MANAGER)
            .because("makes the Secret with the bundle that cert-manager injects"),
        allow(&["get", "list", "watch", "update"], "", "secrets")
            .named(&[&names.bundle_secret])
            .needed(Need::ToKeepBundle)
            .in_modes(CERT_MANAGER)
            .because("keeps the bundle that cert-manager injects"),
        allow(&["create"], "coordination.k8s.io", "leases").because("makes the leader's Lease where there is none"),
        allow(&["get", "update"], "coordination.k8s.io", "leases")
            .named(&[&names.lease])
            .because("takes, keeps and gives back the leader's Lease"),
        allow(&["list"], "", "pods")
            .because("asks each ready replica which certificate it serves, and finds the next to hold a Lease"),
    ]
}

fn in_the_cluster(names: &PermissionNames) -> Vec<Permission> {
    const ADMISSION: &str = "admissionregistration.k8s.io";
    const VALIDATING: &str = "validatingwebhookconfigurations";
    const MUTATING: &str = "mutatingwebhookconfigurations";
    let mut rules = vec![
        allow(&["list", "watch"], ADMISSION, VALIDATING)
            .and(MUTATING)
            .because("finds the configurations of this release by their labels, and conflicting ones among the rest"),
        allow(&["patch"], ADMISSION, VALIDATING)
            .named(&[&names.validating_configuration])
            .in_modes(AUTOMATIC)
            .because("writes the caBundle of validating webhooks"),
        allow(&["patch"], ADMISSION, MUTATING)
            .named(&[&names.mutating_configuration])
            .in_modes(AUTOMATIC)
            .because("writes the caBundle of mutating webhooks"),
        allow(&["patch"], ADMISSION, VALIDATING)
            .named(&[&names.validating_configuration])
            .needed(Need::ToExcludeClaims)
            .in_modes(BY_OTHERS)
            .because("leaves claimed namespaces out of validating webhooks"),
        allow(&["patch"], ADMISSION, MUTATING)
            .named(&[&names.mutating_configuration])
            .needed(Need::ToExcludeClaims)
            .in_modes(BY_OTHERS)
            .because("leaves claimed namespaces out of mutating webhooks"),
    ];
    rules.extend(about_crds(names));
    let reviews = allow(&["create"], "authentication.k8s.io", "tokenreviews");
    rules.push(reviews.by_server().because("asks who wants to read the metrics"));
    let reviews = allow(&["create"], "authorization.k8s.io", "subjectaccessreviews");
    rules.push(reviews.by_server().because("asks who may read the metrics"));
    // A rule without a name would be one for all.
    if !names.claiming_leases.is_empty() {
        let leases: Vec<&str> = names.claiming_leases.iter().map(String::as_str).collect();
        let watch = allow(&["list", "watch"], "coordination.k8s.io", "leases").named(&leases).needed(Need::ClusterWide);
        rules.push(watch.because("sees which namespaces operators of one namespace have claimed"));
    }
    rules.extend(names.reads.iter().map(|read| look_up(&["get"], read)));
    rules.extend(names.lists.iter().map(|list| look_up(&["get", "list"], list)));
    rules.extend(names.watches.iter().map(|watched| {
        let allowed = allow(&["list", "watch"], &watched.group, &watched.plural);
        allowed.by_server().because("is kept in memory for rules")
    }));
    rules
}

/// None where there are no CRDs: a rule without a name would be one for all.
fn about_crds(names: &PermissionNames) -> Vec<Permission> {
    let crds: Vec<&str> = names.crds.iter().map(String::as_str).collect();
    if crds.is_empty() {
        return Vec::new();
    }
    let named = |verbs| allow(verbs, "apiextensions.k8s.io", "customresourcedefinitions").named(&crds);
    vec![
        // An apply that creates is authorised with the object's name, other than a plain create.
        named(&["create"]).needed(Need::ToInstallCrds).because("installs the CRDs"),
        named(&["get", "list", "watch", "patch"])
            .needed(Need::ClusterWide)
            .because("upgrades the CRDs, and restores their conversion"),
    ]
}

fn look_up(verbs: &[&str], resource: &ResourceName) -> Permission {
    allow(verbs, &resource.group, &resource.plural).by_server().because("is looked up by a rule")
}

/// A permission without its reason.
#[derive(Debug, Clone)]
#[must_use = "a permission without a reason is none"]
pub struct PermissionBuilder {
    rule: PolicyRule,
    need: Need,
    modes: &'static [ProvisionMode],
    user: PermissionUser,
}

fn allow(verbs: &[&str], group: &str, resource: &str) -> PermissionBuilder {
    let rule = PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        verbs: owned(verbs),
        ..PolicyRule::default()
    };
    PermissionBuilder { rule, need: Need::Always, modes: &ProvisionMode::ALL, user: PermissionUser::Controller }
}

impl PermissionBuilder {
    /// Another resource of the group too.
    pub fn and(mut self, resource: &str) -> Self {
        self.rule.resources.get_or_insert_default().push(resource.to_owned());
        self
    }

    /// Only objects of these names.
    pub fn named(mut self, names: &[&str]) -> Self {
        self.rule.resource_names = Some(owned(names));
        self
    }

    fn needed(mut self, need: Need) -> Self {
        self.need = need;
        self
    }

    fn in_modes(mut self, modes: &'static [ProvisionMode]) -> Self {
        self.modes = modes;
        self
    }

    fn by_server(mut self) -> Self {
        self.user = PermissionUser::Server;
        self
    }

    /// What it is for, in one line: it stands above the rule wherever that is written.
    pub fn because(self, reason: &'static str) -> Permission {
        let Self { rule, need, modes, user } = self;
        Permission { reason, need, modes, user, rule }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn zoo() -> Permissions {
        permissions(&names())
    }

    fn names() -> PermissionNames {
        PermissionNames {
            secret: "leaf".into(),
            ca_secret: "leaf-ca".into(),
            bundle_secret: "leaf-bundle".into(),
            lease: "writer".into(),
            namespace_lease: "lock".into(),
            claiming_leases: vec!["lock".into(), "scope".into()],
            validating_configuration: "zoo-validating".into(),
            mutating_configuration: "zoo-mutating".into(),
            crds: vec!["otters.zoo.org".into()],
            reads: vec![ResourceName { group: "maps.org".into(), plural: "rivers".into() }],
            lists: Vec::new(),
            watches: vec![ResourceName { group: "maps.org".into(), plural: "currents".into() }],
        }
    }

    #[test]
    fn a_rule_is_written_as_kubernetes_reads_it() {
        let permissions = serde_json::to_value(zoo()).unwrap();
        assert_eq!(
            permissions["role"][1]["rule"],
            json!({
                "apiGroups": [""],
                "resources": ["secrets"],
                "verbs": ["get", "list", "watch", "update"],
                "resourceNames": ["leaf", "leaf-ca"],
            })
        );
        assert_eq!(
            permissions["clusterRole"][10]["rule"],
            json!({"apiGroups": ["maps.org"], "resources": ["rivers"], "verbs": ["get"]})
        );
        assert_eq!(
            permissions["clusterRole"][11]["rule"],
            json!({"apiGroups": ["maps.org"], "resources": ["currents"], "verbs": ["list", "watch"]})
        );
    }

    #[test]
    fn where_others_provide_certificates_no_configuration_and_no_serving_secret_is_changed() {
        for mode in [ProvisionMode::CertManager, ProvisionMode::External] {
            let Permissions { role, cluster_role, .. } = zoo().of(mode);
            let all = role.iter().chain(&cluster_role).filter(|permission| permission.need != Need::ToExcludeClaims);
            let changed: Vec<_> = all
                .map(|permission| &permission.rule)
                .filter(|rule| rule.verbs.iter().any(|verb| ["update", "patch"].contains(&verb.as_str())))
                .flat_map(|rule| rule.resource_names.clone().unwrap_or_default())
                .collect();
            let bundle = (mode == ProvisionMode::CertManager).then_some("leaf-bundle");
            let expected: Vec<_> = bundle.into_iter().chain(["writer", "otters.zoo.org"]).collect();
            assert_eq!(changed, expected, "{mode:?}");
        }
    }

    #[test]
    fn a_bundle_is_written_only_where_the_leader_keeps_one() {
        let role = zoo().of(ProvisionMode::CertManager).role;
        let usual = |permission: &&Permission| matches!(permission.need, Need::Always);
        let without: Vec<_> = role.iter().filter(usual).map(|permission| &permission.rule).collect();
        let about = |rule: &&&PolicyRule, resource: &str| rule.resources.iter().flatten().any(|it| it == resource);
        let verbs: Vec<_> = without.iter().filter(|rule| about(rule, "secrets")).map(|rule| &rule.verbs).collect();
        assert_eq!(verbs, [&["get", "list", "watch"]]);
    }

    #[test]
    fn claimed_namespaces_are_left_out_in_every_mode() {
        for mode in ProvisionMode::ALL {
            let cluster_role = zoo().of(mode).cluster_role;
            let patched = |rule: &PolicyRule| rule.verbs == ["patch"];
            let names =
                cluster_role.iter().filter(|it| patched(&it.rule)).filter_map(|it| it.rule.resource_names.clone());
            assert_eq!(names.flatten().collect::<Vec<_>>(), ["zoo-validating", "zoo-mutating"], "{mode:?}");
        }
    }

    #[test]
    fn a_server_without_a_controller_changes_nothing_and_reads_no_secret() {
        for mode in ProvisionMode::ALL {
            let Permissions { role, cluster_role, namespace_role } = zoo().of(mode).without_controller();
            assert!(role.is_empty() && namespace_role.is_empty(), "{mode:?}");
            let rules: Vec<_> = cluster_role.iter().map(|permission| &permission.rule).collect();
            let resources: Vec<_> = rules.iter().flat_map(|rule| rule.resources.iter().flatten()).collect();
            assert_eq!(resources, ["tokenreviews", "subjectaccessreviews", "rivers", "currents"], "{mode:?}");
        }
    }

    #[test]
    fn controllers_keep_their_permissions_in_every_mode_and_where_nothing_keeps_certificates() {
        let texts = Permission::allow(&["list", "watch"], "", "configmaps").and("secrets").because("writes texts");
        for mode in ProvisionMode::ALL {
            let permissions = zoo().with_controllers(std::slice::from_ref(&texts)).of(mode).for_needs(&[Need::Always]);
            assert_eq!(permissions.cluster_role.last(), Some(&texts), "{mode:?}");
            assert_eq!(permissions.without_controller().cluster_role.last(), Some(&texts), "{mode:?}");
        }
        let expected = json!({"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["list", "watch"]});
        assert_eq!(json!(texts.rule), expected);
    }

    /// Objects that others own must not be ours to change, whatever their names are.
    #[test]
    fn whatever_changes_an_object_names_it() {
        let Permissions { role, cluster_role, namespace_role } = zoo();
        let rules = role.iter().chain(&cluster_role).chain(&namespace_role).map(|permission| &permission.rule);
        let changes =
            |rule: &&PolicyRule| rule.verbs.iter().any(|verb| ["update", "patch", "delete"].contains(&verb.as_str()));
        assert!(rules.filter(changes).all(|rule| rule.resource_names.as_ref().is_some_and(|names| !names.is_empty())));
    }

    /// A rule that names none is one for all.
    #[test]
    fn an_operator_without_crds_may_do_nothing_with_those_of_others() {
        let without = permissions(&PermissionNames { crds: Vec::new(), ..names() });
        let rules = without.cluster_role.iter().map(|permission| &permission.rule);
        let about: Vec<_> =
            rules.filter(|rule| rule.resources.iter().flatten().any(|it| it == "customresourcedefinitions")).collect();
        assert_eq!(about, Vec::<&PolicyRule>::new());
    }

    #[test]
    fn nothing_is_allowed_by_a_star() {
        assert!(!serde_json::to_string(&zoo()).unwrap().contains('*'));
    }
}
