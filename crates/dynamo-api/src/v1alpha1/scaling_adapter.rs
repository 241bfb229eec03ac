//! DynamoGraphDeploymentScalingAdapter.

kind! {
    /// The scale subresource of one service of a graph.
    pub struct DynamoGraphDeploymentScalingAdapter in "v1alpha1" as "dynamographdeploymentscalingadapters" {
        /// Wanted replicas.
        spec: DynamoGraphDeploymentScalingAdapterSpec,
        /// Replicas as they are.
        status: DynamoGraphDeploymentScalingAdapterStatus,
    }
}

object! {
    /// Wanted replicas of one service.
    pub struct DynamoGraphDeploymentScalingAdapterSpec {
        /// Wanted replicas.
        pub replicas: Option<i32>,
        /// The service.
        pub dgd_ref: ServiceReference,
    }
}

object! {
    /// One service of a graph in the same namespace.
    pub struct ServiceReference {
        /// Name of the graph.
        pub name: String,
        /// Name of the service.
        pub service_name: String,
    }
}

object! {
    /// Replicas of one service.
    pub struct DynamoGraphDeploymentScalingAdapterStatus {
        /// Replicas as they are.
        pub replicas: Option<i32>,
        /// Label selector of the service's pods.
        pub selector: String,
        /// When the service was last scaled, RFC 3339.
        pub last_scale_time: Option<String>,
    }
}
