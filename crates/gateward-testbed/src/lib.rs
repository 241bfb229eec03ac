//! A real control plane on this machine, without containers: etcd, kube-apiserver and kube-controller-manager, started
//! by the test itself in namespaces of its own.
//!
//! Before anything else a test program replaces itself by the same program inside new user, network, mount and process
//! namespaces ([`enter`]). So all that a test starts, and the test, see one private network where every port is free and
//! every Service and Pod address is local; nothing leads out of it, any number of beds run side by side, and when the
//! test program ends, in whatever way, the kernel ends the rest.
//!
//! Where the machine grants no user namespace, root has the other ones without it, and all is as before. Where it
//! grants none at all, a bed uses the machine's own network: the control plane at loopback ports that are free, a
//! folder that is removed at the end, and processes that are killed with the test program. Pods can't run there, and
//! nothing listens at the address of a Service: what would be behind it is a Pod, or an `EndpointSlice`, which takes no
//! loopback address. So tests that need these fail and say how to get namespaces; all others run. A test program says
//! on standard error where its bed stands, unless that is in a user namespace: see [`Ground`].
//!
//! After [`Bed::start_node`] the bed plays scheduler and kubelet too, so that Pods run, each in a network of its own:
//! see [`Node`].
//!
//! After [`Bed::start_cert_manager`] a cert-manager issues certificates and injects CAs: see [`CertManager`].
//!
//! The programs are those that `GATEWARD_TESTBED` or `KUBEBUILDER_ASSETS` names a folder of, or else `testbed/build.sh`
//! builds them.
//!
//! A test program begins with [`run`], has the API server ask an operator's webhooks by [`LocalWebhooks`], and speaks to it
//! in a [`Sandbox`].
//!
//! ```no_run
//! use std::path::Path;
//!
//! use gateward_testbed::{LocalWebhooks, Sandbox, run, tests};
//! use serde_json::{Value, json};
//!
//! fn main() -> std::process::ExitCode {
//!     run(tests![rejects_an_empty_schedule], async |bed| {
//!         LocalWebhooks::install(&bed, Path::new("target/debug/my-operator"), &without_schedule()).await
//!     })
//! }
//!
//! fn without_schedule() -> Value {
//!     json!({"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": {"name": "otter"}, "spec": {"schedule": ""}})
//! }
//!
//! async fn rejects_an_empty_schedule(sandbox: Sandbox) {
//!     sandbox.rejects(&without_schedule(), &["spec.schedule"]).await;
//! }
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::missing_errors_doc,
    reason = "the vocabulary of tests: what fails here fails a test"
)]

mod addresses;
mod audit;
mod bed;
mod cert_manager;
mod client;
mod control_plane;
pub mod enter;
mod feed;
mod ground;
mod local_webhooks;
mod node;
mod pki;
pub mod process;
mod programs;
mod resource_names;
mod run;
mod sandbox;
mod sweeper;
pub mod tls;
mod until;

pub use audit::{Audit, AuditEvent};
pub use bed::Bed;
pub use cert_manager::CertManager;
pub use client::{Client, Response};
pub use control_plane::ADMIN;
pub use ground::Ground;
pub use local_webhooks::{LocalWebhooks, printed};
pub use node::{Node, Pod, Signal};
pub use programs::Programs;
pub use run::{Prepared, Test, end_with_a_signal, run, run_in_turn};
pub use sandbox::{Rejection, Sandbox, refused, version_of};
pub use until::until;
