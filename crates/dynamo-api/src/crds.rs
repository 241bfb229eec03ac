//! The CustomResourceDefinitions as text: JSON, which takes a third of what YAML takes and is read at every start.
//!
//! They are made from the types by `cargo xtask generate crds`; a test of xtask fails where a file is stale.

/// The CRD of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrdFile {
    /// The kind in upper camel case.
    pub kind: &'static str,
    /// The plural in lower case, as in the name of the CRD.
    pub plural: &'static str,
    /// The CRD as JSON.
    pub json: &'static str,
}

/// DynamoGraphDeployment.
pub const GRAPH_DEPLOYMENT: CrdFile = CrdFile {
    kind: "DynamoGraphDeployment",
    plural: "dynamographdeployments",
    json: include_str!("../crds/dynamographdeployments.json"),
};

/// DynamoComponentDeployment.
pub const COMPONENT_DEPLOYMENT: CrdFile = CrdFile {
    kind: "DynamoComponentDeployment",
    plural: "dynamocomponentdeployments",
    json: include_str!("../crds/dynamocomponentdeployments.json"),
};

/// DynamoGraphDeploymentRequest.
pub const GRAPH_DEPLOYMENT_REQUEST: CrdFile = CrdFile {
    kind: "DynamoGraphDeploymentRequest",
    plural: "dynamographdeploymentrequests",
    json: include_str!("../crds/dynamographdeploymentrequests.json"),
};

/// DynamoGraphDeploymentScalingAdapter.
pub const GRAPH_DEPLOYMENT_SCALING_ADAPTER: CrdFile = CrdFile {
    kind: "DynamoGraphDeploymentScalingAdapter",
    plural: "dynamographdeploymentscalingadapters",
    json: include_str!("../crds/dynamographdeploymentscalingadapters.json"),
};

/// DynamoModel.
pub const MODEL: CrdFile =
    CrdFile { kind: "DynamoModel", plural: "dynamomodels", json: include_str!("../crds/dynamomodels.json") };

/// DynamoWorkerMetadata.
pub const WORKER_METADATA: CrdFile = CrdFile {
    kind: "DynamoWorkerMetadata",
    plural: "dynamoworkermetadatas",
    json: include_str!("../crds/dynamoworkermetadatas.json"),
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
