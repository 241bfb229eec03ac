//! The tests' vocabulary: charts, releases, load, cases, and the `main` of a test program.
//!
//! A test program of this crate has its own `main`, which is [`run`]. It starts again in the namespaces of a
//! [`Bed`](gateward_testbed), and begins with a control plane. For a person there is [`visit`], which is `make cluster`.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "the vocabulary of tests: what fails here fails a test"
)]

mod cases;
mod denial;
mod dial;
mod exclusion;
mod inventory;
mod load;
pub mod objects;
mod page;
mod release;
mod shell;
mod store;
mod visit;
mod webhooks;

pub use cases::{Case, Expectation};
pub use denial::{DENIED, Denial};
pub use dial::{probe_page, shown_by_all, shown_certificate, webhook_pods};
pub use exclusion::{is_admitted, leaves_a_claimed_namespace_out};
pub use gateward_testbed::{
    ADMIN, Audit, AuditEvent, Bed, CertManager, Client, Ground, Node, Pod, Prepared, Programs, Rejection, Response,
    Sandbox, Signal, Test, refused, run, run_in_turn, tests, until, version_of,
};
pub use inventory::Inventory;
pub use load::{Counted, Failure, Load, Pace, Tally};
pub use page::command_blocks;
pub use release::{Bundle, CA_SECRET, CONVERTED, Chart, NAMESPACE, RELEASE, Release, SERVING_SECRET};
pub use shell::Shell;
pub use store::{store, stored, version_stored};
pub use visit::{Visit, visit};
pub use webhooks::{Conversion, UNSEEN, Webhooks, crds};
