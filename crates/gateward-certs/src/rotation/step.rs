//! The next step of a rotation.

use std::fmt;
use std::time::{Duration, SystemTime};

use super::observed::{InjectionTargetId, StateHash};
use super::progress::Cause;
use crate::ca_bundle::CaBundle;
use crate::secret::{CA_KEY, CLOCK_TOLERANCE};
use crate::timestamp;

/// One write or one wait. Its text is what `certs status` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Something is to be written. [`Write::contents`] says what exactly.
    Write(Write),
    /// Nothing is to be done before something changes or time has passed.
    Wait(Wait),
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// The CA's Secret.
    CaSecret(CaSecretWrite),
    /// The serving Secret.
    ServingSecret(ServingSecretWrite),
    /// Bundles of injection targets: each a write of its own, which may fail and be repeated without the others.
    CaBundles(Vec<CaBundleWrite>),
}

/// What is to be written to the CA's Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaSecretWrite {
    /// The first CA, or one where no trust is to be kept.
    Create,
    /// The CA whose key lies in the serving Secret.
    Adopt,
    /// The start of a CA rotation.
    Begin {
        /// Which CA is to take over.
        incoming: Incoming,
        /// The CAs that stay trusted until it has.
        outgoing: CaBundle,
        /// Where the key of one of these lies, if it is known.
        outgoing_signer: Option<Signer>,
        /// Why.
        cause: Cause,
    },
    /// The serving certificate may be changed.
    Switch,
    /// The old CAs lose their trust.
    Retire,
    /// The rotation is over.
    Finish,
    /// A request that concerns a CA which is gone is removed.
    DropRequest,
}

/// Which CA is to take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Incoming {
    /// A new one.
    New,
    /// The one that is in the CA's Secret.
    Present,
}

/// Which CA signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signer {
    /// The one that is to stay.
    Present,
    /// One that is on its way out: as long as the other isn't known everywhere.
    Outgoing,
}

/// What is to be written to the serving Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServingSecretWrite {
    /// A new certificate.
    Issue {
        /// Who signs it.
        signer: Signer,
        /// What is wrong with the present one.
        because: String,
    },
    /// The Secret without the CA's key.
    DropOldKey,
}

/// The `caBundle` to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaBundleWrite {
    /// Which one.
    pub target: InjectionTargetId,
    /// The whole bundle.
    pub bundle: CaBundle,
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// Everything is as it should be until then.
    Idle {
        /// When the next certificate is to be renewed.
        until: SystemTime,
    },
    /// A state has to be stable for some time by the monotonic clock. Then its hash goes into
    /// [`ObservedState::settled`](super::ObservedState::settled), for as long as the process lives.
    Settling {
        /// The state.
        hash: StateHash,
        /// For how long.
        time: Duration,
        /// What has been reached.
        reached: &'static str,
    },
    /// Not every replica serves the new certificate.
    Replicas {
        /// Those that serve another one.
        lagging: Vec<String>,
        /// Those that get requests, but didn't answer.
        silent: Vec<String>,
    },
    /// No replica answers the probe.
    NoReplica,
    /// cert-manager has not made a usable serving Secret, for this reason.
    ServingSecret {
        /// What is waited for.
        why: String,
    },
    /// The cainjector of cert-manager has not given its CAs to every injection target.
    Injection {
        /// Those that lack them.
        lacking: Vec<InjectionTargetId>,
    },
    /// A certificate is to be made or renewed, but this pod's clock and the API server's differ: what one of them dates
    /// now, the other may refuse. A leader in this state had better leave its lease to another replica.
    ClocksDisagree {
        /// This pod's clock.
        ours: SystemTime,
        /// The API server's.
        theirs: SystemTime,
    },
}

impl Wait {
    /// When to check again at the latest, if nothing changes before.
    ///
    /// It is never long: a machine that was suspended doesn't know how much time has passed.
    pub fn at_most(&self, now: SystemTime) -> Duration {
        const OFTEN: Duration = Duration::from_secs(2);
        const SELDOM: Duration = Duration::from_mins(10);
        match self {
            Self::Idle { until } => until.duration_since(now).unwrap_or_default().clamp(OFTEN, SELDOM),
            Self::Settling { time, .. } => *time,
            Self::Replicas { .. } | Self::NoReplica | Self::ServingSecret { .. } | Self::Injection { .. } => OFTEN,
            Self::ClocksDisagree { .. } => CLOCK_TOLERANCE,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(write) => write.fmt(f),
            Self::Wait(wait) => wait.fmt(f),
        }
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CaSecret(write) => write.fmt(f),
            Self::ServingSecret(ServingSecretWrite::Issue { signer: Signer::Present, because }) => {
                write!(f, "issue a serving certificate ({because})")
            }
            Self::ServingSecret(ServingSecretWrite::Issue { signer: Signer::Outgoing, because }) => {
                write!(f, "issue a serving certificate from the old CA ({because})")
            }
            Self::ServingSecret(ServingSecretWrite::DropOldKey) => {
                write!(f, "remove the CA's key ({CA_KEY}) from the serving Secret")
            }
            Self::CaBundles(writes) => {
                let targets: Vec<_> = writes.iter().map(|write| write.target.to_string()).collect();
                write!(f, "write the caBundle of {}", targets.join(", "))
            }
        }
    }
}

impl fmt::Display for CaSecretWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create => f.write_str("make a CA"),
            Self::Adopt => write!(f, "take over the CA whose key is {CA_KEY}"),
            Self::Begin { incoming: Incoming::New, cause, .. } => {
                write!(f, "make a new CA beside the old one ({cause})")
            }
            Self::Begin { incoming: Incoming::Present, cause, .. } => {
                write!(f, "bring in the present CA beside the one in use ({cause})")
            }
            Self::Switch => f.write_str("go on to the serving certificate: every injection target has both CAs"),
            Self::Retire => f.write_str("retire the old CA: every replica serves a certificate of the new one"),
            Self::Finish => f.write_str("end the rotation: no injection target has the old CA"),
            Self::DropRequest => f.write_str("drop a request that was met"),
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle { until } => write!(f, "nothing is to be done until {}", timestamp::rfc3339(*until)),
            Self::Settling { time, reached, .. } => {
                write!(f, "waiting {} s to be sure of it: {reached}", time.as_secs_f32())
            }
            Self::Replicas { lagging, silent } => waiting_for(f, lagging, silent),
            Self::NoReplica => f.write_str("waiting for a replica that answers: none does"),
            Self::ServingSecret { why } => write!(f, "waiting for {why}"),
            Self::Injection { lacking } => {
                let lacking: Vec<_> = lacking.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "waiting for the cainjector of cert-manager to inject the CA: see whether it runs, and whether these \
                     have its annotation: {}",
                    lacking.join(", ")
                )
            }
            Self::ClocksDisagree { ours, theirs } => write!(
                f,
                "waiting: this pod's clock says {}, the API server's {}; no certificate is made until they agree; set \
                 the clock of the node",
                timestamp::rfc3339(*ours),
                timestamp::rfc3339(*theirs)
            ),
        }
    }
}

fn waiting_for(f: &mut fmt::Formatter<'_>, lagging: &[String], silent: &[String]) -> fmt::Result {
    f.write_str("waiting for every replica to serve the new certificate")?;
    if !lagging.is_empty() {
        write!(f, "; still the old one: {}", lagging.join(", "))?;
    }
    if !silent.is_empty() {
        write!(f, "; no answer from: {}", silent.join(", "))?;
    }
    Ok(())
}
