//! `generate deployment`: the Pods of a release, and what leads to them.

use clap::Args;
use gateward_core::manifest::yaml;
use serde_json::{Value, json};

use crate::cli::generate::arguments::{ManifestArguments, ReleaseArguments, WorkloadArguments};
use crate::cli::generate::manifest::Manifest;
use crate::cli::generate::network_policy::{self, NetworkPolicyArguments, PORT};
use crate::cli::known_values;
use crate::cli::planned::source;
use crate::config::{Config, DOWNWARD};
use crate::operator::{Operator, Release};

/// The folder in which Pods find their configuration.
const FOLDER: &str = "/etc/operator";
const FILE: &str = "config.yaml";

/// The annotation that has Pods roll when their configuration changes, where something makes both.
pub(super) const CHECKSUM: &str = "checksum/config";

#[derive(Debug, Args)]
pub(super) struct DeploymentArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    #[command(flatten)]
    network: NetworkPolicyArguments,
    #[command(flatten)]
    pub(super) manifests: ManifestArguments,
}

pub(super) fn manifests<P: Operator>(operator: &P, arguments: &DeploymentArguments) -> anyhow::Result<Vec<Manifest>> {
    let release = arguments.release.release(operator);
    let values = arguments.release.values(operator)?;
    let objects = objects(operator, &release, &values, &arguments.workload)?;
    let policy = network_policy::object(operator, &release, &values, &arguments.network)?;
    known_values::note_without_effect(operator, &release, &values)?;
    Ok(objects.iter().chain(&policy).map(Manifest::of).collect())
}

/// The ConfigMap, the Service, the Deployment and, for more than one replica, the PodDisruptionBudget.
pub(super) fn objects<P: Operator>(
    operator: &P,
    release: &Release,
    values: &Value,
    workload: &WorkloadArguments,
) -> anyhow::Result<Vec<Value>> {
    let values = operator.chart_values(release, values);
    let source = source(release, &values);
    let config = operator.config(&source)?;
    let (installation, account) = (operator.installation(release), values.service_account);
    let object = |version: &str, kind: &str, name: &str, further: Value| {
        let metadata = json!({"name": name, "namespace": release.namespace, "labels": config.labels.pods});
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        if let (Value::Object(object), Value::Object(further)) = (&mut object, further) {
            object.extend(further);
        }
        object
    };
    let settings = format!("{account}-config");
    let port = json!({"name": PORT, "port": installation.port, "protocol": "TCP", "targetPort": PORT});
    let service = json!({"type": "ClusterIP", "selector": config.labels.pods, "ports": [port]});
    let selector = json!({"matchLabels": config.labels.pods});
    // A Pod that serves no request must not keep its node from being drained.
    let budget =
        json!({"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": selector.clone()});
    let deployment = json!({
        "replicas": workload.replicas,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "selector": selector,
        "template": {
            "metadata": {"labels": config.labels.pods},
            "spec": pod(operator.names().command, &account, &settings, &workload.image, &config),
        },
    });
    let text = yaml::document(&source.document);
    let mut objects = vec![
        object("v1", "ConfigMap", &settings, json!({"data": {FILE: text}})),
        object("v1", "Service", &config.names.service, json!({"spec": service})),
        object("apps/v1", "Deployment", &account, json!({"spec": deployment})),
    ];
    if workload.replicas > 1 {
        objects.push(object("policy/v1", "PodDisruptionBudget", &account, json!({"spec": budget})));
    }
    Ok(objects)
}

/// The spec of a Pod, within the restricted standard.
fn pod(command: &str, account: &str, settings: &str, image: &str, config: &Config) -> Value {
    json!({
        "serviceAccountName": account,
        "enableServiceLinks": false,
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        // The server drains for less than that.
        "terminationGracePeriodSeconds": 30,
        "topologySpreadConstraints": [spread(config)],
        "containers": [container(command, image, config)],
        "volumes": [{"name": "config", "configMap": {"name": settings}}],
    })
}

/// The Pods of one revision are on different nodes, where there are some: the end of a node is then not that of all.
fn spread(config: &Config) -> Value {
    json!({
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": config.labels.pods},
        "matchLabelKeys": ["pod-template-hash"],
    })
}

fn container(command: &str, image: &str, config: &Config) -> Value {
    let variable = |(name, path): (&str, &str)| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    let port = |name: &str, port: u16| json!({"name": name, "containerPort": port, "protocol": "TCP"});
    let listeners = &config.listeners;
    let probe = |path: &str, further: Value| {
        let mut probe = json!({"httpGet": {"path": path, "port": "health"}, "timeoutSeconds": 5});
        if let (Value::Object(probe), Value::Object(further)) = (&mut probe, further) {
            probe.extend(further);
        }
        probe
    };
    json!({
        "name": "manager",
        "image": image,
        "command": [command],
        "args": ["serve", "--config", format!("{FOLDER}/{FILE}")],
        "env": DOWNWARD.map(variable),
        "ports": [
            port(PORT, listeners.webhooks.port),
            port("health", listeners.health.port),
            port("metrics", listeners.metrics.port),
        ],
        // The server answers from its first moment; this one is for a machine that takes minutes to start it.
        "startupProbe": probe("/healthz", json!({"periodSeconds": 5, "failureThreshold": 60})),
        "livenessProbe": probe("/healthz", json!({"periodSeconds": 20})),
        "readinessProbe": probe("/readyz", json!({"periodSeconds": 10})),
        // No limit for the CPU: a server that is throttled answers late, and late is refused.
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"memory": "2Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "runAsNonRoot": true,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": "config", "mountPath": FOLDER, "readOnly": true}],
    })
}
