//! Certificates that are made, repaired, renewed and rotated, one step at a time.
//!
//! [`next_step`] looks at what was read and says what is to be done next: one [`Write`], or one [`Wait`] with its reason.
//! Whoever calls it reads a [`ObservedState`], carries the step out, and starts over. It keeps nothing between two steps but the
//! mark of its last wait, so it may stop at any moment, on any replica, and go on on another.
//!
//! # How a CA is rotated
//!
//! | phase | who is trusted | who signs | goes on when |
//! |---|---|---|---|
//! | none | the CA | the CA | it ages, is lost, or someone asks |
//! | [`Publish`](Phase::Publish) | old and new, in every injection target | the old one | each injection target was read back with both |
//! | [`Switch`](Phase::Switch) | old and new | the new one | each replica was dialled and shows it |
//! | [`Retire`](Phase::Retire) | the new one | the new one | each injection target was read back without the old one |
//!
//! At every moment, each injection target trusts what each replica shows. That holds through crashes, repeated steps, leaders
//! that are late, watches that lag, pods that come and go, and clocks that jump, since
//!
//! - the phase changes in one write with the CAs themselves, guarded by the resourceVersion. An annotation that
//!   is damaged sends the rotation back to publishing, where nothing is lost;
//! - what a phase rests on is looked at again before each step, and has to have stood for a while;
//! - trust is only ever taken away from an injection target when the phase says that nobody needs it and no replica is seen to;
//! - nothing is dated while the clock of this pod and that of the API server differ.
//!
//! A CA that is gone with its Secret, one that someone put in its place, and one that was found in the old
//! place are brought in by the same phases as one that is due.
//!
//! # What the caller owes
//!
//! - It reads in the order that [`ObservedState`] gives, and writes under the guards that [`Change`] gives.
//! - It writes while it holds a lease, and creates nothing after it has lost it.
//! - Replicas read the serving Secret from the API server when they start (not from a cache that may be older), and
//!   turn ready after their certificate was seen to verify against what the injection targets carry, and have carried for
//!   [`CertificateSpec::settle`].
//!
//! # Example
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use gateward_certs::rotation::{CaSecretWrite, Change, Step, ObservedState, Wait, CertificateSpec, Write, next_step};
//! use gateward_certs::rotation::CaSecret;
//! use gateward_certs::{CommonName, Lifetimes, ServerNames, SystemKeys};
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
//! let spec = CertificateSpec {
//!     serving_secret: "zoo/otter-cert".to_owned(),
//!     ca_secret: "zoo/otter-cert-ca".to_owned(),
//!     names: ServerNames::of_service("otter", "zoo", "cluster.local")?,
//!     ca_name: CommonName::new("otter webhooks")?,
//!     lifetimes: Lifetimes::default(),
//!     settle: CertificateSpec::SETTLE,
//! };
//! let mut observed = ObservedState::empty(&spec);
//!
//! // The first look: there is nothing yet.
//! let Step::Write(write) = next_step(&observed, now) else { unreachable!() };
//! assert_eq!(write, Write::CaSecret(CaSecretWrite::Create));
//! let Change::CaSecret(made) = write.contents(&observed, now, &SystemKeys)? else { unreachable!() };
//! observed.ca_secret = Some(CaSecret { data: made.data, ..CaSecret::default() });
//!
//! // The second: a serving certificate is to be issued.
//! let Step::Write(write) = next_step(&observed, now) else { unreachable!() };
//! assert_eq!(write.to_string(), "issue a server certificate (missing)");
//! let Change::ServingSecret(issued) = write.contents(&observed, now, &SystemKeys)? else { unreachable!() };
//! observed.serving_secret = Some(issued.data);
//!
//! // The third: all is well for nearly ten years.
//! assert!(matches!(next_step(&observed, now), Step::Wait(Wait::Idle { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ca_secret;
mod contents;
mod decide;
mod observed;
mod progress;
mod state;
mod status;
mod step;

use std::time::SystemTime;

pub use contents::{Change, ContentsError, SecretChange};
pub use observed::{CaSecret, CertificateSpec, InjectionTarget, InjectionTargetId, ObservedState, Replica, StateHash};
pub use progress::{
    CA_ROTATION_ANNOTATION, Cause, Phase, ROTATE_CA_ANNOTATION, RotationProgress, RotationProgressError,
    RotationRequest, RotationRequestError,
};
pub use status::RotationStatus;
pub use step::{CaBundleWrite, CaSecretWrite, Incoming, ServingSecretWrite, Signer, Step, Wait, Write};

use crate::ca_bundle::CaBundle;
use state::RotationState;

/// What is to be done next.
///
/// The answer depends on nothing but the arguments.
pub fn next_step(observed: &ObservedState<'_>, now: SystemTime) -> Step {
    RotationState::of(observed, now).next_step()
}

/// What an injection target has to carry at least, if it carries less: for whoever sees a bundle change and restores it at once.
///
/// It only ever adds, so it needs no view: the injection target was read first, then the CA's Secret, and the write is
/// guarded by the injection target's resourceVersion. What an injection target carries beyond that, [`next_step`] takes away when it has
/// looked at the replicas.
pub fn restored_ca_bundle(carried: &[u8], ca: &CaSecret) -> Option<CaBundle> {
    let (bundle, flaws) = CaBundle::parse_lossy(carried);
    let trusted = ca_secret::trusted_by(ca);
    let lacking = !flaws.is_empty() || !bundle.contains_all(&trusted);
    (lacking && !trusted.is_empty()).then(|| bundle.merged(&trusted))
}
