//! Issues, renews and reissues the serving certificate, and rotates the CA, one step at a time.
//!
//! A renewal is a new serving certificate from the same CA; a rotation is a new CA.
//!
//! [`next_step`] decides on one [`Write`], or one [`Wait`] with its reason. The caller reads an [`ObservedState`],
//! applies the step, and starts over. It keeps nothing between two steps but the hash of its last wait, so it may stop at
//! any moment, and another replica goes on.
//!
//! # How a CA is rotated
//!
//! | phase | `caBundle` | signer | ends when |
//! |---|---|---|---|
//! | none | the CA | the CA | the CA is about to expire, is lost, or a rotation is requested |
//! | [`Publish`](Phase::Publish) | old and new CA | the old CA | each injection target was read back with both, and API servers have had time to hear of it |
//! | [`Switch`](Phase::Switch) | old and new CA | the new CA | each replica was probed and serves its certificate |
//! | [`Retire`](Phase::Retire) | the new CA | the new CA | each injection target was read back without the old CA |
//!
//! At every moment, the `caBundle` of each injection target verifies each replica. That holds through crashes, repeated
//! steps, leaders that are late, watches that lag, pods that come and go, and clocks that jump, since
//!
//! - the phase changes in one write with the CAs themselves, guarded by the resourceVersion. An annotation that
//!   is damaged sends the rotation back to publishing, where nothing is lost;
//! - the conditions of a phase are checked again before each step, and have to be stable for a while;
//! - a CA is only removed from a `caBundle` in the phase in which no replica serves a certificate of it;
//! - nothing is dated while the clock of this pod and that of the API server differ.
//!
//! A CA whose Secret was deleted or replaced passes through the same phases.
//!
//! # Obligations of the caller
//!
//! - It reads in the order that [`ObservedState`] gives, and writes under the guards that [`Change`] gives.
//! - It writes while it holds a lease, and creates nothing after it has lost it.
//! - Replicas read the serving Secret from the API server when they start (not from a cache that may be older), and
//!   turn ready after their certificate verifies against every `caBundle`, stable for [`CertificateSpec::settle`].
//!
//! # Example
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use gateward_certs::rotation::{CaSecretWrite, Change, Step, ObservedState, Wait, CertificateSpec, Write, next_step};
//! use gateward_certs::rotation::{CaSecret, RotationAnnotations};
//! use gateward_certs::{CommonName, Lifetimes, ServerNames, SystemKeys};
//!
//! let now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
//! let spec = CertificateSpec {
//!     serving_secret: "zoo/otter-cert".to_owned(),
//!     ca_secret: "zoo/otter-cert-ca".to_owned(),
//!     annotations: RotationAnnotations::of("otter.example.org"),
//!     names: ServerNames::of_service("otter", "zoo", "cluster.local")?,
//!     ca_name: CommonName::new("otter webhooks")?,
//!     lifetimes: Lifetimes::default(),
//!     settle: CertificateSpec::SETTLE,
//! };
//! let mut observed = ObservedState::empty(&spec);
//!
//! // First there is nothing.
//! let Step::Write(write) = next_step(&observed, now) else { unreachable!() };
//! assert_eq!(write, Write::CaSecret(CaSecretWrite::Create));
//! let Change::CaSecret(made) = write.contents(&observed, now, &SystemKeys)? else { unreachable!() };
//! observed.ca_secret = Some(CaSecret { data: made.data, ..CaSecret::default() });
//!
//! // Then a serving certificate is to be issued.
//! let Step::Write(write) = next_step(&observed, now) else { unreachable!() };
//! assert_eq!(write.to_string(), "issue a serving certificate (missing)");
//! let Change::ServingSecret(issued) = write.contents(&observed, now, &SystemKeys)? else { unreachable!() };
//! observed.serving_secret = Some(issued.data);
//!
//! // Then all is well for nearly ten years.
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
    Cause, Phase, RotationAnnotations, RotationProgress, RotationProgressError, RotationRequest, RotationRequestError,
};
pub use status::RotationStatus;
pub use step::{CaBundleWrite, CaSecretWrite, Incoming, ServingSecretWrite, Signer, Step, Wait, Write};

use crate::ca_bundle::CaBundle;
use state::RotationState;

/// Decides the next step, by nothing but its arguments.
pub fn next_step(observed: &ObservedState<'_>, now: SystemTime) -> Step {
    RotationState::of(observed, now).next_step()
}

/// The `caBundle` that restores missing CAs, if any is missing: for a watch that sees one changed and restores it at
/// once.
///
/// It only ever adds, so it needs no observed state: the injection target was read first, then the trusted CAs
/// ([`CaSecret::trusted`], of its Secret), and the write is guarded by the injection target's resourceVersion.
/// [`next_step`] removes CAs beyond these, after it has probed the replicas.
pub fn restored_ca_bundle(carried: &[u8], trusted: &CaBundle) -> Option<CaBundle> {
    let (bundle, flaws) = CaBundle::parse_lossy(carried);
    let lacking = !flaws.is_empty() || !bundle.contains_all(trusted);
    (lacking && !trusted.is_empty()).then(|| bundle.merged(trusted))
}
