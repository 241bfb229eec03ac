//! Charts that `generate chart` writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use cluster_tests::{Bed, Sandbox, Test, tests};
use gateward_lint::yaml;
use serde_json::{Value, json};

use crate::charts::{KUBERNETES, bundle, output, the};

pub fn tests() -> Vec<Test> {
    tests![
        a_generated_chart_has_the_objects_that_the_program_prints,
        a_generated_chart_has_the_network_policy_that_the_program_prints,
        a_generated_chart_spreads_its_pods_as_its_values_say,
        a_generated_chart_grants_in_each_mode_what_the_program_prints,
        a_generated_chart_selects_besides_what_a_webhook_selects,
        a_generated_chart_has_cert_manager_make_what_the_server_reads,
        a_generated_chart_writes_the_ca_that_the_user_gives,
        a_generated_chart_refuses_values_that_it_does_not_know,
        a_generated_chart_refuses_a_release_whose_service_no_cluster_takes,
        a_generated_chart_passes_helms_lint,
    ]
}

const IMAGE: &str = "registry.example.org/otter:1.0.0";

/// A generated chart, and the program that has written it.
struct Generated<'a> {
    bed: &'a Bed,
    program: &'static str,
    folder: PathBuf,
}

impl<'a> Generated<'a> {
    fn by(sandbox: &'a Sandbox, program: &'static str) -> Self {
        let folder = sandbox.bed().folder().join(format!("chart-{}", sandbox.namespace()));
        let generated = Self { bed: sandbox.bed(), program, folder };
        let mut command = generated.program();
        command.args(["generate", "chart", "--image", IMAGE, "--out"]).arg(&generated.folder);
        output(command).unwrap();
        generated
    }

    fn program(&self) -> Command {
        match self.program {
            "gateward" => self.bed.programs().gateward(),
            example => self.bed.programs().example(example).unwrap_or_else(|| panic!("{example} is not built")),
        }
    }

    fn file(&self, name: &str, values: &Value) -> PathBuf {
        let file = self.folder.with_extension(name);
        std::fs::write(&file, values.to_string()).unwrap();
        file
    }

    /// What Helm renders for a release.
    fn render(&self, [release, namespace]: [&str; 2], values: &Value) -> Result<Vec<Value>, String> {
        let mut helm = self.bed.helm();
        helm.args(["template", release]).arg(&self.folder).args([
            "--namespace",
            namespace,
            "--kube-version",
            KUBERNETES,
        ]);
        helm.arg("--values").arg(self.file("values.json", values));
        let source = yaml::read(&output(helm)?);
        assert!(source.findings.is_empty(), "{:?}", source.findings);
        Ok(source.documents.into_iter().map(|document| document.value).filter(|object| !object.is_null()).collect())
    }

    /// What the commands of the program print for a release.
    fn printed(&self, [release, namespace]: [&str; 2], values: &Value) -> Vec<Value> {
        // Dynamo has a chart of its own, whose values are others.
        let usual = (self.program != "gateward").then(|| self.folder.join("values.yaml"));
        let files: Vec<PathBuf> = usual.into_iter().chain([self.file("printed.json", values)]).collect();
        let mut objects = Vec::new();
        for what in ["rbac", "deployment", "webhooks"] {
            let mut command = self.program();
            command.args(["generate", what, "--output", "json", "--release", release, "--namespace", namespace]);
            if what == "deployment" {
                command.args(["--image", IMAGE]);
            }
            if what != "webhooks" {
                command.args(files.iter().flat_map(|file| [Path::new("--values"), file]));
            }
            let lines = output(command).unwrap();
            objects.extend(lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
        objects
    }
}

/// The objects by kind and name. What is YAML in a ConfigMap is read: quotes make no difference.
fn by_name(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let key = |object: &Value| format!("{} {}", object["kind"], object["metadata"]["name"]);
    let read = |mut object: Value| {
        for text in object["data"].as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
            *text = yaml::read(text.as_str().unwrap()).documents.remove(0).value;
        }
        object
    };
    objects.into_iter().map(|object| (key(&object), read(object))).collect()
}

/// What a chart has beside that: Pods that follow their configuration, and install the CRDs.
fn take_what_charts_add(objects: &mut BTreeMap<String, Value>) {
    let deployment = objects.values_mut().find(|object| object["kind"] == "Deployment").unwrap();
    let template = &mut deployment["spec"]["template"];
    let annotations = template["metadata"].as_object_mut().unwrap().remove("annotations").unwrap();
    assert_eq!(annotations["checksum/config"].as_str().map(str::len), Some(64), "{annotations}");
    let installers = template["spec"].as_object_mut().unwrap().remove("initContainers").unwrap();
    assert_eq!(installers[0]["args"][1], "apply");
    assert_eq!(installers[0]["securityContext"], template["spec"]["containers"][0]["securityContext"]);
}

async fn a_generated_chart_has_the_objects_that_the_program_prints(sandbox: Sandbox) {
    let long = "r".repeat(30);
    for program in ["crontab", "gateward"] {
        let generated = Generated::by(&sandbox, program);
        for release in [["crontab", "crontab-system"], ["zoo", "otters"], [&long, "123"]] {
            let mut rendered = by_name(generated.render(release, &json!({})).unwrap());
            take_what_charts_add(&mut rendered);
            let printed = by_name(generated.printed(release, &json!({})));
            assert_eq!(rendered.keys().collect::<Vec<_>>(), printed.keys().collect::<Vec<_>>(), "{program}");
            for (name, object) in &printed {
                assert_eq!(&rendered[name], object, "{program}: {name}");
            }
        }
        std::fs::remove_dir_all(&generated.folder).unwrap();
    }
}

async fn a_generated_chart_has_the_network_policy_that_the_program_prints(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let monitoring = json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}});
    let named = json!({
        "apiServerCIDRs": ["10.0.0.0/16"], "nodeCIDRs": ["10.1.0.0/16", "fd00::/64"], "metricsFrom": [monitoring],
    });
    let peers = ["--api-server-cidr", "10.0.0.0/16", "--node-cidr", "10.1.0.0/16", "--node-cidr", "fd00::/64"];
    let peers = [&peers[..], &["--metrics-namespace", "monitoring"]].concat();
    for (mut policy, peers) in [(json!({}), Vec::new()), (named, peers)] {
        policy["enabled"] = true.into();
        let objects = generated.render(["zoo", "otters"], &json!({"networkPolicy": policy})).unwrap();
        let mut command = generated.program();
        command.args(["generate", "deployment", "--format", "json", "--release", "zoo", "--namespace", "otters"]);
        command.args(["--image", IMAGE, "--network-policy"]).args(peers);
        let lines = output(command).unwrap();
        let printed: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(the(&objects, "NetworkPolicy"), the(&printed, "NetworkPolicy"));
    }
}

async fn a_generated_chart_spreads_its_pods_as_its_values_say(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let pod = |values: Value| {
        let objects = generated.render(["zoo", "otters"], &values).unwrap();
        the(&objects, "Deployment")["spec"]["template"]["spec"].clone()
    };
    let usual = pod(json!({}));
    let selector = &usual["topologySpreadConstraints"][0]["labelSelector"];
    let zone = json!({"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
    let (mut ours, mut theirs) = (zone.clone(), zone.clone());
    theirs["labelSelector"] = json!({"matchLabels": {"river": "wye"}});
    let constraints = json!([zone, theirs]);
    let given = pod(json!({"topologySpreadConstraints": constraints, "priorityClassName": "urgent"}));
    (ours["labelSelector"], ours["matchLabelKeys"]) = (selector.clone(), json!(["pod-template-hash"]));
    assert_eq!(given["topologySpreadConstraints"], json!([ours, theirs]));
    assert_eq!(given["priorityClassName"], "urgent");
    let nowhere = pod(json!({"topologySpreadConstraints": []}));
    assert!(nowhere.get("topologySpreadConstraints").is_none() && nowhere.get("priorityClassName").is_none());
}

async fn a_generated_chart_grants_in_each_mode_what_the_program_prints(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let bundle = bundle();
    for certificates in [
        json!({"mode": "cert-manager"}),
        json!({"mode": "cert-manager", "issuerRef": {"name": "lake"}}),
        json!({"mode": "external", "caBundle": bundle}),
    ] {
        let values = json!({"certificates": certificates, "crds": {"install": false}});
        let release = ["zoo", "otters"];
        let rendered = by_name(generated.render(release, &values).unwrap());
        let printed = by_name(generated.printed(release, &values));
        let parts = ["ConfigMap", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
        let compared = printed.iter().filter(|(_, object)| parts.iter().any(|kind| object["kind"] == *kind));
        let mut count = 0;
        for (name, object) in compared {
            assert_eq!(rendered.get(name), Some(object), "{certificates}");
            count += 1;
        }
        assert_eq!(count, parts.len());
    }
}

/// A selector of an entry that validates.
fn selector<'a>(objects: &'a [Value], entry: &str, selector: &str) -> &'a Value {
    let entries = the(objects, "ValidatingWebhookConfiguration")["webhooks"].as_array().unwrap();
    &entries.iter().find(|it| it["name"] == entry).unwrap_or_else(|| panic!("{entry} of {entries:?}"))[selector]
}

async fn a_generated_chart_selects_besides_what_a_webhook_selects(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let prod = json!({"key": "stage", "operator": "In", "values": ["prod"]});
    let values = json!({"webhook": {
        "failurePolicy": "Ignore",
        "timeoutSeconds": 3,
        "namespaceSelector": {"matchExpressions": [prod], "matchLabels": {"team": "otter"}},
        "objectSelector": {"matchLabels": {"river": "wye"}},
    }});
    let objects = generated.render(["zoo", "otters"], &values).unwrap();
    let of_crontabs = selector(&objects, "validate.crontab.stable.example.com", "namespaceSelector");
    assert_eq!(of_crontabs, &values["webhook"]["namespaceSelector"]);
    let own = json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "otters"]});
    let of_pods = selector(&objects, "validate.pod.core", "namespaceSelector");
    assert_eq!(of_pods, &json!({"matchExpressions": [own, prod], "matchLabels": {"team": "otter"}}));
    let own = json!({"key": "stable.example.com/crontab", "operator": "Exists"});
    let both = json!({"matchExpressions": [own], "matchLabels": {"river": "wye"}});
    assert_eq!(selector(&objects, "validate.pod.core", "objectSelector"), &both);
    for entry in the(&objects, "MutatingWebhookConfiguration")["webhooks"].as_array().unwrap() {
        assert_eq!((&entry["failurePolicy"], &entry["timeoutSeconds"]), (&json!("Ignore"), &json!(3)));
    }
}

async fn a_generated_chart_has_cert_manager_make_what_the_server_reads(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let values = |issuer: Value| json!({"certificates": {"mode": "cert-manager", "issuerRef": issuer}});
    let objects = generated.render(["zoo", "otters"], &values(json!({}))).unwrap();
    let certificates: Vec<&Value> = objects.iter().filter(|object| object["kind"] == "Certificate").collect();
    assert_eq!(certificates.len(), 2);
    let serving = certificates.iter().find(|it| it["spec"]["secretName"] == "webhook-server-cert").unwrap();
    assert_eq!(serving["spec"]["dnsNames"][0], "zoo-webhook-service.otters.svc");
    assert_eq!(serving["spec"]["issuerRef"]["name"], "zoo-ca-issuer");
    let injected = "otters/webhook-server-cert-bundle";
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let annotations = &the(&objects, kind)["metadata"]["annotations"];
        assert_eq!(annotations["cert-manager.io/inject-ca-from-secret"], injected);
    }
    let arguments = &the(&objects, "Deployment")["spec"]["template"]["spec"]["initContainers"][0]["args"];
    assert_eq!((&arguments[6], &arguments[7]), (&json!("--inject-ca-from-secret"), &json!(injected)));

    let own = json!({"name": "lake", "kind": "ClusterIssuer"});
    let objects = generated.render(["zoo", "otters"], &values(own)).unwrap();
    let issuer = json!({"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "lake"});
    assert_eq!(the(&objects, "Certificate")["spec"]["issuerRef"], issuer);
    assert!(objects.iter().all(|object| object["kind"] != "Issuer"));
}

async fn a_generated_chart_writes_the_ca_that_the_user_gives(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let bundle = bundle();
    let values = json!({"certificates": {"mode": "external", "caBundle": bundle}});
    let objects = generated.render(["zoo", "otters"], &values).unwrap();
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        for entry in the(&objects, kind)["webhooks"].as_array().unwrap() {
            assert_eq!(entry["clientConfig"]["caBundle"], bundle);
        }
    }
    let arguments = &the(&objects, "Deployment")["spec"]["template"]["spec"]["initContainers"][0]["args"];
    assert_eq!((&arguments[6], &arguments[7]), (&json!("--ca-bundle"), &json!(bundle)));
}

async fn a_generated_chart_refuses_values_that_it_does_not_know(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    for (values, named) in [
        (json!({"replica": 3}), "replica"),
        (json!({"webhook": {"failurePolicy": "Fial"}}), "failurePolicy"),
        (json!({"webhook": {"timeoutSeconds": 31}}), "timeoutSeconds"),
        (json!({"webhook": {"namespaceSelector": {"matchNames": ["x"]}}}), "namespaceSelector"),
        (json!({"certificates": {"mode": "magic"}}), "mode"),
        (json!({"certificates": {"mode": "external"}}), "caBundle"),
        (json!({"certificates": {"mode": "external", "caBundle": "no base64!"}}), "caBundle"),
        (json!({"certificates": {"mode": "cert-manager", "issuerRef": {"kind": "Issuer"}}}), "issuerRef"),
        (json!({"crds": {"upgrade": true}}), "crds"),
        (json!({"image": {"repository": ""}}), "repository"),
    ] {
        let said = generated.render(["zoo", "otters"], &values).unwrap_err();
        assert!(said.contains("schema") && said.contains(named), "{values}: {said}");
    }
}

async fn a_generated_chart_refuses_a_release_whose_service_no_cluster_takes(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let long = "r".repeat(48);
    for release in [long.as_str(), "1otter"] {
        let said = generated.render([release, "otters"], &json!({})).unwrap_err();
        assert!(said.contains("take another release name"), "{release}: {said}");
    }
    assert!(generated.render([&long[1..], "otters"], &json!({})).is_ok());
}

async fn a_generated_chart_passes_helms_lint(sandbox: Sandbox) {
    let generated = Generated::by(&sandbox, "crontab");
    let network = json!({"enabled": true, "apiServerCIDRs": ["10.0.0.0/8"], "nodeCIDRs": ["10.1.0.0/16"]});
    for values in [json!({}), json!({"networkPolicy": network}), json!({"certificates": {"mode": "cert-manager"}})] {
        let mut helm = sandbox.bed().helm();
        helm.args(["lint", "--strict", "--kube-version", KUBERNETES]).arg(&generated.folder);
        helm.arg("--values").arg(generated.file("lint.json", &values));
        let said = output(helm).unwrap();
        assert!(said.contains("0 chart(s) failed") && !said.contains("[WARNING]"), "{said}");
    }
}
