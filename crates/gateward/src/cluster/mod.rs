//! Serving in a cluster: the listeners, the certificate controller, the operator's facts and what is told of all these,
//! joined. What is decided here is when; how is decided elsewhere.

mod authorize;
mod conflicts;
mod facts;
mod identity;
mod injected_trust;
mod listen;
mod report;
mod serve;
mod setup;

pub(crate) use serve::{Plan, serve};
pub(crate) use setup::setup;
