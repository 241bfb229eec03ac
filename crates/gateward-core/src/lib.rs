//! Reviews, verdicts, field paths, patches and the webhooks of webhooks: the pure part of Gateward.
//!
//! Nothing here opens a socket or a file or looks at a clock: time, deadlines and the state of the cluster come in with
//! the [`Context`]. Everything goes through [`Webhooks::handle`], which turns the bytes of a review into the bytes of
//! its answer; the server, the command line, the tests and the fuzzers all call that one function.

pub mod cluster;
pub mod context;
pub mod conversion;
pub mod decode;
pub mod field;
pub mod future;
pub mod handler;
pub mod issue;
pub mod manifest;
mod meaning;
mod members;
mod nullable;
pub mod operation;
pub mod ordered;
pub mod patch;
pub mod raw;
mod reading;
pub mod request;
pub mod resource;
pub mod response;
pub mod review;
mod review_version;
pub mod rule;
mod status_reason;
pub mod strict;
pub mod terminal;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod verdict;
pub mod webhook_error;
pub mod webhooks;

pub use cluster::{ClusterReader, GroupServed, Lookup, ObjectName};
pub use context::{Context, Facts, Notes};
pub use conversion::provenance::Provenance;
pub use conversion::stash::Stash;
pub use conversion::{ConversionError, Convert, Converted, RoundTrip};
pub use field::{FieldPath, Segment};
pub use future::BoxFuture;
pub use handler::{Defaulted, Defaulter, Validator};
pub use issue::{BadValue, Issue, IssueKind, Issues, Reading, Redacted, Severity};
pub use operation::{CREATE, CREATE_AND_UPDATE, Operation, UPDATE};
pub use ordered::Ordered;
pub use patch::Patch;
pub use raw::Raw;
pub use reading::{ALLOWANCE_BASE, ALLOWANCE_FACTOR, BOUND_FACTOR, Bound};
pub use request::{DryRun, GroupVersionResource, Request, UserInfo};
pub use resource::{GroupVersionKind, Resource, Scope};
pub use response::{Decision, Outcome, ReviewResponse, Skip};
pub use review::{Review, ReviewVersion};
pub use rule::{DECODE, Rule, STASH, UNKNOWN};
pub use verdict::{Denial, Verdict};
pub use webhook_error::WebhookError;
pub use webhooks::declaration::{Declaration, DeletingObjects};
pub use webhooks::endpoint::{Endpoint, MatchPolicy};
pub use webhooks::webhook::Webhook;
pub use webhooks::{Webhooks, WebhooksError};
