//! The chart says what the program says.

use std::time::Duration;

use cluster_tests::{Sandbox, Test, tests};
use dynamo_webhooks::configuration::{Certificates, OperatorConfiguration, WebhookServer};
use dynamo_webhooks::facts::Gate;
use gateward::config::{ClaimTreatment, CrdInstaller, KeyAlgorithm, ListenAddress, MetricsAccess, Problem};
use gateward::{Operator as _, Release};
use gateward_certs::{CaInjection, Provision, ProvisionMode};
use gateward_cluster::permissions::{Need, PermissionNames, Permissions, ResourceName, permissions};
use serde_json::{Map, Value, json};

use crate::charts::{Installation, bundle, configuration, of_kind, output, the};
use crate::rendering::combinations;

pub fn tests() -> Vec<Test> {
    tests![
        the_configurations_are_those_that_the_program_prints,
        the_program_reads_its_configuration_without_a_warning,
        a_preflight_reads_values_as_the_templates_do,
        the_roles_are_those_that_the_program_prints,
        the_roles_grant_what_the_program_does,
        the_roles_follow_what_is_excluded_served_and_injected,
        the_server_is_told_of_the_mode_and_of_what_belongs_to_it,
        the_roles_name_what_is_installed_and_nothing_wider,
        no_rule_allows_to_change_what_it_does_not_name,
    ]
}

/// Labels that tell of Helm and its chart.
const OF_THE_CHART: [&str; 3] = ["app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"];

async fn the_configurations_are_those_that_the_program_prints(sandbox: Sandbox) {
    let long = "r23456789-123456789-123456789-123456789-123456789-123";
    for (release, namespace, policy, timeout) in
        [("dynamo-platform", "dynamo-system", "Fail", 10), ("zoo", "otters", "Ignore", 3), (long, "zoo", "Fail", 30)]
    {
        let values = json!({"webhook": {"failurePolicy": policy, "timeoutSeconds": timeout}});
        let objects = Installation::of(&values).named(release, namespace).objects(sandbox.bed());
        let mut program = sandbox.bed().programs().gateward();
        program.args(["generate", "webhooks", "--output", "json", "--release", release, "--namespace", namespace]);
        program.args(["--failure-policy", policy, "--timeout-seconds", &timeout.to_string()]);
        for printed in output(program).unwrap().lines() {
            let printed: Value = serde_json::from_str(printed).unwrap();
            let mut rendered = the(&objects, printed["kind"].as_str().unwrap()).clone();
            let labels: &mut Map<_, _> = rendered["metadata"]["labels"].as_object_mut().unwrap();
            labels.retain(|label, _| !OF_THE_CHART.contains(&label.as_str()));
            assert_eq!(rendered, printed);
        }
    }
}

async fn the_program_reads_its_configuration_without_a_warning(sandbox: Sandbox) {
    for combination in combinations() {
        let document = configuration(&combination.objects(sandbox.bed()));
        let read =
            OperatorConfiguration::read(&document).unwrap_or_else(|error| panic!("{}: {error}", combination.name));
        let deprecated = read.configuration.restricted.is_some();
        let warnings = read.warnings.iter().filter(|it| !(deprecated && it.to_string().contains("is deprecated")));
        assert_eq!(warnings.collect::<Vec<_>>(), [] as [&Problem; 0], "{}", combination.name);
    }
    let values = json!({
        "webhook": {
            "port": 10250,
            "certificateSecret": {"name": "otter"},
            "certificates": {"caLifetime": "720h", "lifetime": "1h30m", "keyAlgorithm": "RSA", "dnsNames": ["otter.zoo.svc"]},
            "operatorPrincipals": ["keeper"],
        },
        "checkpoint": {"enabled": true},
    });
    let mut installation = Installation::of(&values).named("zoo", "otters");
    installation.values["global"] = json!({"grove": {"enabled": false}});
    let document = configuration(&installation.objects(sandbox.bed()));
    let read = OperatorConfiguration::read(&document).unwrap().configuration;
    let hour = Duration::from_hours(1);
    let certificates = Certificates {
        ca_lifetime: Some(720 * hour),
        lifetime: Some(hour + hour / 2),
        key_algorithm: KeyAlgorithm::Rsa,
        dns_names: vec!["otter.zoo.svc".into()],
    };
    let webhook = WebhookServer {
        address: ListenAddress { ip: None, port: 10250 },
        secret_name: "otter".into(),
        service_name: Some("zoo-dynamo-operator-webhook-service".into()),
        fullname: Some("zoo-dynamo-operator".into()),
        operator_principals: Some(vec!["keeper".into()]),
        provision: Provision::Automatic,
        certificates,
        claimed: ClaimTreatment::Called,
    };
    assert_eq!((read.webhook, read.metrics_access), (webhook, MetricsAccess::Authorized));
    assert_eq!((read.grove, read.checkpoint), (Some(Gate::Off), Gate::On));
}

async fn a_preflight_reads_values_as_the_templates_do(sandbox: Sandbox) {
    for combination in combinations() {
        let Installation { name, release, namespace, values, .. } = &combination;
        let objects = combination.objects(sandbox.bed());
        let read = dynamo_webhooks::operator()
            .chart_values(&Release { name: release.clone(), namespace: namespace.clone() }, values);
        assert_eq!(read.removed, [], "{name}");
        assert_eq!(the(&objects, "ServiceAccount")["metadata"]["name"], read.service_account, "{name}");
        let installs = the(&objects, "Deployment")["spec"]["template"]["spec"].get("initContainers").is_some();
        assert_eq!(read.crd_installer == CrdInstaller::Pods, installs, "{name}");
        let [ours, theirs] = [read.document, configuration(&objects)].map(|document| {
            let OperatorConfiguration { webhook, restricted, .. } =
                OperatorConfiguration::read(&document).unwrap().configuration;
            let WebhookServer { address, secret_name, fullname, provision, claimed, .. } = webhook;
            (address, secret_name, fullname, provision, claimed, restricted.map(|one| one.name))
        });
        assert_eq!(ours, theirs, "{name}");
    }
}

async fn the_roles_are_those_that_the_program_prints(sandbox: Sandbox) {
    for combination in combinations() {
        let Installation { name, release, namespace, values, .. } = &combination;
        let objects = combination.objects(sandbox.bed());
        let file = sandbox.bed().folder().join(format!("{}-values.json", sandbox.namespace()));
        std::fs::write(&file, values.to_string()).unwrap();
        let mut program = sandbox.bed().programs().gateward();
        program.args(["generate", "rbac", "--output", "json", "--release", release, "--namespace", namespace]);
        program.arg("--values").arg(file);
        let printed = output(program).unwrap();
        let printed: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let account = |objects| the(objects, "ServiceAccount")["metadata"]["name"].clone();
        assert_eq!(account(&printed), account(&objects), "{name}");
        for kind in ["Role", "ClusterRole"] {
            assert_eq!(grants(&printed, kind), grants(&objects, kind), "{name}: {kind}");
            let bindings = of_kind(&printed, &format!("{kind}Binding"));
            let bound = bindings.iter().map(|binding| (place(binding), &binding["roleRef"]["name"]));
            let roles = of_kind(&printed, kind);
            let roles = roles.iter().map(|role| (place(role), &role["metadata"]["name"]));
            assert_eq!(bound.collect::<Vec<_>>(), roles.collect::<Vec<_>>(), "{name}: {kind}");
            let subjects = &the(&objects, "ClusterRoleBinding")["subjects"];
            assert!(bindings.iter().all(|binding| binding["subjects"] == *subjects), "{name}: {kind}");
        }
    }
}

fn place(object: &Value) -> &Value {
    &object["metadata"]["namespace"]
}

/// The rules of each role, by its namespace.
fn grants<'a>(objects: &'a [Value], kind: &str) -> Vec<(&'a Value, &'a Value)> {
    of_kind(objects, kind).into_iter().map(|role| (place(role), &role["rules"])).collect()
}

async fn the_roles_grant_what_the_program_does(sandbox: Sandbox) {
    let objects = |values: &Value| Installation::of(values).named("zoo", "otters").objects(sandbox.bed());
    let objects = modes().map(|(mode, values)| (mode, objects(&values)));
    let crds = named(rules(&objects[0].1, "ClusterRole"), "customresourcedefinitions");
    let names = names(&crds, "");
    for (mode, objects) in &objects {
        let Permissions { role, cluster_role, .. } = permissions(&names).of(*mode);
        for (kind, permissions) in [("Role", role), ("ClusterRole", cluster_role)] {
            let wanted =
                permissions.into_iter().filter(|it| is_usual(it.need)).map(|permission| json!(permission.rule));
            assert_eq!(rules(objects, kind), &wanted.collect::<Vec<_>>(), "{mode:?} {kind}");
        }
    }
}

/// The names of the release zoo in the namespace otters; those of its configurations end with a suffix.
fn names(crds: &[&str], suffix: &str) -> PermissionNames {
    PermissionNames {
        secret: "webhook-server-cert".into(),
        ca_secret: "webhook-server-cert-ca".into(),
        bundle_secret: "webhook-server-cert-bundle".into(),
        lease: "zoo-dynamo-operator-webhook-writer".into(),
        namespace_lease: "dynamo-operator-ns-lock".into(),
        claiming_leases: ["dynamo-operator-ns-lock", "dynamo-operator-namespace-scope"].map(Into::into).into(),
        validating_configuration: format!("zoo-validating{suffix}"),
        mutating_configuration: format!("zoo-mutating{suffix}"),
        crds: crds.iter().map(|name| (*name).to_owned()).collect(),
        reads: vec![ResourceName { group: "grove.io".into(), plural: "clustertopologybindings".into() }],
        lists: Vec::new(),
        watches: Vec::new(),
    }
}

/// What else than the mode decides on rights.
struct Choice {
    about: &'static str,
    choose: fn(&mut Value),
    needs: &'static [Need],
    /// What the names of the configurations end with.
    suffix: &'static str,
}

const CHOICES: [Choice; 4] = [
    Choice {
        about: "claimed namespaces are left out",
        choose: |values| values["webhook"]["excludeClaimedNamespaces"] = true.into(),
        needs: &[Need::Always, Need::ClusterWide, Need::ToInstallCrds, Need::ToKeepBundle, Need::ToExcludeClaims],
        suffix: "",
    },
    Choice {
        about: "no bundle is kept",
        choose: |values| values["webhook"]["certManager"]["injectFrom"] = "certificate".into(),
        needs: &[Need::Always, Need::ClusterWide, Need::ToInstallCrds],
        suffix: "",
    },
    Choice {
        about: "one namespace is served",
        choose: |values| values["namespaceRestriction"] = json!({"enabled": true, "namespace": "team-a"}),
        needs: &[Need::Always, Need::OneNamespace, Need::ToKeepBundle],
        suffix: "-team-a",
    },
    Choice {
        about: "one namespace is served, and no bundle is kept",
        choose: |values| {
            values["namespaceRestriction"] = json!({"enabled": true, "namespace": "team-a"});
            values["webhook"]["certManager"]["injectFrom"] = "certificate".into();
        },
        needs: &[Need::Always, Need::OneNamespace],
        suffix: "-team-a",
    },
];

async fn the_roles_follow_what_is_excluded_served_and_injected(sandbox: Sandbox) {
    let objects = |values: &Value| Installation::of(values).named("zoo", "otters").objects(sandbox.bed());
    let usual = objects(&json!({}));
    let crds = named(rules(&usual, "ClusterRole"), "customresourcedefinitions");
    for (mode, values) in modes() {
        for Choice { about, choose, needs, suffix } in CHOICES {
            let mut values = values.clone();
            choose(&mut values);
            let objects = objects(&values);
            let Permissions { role, cluster_role, namespace_role } = permissions(&names(&crds, suffix)).of(mode);
            let namespace_role = if needs.contains(&Need::OneNamespace) { namespace_role } else { Vec::new() };
            for (kind, namespace, permissions) in [
                ("Role", json!("otters"), role),
                ("ClusterRole", Value::Null, cluster_role),
                ("Role", json!("team-a"), namespace_role),
            ] {
                let chosen = permissions.into_iter().filter(|it| needs.contains(&it.need) || namespace == "team-a");
                let wanted: Vec<_> = chosen.map(|permission| json!(permission.rule)).collect();
                let roles = of_kind(&objects, kind).into_iter();
                let granted: Vec<_> = roles
                    .filter(|role| role["metadata"]["namespace"] == namespace)
                    .flat_map(|role| role["rules"].as_array().unwrap().clone())
                    .collect();
                assert_eq!(granted, wanted, "{mode:?}, {about}: {kind} {namespace}");
            }
        }
    }
}

/// Whether a release with default values has such a permission.
fn is_usual(need: Need) -> bool {
    !matches!(need, Need::OneNamespace | Need::ToExcludeClaims)
}

/// Each mode, with the values by which it is chosen.
fn modes() -> [(ProvisionMode, Value); 3] {
    let external = json!({"webhook": {"certificateSecret": {"external": true}, "caBundle": bundle()}});
    [
        (ProvisionMode::Automatic, json!({})),
        (ProvisionMode::CertManager, json!({"webhook": {"certManager": {"enabled": true}}})),
        (ProvisionMode::External, external),
    ]
}

async fn the_server_is_told_of_the_mode_and_of_what_belongs_to_it(sandbox: Sandbox) {
    for (mode, mut values) in modes() {
        values["webhook"]["certManager"]["injectFrom"] = "certificate".into();
        let objects = Installation::of(&values).objects(sandbox.bed());
        let webhook = OperatorConfiguration::read(&configuration(&objects)).unwrap().configuration.webhook;
        assert_eq!(webhook.provision.mode(), mode);
        match webhook.provision {
            Provision::Automatic => {}
            Provision::CertManager { injection, .. } => assert_eq!(injection, CaInjection::Certificate),
            Provision::External { ca_bundle } => assert_eq!(ca_bundle.len(), 1),
        }
    }
}

fn rules<'a>(objects: &'a [Value], kind: &str) -> &'a Vec<Value> {
    the(objects, kind)["rules"].as_array().unwrap()
}

/// The names to which the rules for a resource are limited, each once.
fn named<'a>(rules: &'a [Value], resource: &str) -> Vec<&'a str> {
    let about = rules.iter().filter(|rule| rule["resources"].as_array().unwrap().contains(&json!(resource)));
    let mut names = Vec::new();
    for name in about.filter_map(|rule| rule["resourceNames"].as_array()).flatten() {
        let name = name.as_str().unwrap();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

async fn the_roles_name_what_is_installed_and_nothing_wider(sandbox: Sandbox) {
    let values = json!({"webhook": {"certificateSecret": {"name": "otter"}}});
    let objects = Installation::of(&values).named("zoo", "otters").objects(sandbox.bed());
    let (role, cluster_role) = (rules(&objects, "Role"), rules(&objects, "ClusterRole"));
    assert_eq!(named(role, "secrets"), ["otter", "otter-ca"]);
    assert_eq!(configuration(&objects)["server"]["webhook"]["secretName"], "otter");
    assert_eq!(named(role, "leases"), ["zoo-dynamo-operator-webhook-writer"]);
    assert_eq!(named(cluster_role, "validatingwebhookconfigurations"), ["zoo-validating"]);
    assert_eq!(named(cluster_role, "mutatingwebhookconfigurations"), ["zoo-mutating"]);
    let crds = named(cluster_role, "customresourcedefinitions");
    assert!(crds.len() == 6 && crds.iter().all(|name| name.ends_with(".nvidia.com")), "{crds:?}");
}

async fn no_rule_allows_to_change_what_it_does_not_name(sandbox: Sandbox) {
    let objects = Installation::of(&json!({})).objects(sandbox.bed());
    for rule in rules(&objects, "Role").iter().chain(rules(&objects, "ClusterRole")) {
        assert!(!rule.to_string().contains('*'), "{rule}");
        let verbs = rule["verbs"].as_array().unwrap();
        let changes = ["update", "patch", "delete", "deletecollection"].iter().any(|verb| verbs.contains(&json!(verb)));
        assert!(!changes || rule["resourceNames"].is_array(), "{rule}");
        let reads_secrets = rule["resources"] == json!(["secrets"]) && rule["verbs"] != json!(["create"]);
        assert!(!reads_secrets || rule["resourceNames"].is_array(), "{rule}");
    }
}
