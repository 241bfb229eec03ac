//! The listeners beside the one for reviews: probes and metrics, for kubelets, scrapers and people.

pub(crate) mod authorize;
pub(crate) mod endpoint;
pub(crate) mod http;
pub(crate) mod https;
mod listener;
mod response;
