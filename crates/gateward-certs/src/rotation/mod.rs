//! Certificates that are made, repaired, renewed and exchanged, one step at a time.
//!
//! [`next_step`] looks at what was read and says what is to be done next: one [`Write`], or one [`Wait`] with its reason.
//! Whoever calls it reads a [`View`], carries the step out, and starts over. It keeps nothing between two steps but the
//! mark of its last wait, so it may stop at any moment, on any replica, and go on on another.
//!
//! # How an authority is exchanged
//!
//! | phase | who is trusted | who signs | goes on when |
//! |---|---|---|---|
//! | none | the authority | the authority | it ages, is lost, or someone asks |
//! | [`Publish`](Phase::Publish) | old and new, in every consumer | the old one | each consumer was read back with both |
//! | [`Switch`](Phase::Switch) | old and new | the new one | each replica was dialled and shows it |
//! | [`Retire`](Phase::Retire) | the new one | the new one | each consumer was read back without the old one |
//!
//! At every moment, each consumer trusts what each replica shows. That holds through crashes, repeated steps, writers
//! that are late, watches that lag, pods that come and go, and clocks that jump, since
//!
//! - the phase changes in one write with the authorities themselves, guarded by the resourceVersion. An annotation that
//!   is damaged sends the exchange back to publishing, where nothing is lost;
//! - what a phase rests on is looked at again before each step, and has to have stood for a while;
//! - trust is only ever taken away from a consumer when the phase says that nobody needs it and no replica is seen to;
//! - nothing is dated while the clock of this pod and that of the API server differ.
//!
//! An authority that is gone with its Secret, one that someone put in its place, and one that was found in the old
//! place are brought in by the same phases as one that is due.
//!
//! # What the caller owes
//!
//! - It reads in the order that [`View`] gives, and writes under the guards that [`Change`] gives.
//! - It writes while it holds a lease, and creates nothing after it has lost it.
//! - Replicas read the server's Secret from the API server when they start (not from a cache that may be older), and
//!   turn ready after their certificate was seen to verify against what the consumers carry, and have carried for
//!   [`Wanted::settle`].
//!
//! # Example
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use gateward_certs::rotation::{AuthorityWrite, Change, Step, View, Wait, Wanted, Write, next_step};
//! use gateward_certs::rotation::AuthoritySecret;
//! use gateward_certs::{CommonName, Lifetimes, ServerNames, SystemKeys};
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
//! let wanted = Wanted {
//!     leaf_secret: "zoo/otter-cert".to_owned(),
//!     authority_secret: "zoo/otter-cert-ca".to_owned(),
//!     names: ServerNames::of_service("otter", "zoo", "cluster.local")?,
//!     authority_name: CommonName::new("otter webhooks")?,
//!     lifetimes: Lifetimes::default(),
//!     settle: Wanted::SETTLE,
//! };
//! let mut view = View::empty(&wanted);
//!
//! // The first look: there is nothing yet.
//! let Step::Write(write) = next_step(&view, now) else { unreachable!() };
//! assert_eq!(write, Write::Authority(AuthorityWrite::Create));
//! let Change::AuthoritySecret(made) = write.contents(&view, now, &SystemKeys)? else { unreachable!() };
//! view.authority = Some(AuthoritySecret { data: made.data, ..AuthoritySecret::default() });
//!
//! // The second: a server certificate is to be issued.
//! let Step::Write(write) = next_step(&view, now) else { unreachable!() };
//! assert_eq!(write.to_string(), "issue a server certificate (missing)");
//! let Change::LeafSecret(issued) = write.contents(&view, now, &SystemKeys)? else { unreachable!() };
//! view.leaf = Some(issued.data);
//!
//! // The third: all is well for nearly ten years.
//! assert!(matches!(next_step(&view, now), Step::Wait(Wait::Idle { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contents;
mod decide;
mod kept;
mod progress;
mod situation;
mod status;
mod step;
mod view;

use std::time::SystemTime;

pub use contents::{Change, ContentsError, SecretChange};
pub use progress::{Cause, PROGRESS, Phase, Progress, ProgressError, REQUEST, Request, RequestError};
pub use status::Status;
pub use step::{AuthorityWrite, BundleWrite, Incoming, LeafWrite, Signer, Step, Wait, Write};
pub use view::{AuthoritySecret, Consumer, ConsumerId, Mark, Replica, View, Wanted};

use crate::bundle::Bundle;
use situation::Situation;

/// What is to be done next.
///
/// The answer depends on nothing but the arguments.
pub fn next_step(view: &View<'_>, now: SystemTime) -> Step {
    Situation::of(view, now).next_step()
}

/// What a consumer has to carry at least, if it carries less: for whoever sees a bundle change and restores it at once.
///
/// It only ever adds, so it needs no view: the consumer was read first, then the authority's Secret, and the write is
/// guarded by the consumer's resourceVersion. What a consumer carries beyond that, [`next_step`] takes away when it has
/// looked at the replicas.
pub fn restored(carried: &[u8], authority: &AuthoritySecret) -> Option<Bundle> {
    let (bundle, flaws) = Bundle::salvage(carried);
    let trusted = kept::trusted_by(authority);
    let lacking = !flaws.is_empty() || !bundle.contains_all(&trusted);
    (lacking && !trusted.is_empty()).then(|| bundle.merged(&trusted))
}
