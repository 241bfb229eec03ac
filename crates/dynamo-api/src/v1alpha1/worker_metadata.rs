//! DynamoWorkerMetadata.

use crate::Json;

kind! {
    /// What a worker's pod tells others about itself.
    pub struct DynamoWorkerMetadata in "v1alpha1" as "dynamoworkermetadatas" {
        /// What it tells.
        spec: DynamoWorkerMetadataSpec,
    }
}

object! {
    /// What a worker's pod tells others about itself.
    pub struct DynamoWorkerMetadataSpec {
        /// Free-form data.
        pub data: Option<Json>,
    }
}
