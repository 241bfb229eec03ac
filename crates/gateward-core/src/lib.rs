//! Reviews, verdicts, field paths, patches and the webhooks of webhooks: the pure part of Gateward.
//!
//! Nothing here opens a socket or a file or looks at a clock: time, deadlines and the state of the cluster come in with
//! the [`Context`]. Everything goes through [`Webhooks::handle`], which turns the bytes of a review into the bytes of
//! its answer; the server, the command line, the tests and the fuzzers all call that one function.

pub mod conversion;
pub mod dns;
pub mod go_duration;
pub mod json;
pub mod manifest;
pub mod quantity;
pub mod rule;
pub mod terminal;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod webhooks;
pub mod wire;

pub use gateward_macros::handler;

pub use conversion::origins::Origins;
pub use conversion::provenance::Provenance;
pub use conversion::stash::Stash;
pub use conversion::{ConversionError, Convert, Converted, RoundTrip};
pub use json::ordered::Ordered;
pub use json::patch::Patch;
pub use json::raw::{LenientView, Raw};
pub use json::reading::{ALLOWANCE_BASE, ALLOWANCE_FACTOR, BOUND_FACTOR, Bound};
pub use manifest::crd::Crd;
pub use rule::answer::{Defaulted, IntoDefaulted, IntoVerdict};
pub use rule::cluster::{AccessQuestion, ClusterReader, GroupServed, ListLookup, ListQuery, Lookup, ObjectName};
pub use rule::context::{Context, Facts, Notes, ReviewObserver, SpareThread};
pub use rule::field::{FieldPath, Segment};
pub use rule::handler::{Defaulter, Validator};
pub use rule::into_handler::{IntoDefaulter, IntoValidator};
pub use rule::issue::{BadValue, Issue, IssueKind, Issues, Reading, Redacted, Severity};
pub use rule::resource::{GroupVersionKind, MetadataRef, Resource, Scope};
pub use rule::review_object::ReviewObject;
pub use rule::review_subject::ReviewSubject;
pub use rule::state::State;
pub use rule::store::{Store, StoreEvent, WatchedStore};
pub use rule::verdict::{Denial, Verdict, VerdictError};
pub use rule::{DECODE, INCOMPLETE, Rule, STASH, UNKNOWN};
pub use webhooks::declaration::{Declaration, DeletingObjects};
pub use webhooks::dynamic_kind::DynamicKind;
pub use webhooks::endpoint::{Endpoint, MatchPolicy};
pub use webhooks::future::BoxFuture;
pub use webhooks::path_style::{PathStyle, PathSubject};
pub use webhooks::registration::{ReinvocationPolicy, SideEffects};
pub use webhooks::subresource::Subresource;
pub use webhooks::webhook::Webhook;
pub use webhooks::webhook_error::WebhookError;
pub use webhooks::{WebhookRoute, Webhooks, WebhooksError};
pub use wire::decision::{Decision, Outcome, Skip};
pub use wire::operation::{CREATE, CREATE_AND_UPDATE, Operation, UPDATE};
pub use wire::request::{DryRun, GroupVersionResource, Request, UserInfo};
pub use wire::response::ReviewResponse;
pub use wire::review::{Review, ReviewVersion};
