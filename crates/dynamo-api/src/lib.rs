//! The `nvidia.com` kinds of the Dynamo Operator, in every served version, and their CRDs.
//!
//! Each version has its own family of owned types, [`v1alpha1`] and [`v1beta1`]; types of one shape
//! in both are in [`parts`], [`meta`] and [`pod`], and both versions export them. Reading follows the Go types of the
//! API:
//!
//! - a member that is absent reads as its zero value (`None`, empty), and so does `null`;
//! - an unknown member is ignored, an unknown value of an enumeration is kept as it is;
//! - a member of the wrong JSON type is an error that names its path;
//! - what wasn't there isn't written back.
//!
//! Embedded Kubernetes subtrees are [`Raw`]: kept as they came, with a lean view of what rules read.
//!
//! ```
//! use dynamo_api::v1beta1::{ComponentType, DynamoGraphDeployment};
//!
//! let graph: DynamoGraphDeployment = serde_json::from_str(r#"{
//!     "apiVersion": "nvidia.com/v1beta1",
//!     "kind": "DynamoGraphDeployment",
//!     "metadata": {"name": "otter"},
//!     "spec": {"components": [{"name": "frontend", "type": "frontend", "replicas": null}]}
//! }"#)?;
//! let frontend = &graph.spec.components[0];
//! assert_eq!(frontend.component_type, Some(ComponentType::Frontend));
//! assert_eq!(frontend.replicas, None);
//! # Ok::<(), serde_json::Error>(())
//! ```

#[macro_use]
mod wire;

pub mod constants;
pub mod crds;
pub mod meta;
pub mod parts;
pub mod pod;
#[cfg(feature = "schema")]
pub mod schema;
pub mod v1alpha1;
pub mod v1beta1;

pub use gateward::quantity::{self, Quantity};
pub use gateward::{LenientView, Raw};

/// Free-form JSON: stored unchanged, read only through [`Raw::view`].
pub type Json = Raw<serde_json::Value>;
