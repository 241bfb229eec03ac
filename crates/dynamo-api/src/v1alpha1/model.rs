//! DynamoModel.

use crate::meta::Condition;

kind! {
    /// A model, or an adapter of one, that running workers serve.
    pub struct DynamoModel in "v1alpha1" as "dynamomodels" {
        /// The model.
        spec: DynamoModelSpec,
        /// Who serves it.
        status: DynamoModelStatus,
    }
}

object! {
    /// A model.
    pub struct DynamoModelSpec {
        /// Name that requests ask for.
        pub model_name: String,
        /// Name of the model whose workers serve it.
        pub base_model_name: String,
        /// Whether it stands alone.
        pub model_type: Option<ModelType>,
        /// Where the weights are read from.
        pub source: Option<ModelSource>,
    }
}

string_enum! {
    /// Whether a model stands alone.
    pub enum ModelType {
        /// It does.
        Base = "base",
        /// It is a low-rank adapter.
        Lora = "lora",
        /// It is another kind of adapter.
        Adapter = "adapter",
    }
}

object! {
    /// Where the weights of a model are read from.
    pub struct ModelSource {
        /// URI of the weights; may hold secrets.
        pub uri: String,
    }
}

object! {
    /// Who serves a model.
    pub struct DynamoModelStatus {
        /// The workers' endpoints.
        pub endpoints: Vec<EndpointInfo>,
        /// How many endpoints serve the model.
        pub ready_endpoints: Option<i64>,
        /// How many endpoints are covered by falling back to another adapter slot.
        pub lora_fallback_covered_endpoints: Option<i64>,
        /// How many endpoints there are.
        pub total_endpoints: Option<i64>,
        /// Aspects of the model's state.
        pub conditions: Vec<Condition>,
    }
}

object! {
    /// One worker's endpoint.
    pub struct EndpointInfo {
        /// Address of the endpoint.
        pub address: String,
        /// Name of the worker's pod.
        pub pod_name: String,
        /// Whether it serves the model.
        pub ready: Option<bool>,
        /// Whether it is covered by falling back to another adapter slot.
        pub lora_fallback_covered: bool,
    }
}
