//! DynamoGraphDeploymentScalingAdapter.

kind! {
    /// The scale subresource of one component of a graph.
    pub struct DynamoGraphDeploymentScalingAdapter in "v1beta1" as "dynamographdeploymentscalingadapters" {
        /// Wanted replicas.
        spec: DynamoGraphDeploymentScalingAdapterSpec,
        /// Replicas as they are.
        status: DynamoGraphDeploymentScalingAdapterStatus,
    }
}

object! {
    /// Wanted replicas of one component.
    pub struct DynamoGraphDeploymentScalingAdapterSpec {
        /// Wanted replicas.
        pub replicas: Option<i32>,
        /// The component.
        pub dgd_ref: ComponentReference,
    }
}

object! {
    /// One component of a graph in the same namespace.
    pub struct ComponentReference {
        /// Name of the graph.
        pub name: String,
        /// Name of the component.
        pub component_name: String,
    }
}

object! {
    /// Replicas of one component.
    pub struct DynamoGraphDeploymentScalingAdapterStatus {
        /// Replicas as they are.
        pub replicas: Option<i32>,
        /// Label selector of the component's pods.
        pub selector: String,
        /// When the component was last scaled, RFC 3339.
        pub last_scale_time: Option<String>,
    }
}
