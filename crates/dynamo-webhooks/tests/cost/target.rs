//! The kinds, and where in them something hostile may stand.

/// Kinds with the paths of their webhooks, and the places where something hostile may stand.
pub struct Target {
    pub kind: &'static str,
    pub version: &'static str,
    plural: &'static str,
    /// Each the text of a spec around `HERE`.
    pub places: Vec<String>,
}

fn in_each(around: &str, parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| around.replace("HERE", part)).collect()
}

impl Target {
    pub fn of(kind: &str, version: &str) -> Self {
        targets().into_iter().find(|target| target.kind == kind && target.version == version).unwrap()
    }
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn targets() -> Vec<Target> {
    let pods = [
        r#"{"spec":{"containers":HERE}}"#,
        r#"{"spec":{"containers":[{"name":"main","args":HERE}]}}"#,
        r#"{"spec":{"containers":[{"name":"main","resources":{"limits":HERE}}]}}"#,
        r#"{"metadata":{"labels":HERE}}"#,
        r#"{"spec":{"volumes":HERE}}"#,
    ];
    let mut component: Vec<String> = pods.iter().map(|pod| format!(r#""podTemplate":{pod}"#)).collect();
    component.extend(
        [
            r#""roles":HERE"#,
            r#""providerOverride":{"apiVersion":"a/v1","value":HERE}"#,
            r#""eppConfig":{"config":HERE}"#,
            r#""multinode":HERE"#,
            r#""replicas":HERE"#,
            r#""unknown":HERE"#,
        ]
        .map(str::to_owned),
    );
    let mut graph = in_each(
        r"{HERE}",
        &[
            r#""components":HERE"#,
            r#""env":HERE"#,
            r#""labels":HERE"#,
            r#""restart":{"id":"a","strategy":{"order":HERE}}"#,
            r#""providerOverride":{"apiVersion":"a/v1","value":HERE}"#,
        ],
    );
    graph.extend(component.iter().map(|part| format!(r#"{{"components":[{{"name":"a","type":"worker",{part}}}]}}"#)));
    let standalone = component.iter().map(|part| format!(r#"{{"name":"a","type":"worker",{part}}}"#)).collect();
    let mut service: Vec<String> = pods[..3]
        .iter()
        .map(|pod| pod.replace(r#"{"spec":{"#, "{").replacen("}}", "}", 1))
        .map(|pod| format!(r#""extraPodSpec":{pod}"#))
        .collect();
    service.extend(
        [
            r#""envs":HERE"#,
            r#""volumeMounts":HERE"#,
            r#""roles":HERE"#,
            r#""resources":{"limits":{"custom":HERE}}"#,
            r#""annotations":HERE"#,
            r#""unknown":HERE"#,
            r#""extraPodSpec":{"mainContainer":{"env":HERE}}"#,
            r#""extraPodSpec":{"volumes":HERE}"#,
            r#""replicas":HERE"#,
            r#""autoscaling":{"metrics":HERE}"#,
        ]
        .map(str::to_owned),
    );
    let mut alpha = in_each(r"{HERE}", &[r#""services":HERE"#, r#""pvcs":HERE"#, r#""envs":HERE"#]);
    alpha.extend(service.iter().map(|part| format!(r#"{{"services":{{"a":{{"componentType":"worker",{part}}}}}}}"#)));
    let alone =
        service.iter().map(|part| format!(r#"{{"serviceName":"a","componentType":"worker",{part}}}"#)).collect();
    let request = in_each(
        r#"{"model":"a",HERE}"#,
        &[
            r#""overrides":{"dgd":HERE}"#,
            r#""overrides":{"profilingJob":{"template":{"spec":{"containers":HERE}}}}"#,
            r#""features":{"planner":HERE}"#,
            r#""unknown":HERE"#,
        ],
    );
    let old_request = in_each(
        r#"{"model":"a","backend":"vllm",HERE}"#,
        &[
            r#""profilingConfig":{"config":HERE}"#,
            r#""deploymentOverrides":{"labels":HERE}"#,
            r#""profilingConfig":{"tolerations":HERE}"#,
        ],
    );
    let target = |kind, version, plural, places| Target { kind, version, plural, places };
    vec![
        target("DynamoGraphDeployment", "v1beta1", "dynamographdeployments", graph),
        target("DynamoGraphDeployment", "v1alpha1", "dynamographdeployments", alpha),
        target("DynamoComponentDeployment", "v1beta1", "dynamocomponentdeployments", standalone),
        target("DynamoComponentDeployment", "v1alpha1", "dynamocomponentdeployments", alone),
        target("DynamoGraphDeploymentRequest", "v1beta1", "dynamographdeploymentrequests", request),
        target("DynamoGraphDeploymentRequest", "v1alpha1", "dynamographdeploymentrequests", old_request),
        target(
            "DynamoModel",
            "v1alpha1",
            "dynamomodels",
            in_each(r"{HERE}", &[r#""modelName":HERE"#, r#""source":HERE"#]),
        ),
    ]
}

impl Target {
    pub fn object(&self, metadata: &str, spec: &str) -> String {
        let Self { kind, version, .. } = self;
        format!(
            r#"{{"apiVersion":"nvidia.com/{version}","kind":"{kind}","metadata":{{"name":"otter"{metadata}}},"spec":{spec}}}"#
        )
    }

    /// One of these members alone.
    pub fn tiny(&self, members: &str) -> String {
        let Self { kind, version, .. } = self;
        format!(r#"{{"apiVersion":"nvidia.com/{version}","kind":"{kind}"{members}}}"#)
    }

    pub fn review(&self, operation: &str, object: &str, old: &str) -> String {
        let Self { kind, version, plural, .. } = self;
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","kind":{{"group":"nvidia.com","version":"{version}","kind":"{kind}"}},"resource":{{"group":"nvidia.com","version":"{version}","resource":"{plural}"}},"name":"otter","namespace":"river","operation":"{operation}","userInfo":{{"username":"jane"}},"object":{object},"oldObject":{old}}}}}"#
        )
    }
}
