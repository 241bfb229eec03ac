//! Serving in a cluster: joins the listeners, the certificate controller and the operator's facts, and reports their
//! status. It decides when; how is decided elsewhere.

mod authorize;
mod claims;
mod conflicts;
mod facts;
mod identity;
mod injected_trust;
mod listen;
mod report;
mod serve;
mod setup;
mod signals;

pub(crate) use serve::{Plan, serve};
pub(crate) use setup::setup;
pub(crate) use signals::Signals;
