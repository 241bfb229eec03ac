//! The CustomResourceDefinitions as text.
//!
//! They are made from the types by `cargo xtask generate crds`; a test of xtask fails where a file is stale.

/// The CRD of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrdFile {
    /// The kind in upper camel case.
    pub kind: &'static str,
    /// The plural in lower case, as in the name of the CRD.
    pub plural: &'static str,
    /// The CRD as one YAML document.
    pub yaml: &'static str,
}

/// DynamoGraphDeployment.
pub const GRAPH_DEPLOYMENT: CrdFile = CrdFile {
    kind: "DynamoGraphDeployment",
    plural: "dynamographdeployments",
    yaml: include_str!("../crds/dynamographdeployments.yaml"),
};

/// DynamoComponentDeployment.
pub const COMPONENT_DEPLOYMENT: CrdFile = CrdFile {
    kind: "DynamoComponentDeployment",
    plural: "dynamocomponentdeployments",
    yaml: include_str!("../crds/dynamocomponentdeployments.yaml"),
};

/// DynamoGraphDeploymentRequest.
pub const GRAPH_DEPLOYMENT_REQUEST: CrdFile = CrdFile {
    kind: "DynamoGraphDeploymentRequest",
    plural: "dynamographdeploymentrequests",
    yaml: include_str!("../crds/dynamographdeploymentrequests.yaml"),
};

/// DynamoGraphDeploymentScalingAdapter.
pub const GRAPH_DEPLOYMENT_SCALING_ADAPTER: CrdFile = CrdFile {
    kind: "DynamoGraphDeploymentScalingAdapter",
    plural: "dynamographdeploymentscalingadapters",
    yaml: include_str!("../crds/dynamographdeploymentscalingadapters.yaml"),
};

/// DynamoModel.
pub const MODEL: CrdFile =
    CrdFile { kind: "DynamoModel", plural: "dynamomodels", yaml: include_str!("../crds/dynamomodels.yaml") };

/// DynamoWorkerMetadata.
pub const WORKER_METADATA: CrdFile = CrdFile {
    kind: "DynamoWorkerMetadata",
    plural: "dynamoworkermetadatas",
    yaml: include_str!("../crds/dynamoworkermetadatas.yaml"),
};

/// All CRDs.
pub fn all() -> [CrdFile; 6] {
    [
        GRAPH_DEPLOYMENT,
        COMPONENT_DEPLOYMENT,
        GRAPH_DEPLOYMENT_REQUEST,
        GRAPH_DEPLOYMENT_SCALING_ADAPTER,
        MODEL,
        WORKER_METADATA,
    ]
}
