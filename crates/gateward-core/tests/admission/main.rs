//! What an operator author and the API server are promised of `Webhooks::handle`.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "helpers of tests")]

mod bounds;
mod declaring;
mod defaulting;
mod denying;
mod dynamic;
mod entries;
mod hostile;
mod kube_types;
mod path_styles;
mod reading;
mod repairing;
mod skipping;
mod state;
mod subresources;
mod test_requests;
mod unsupported;
mod versions;
mod zoo;
