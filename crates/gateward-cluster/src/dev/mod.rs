//! Objects of a cluster that lead to a machine of a person for a while: webhook configurations of their own, and CRDs
//! whose objects are converted there.
//!
//! `record` is what stands in an annotation of each of these objects, so that any process can put it back.
//! `plan` decides, by values. `session` reads and writes, in `objects`. A [`DevLease`] says that its holder lives.
//!
//! Every write is one request, guarded by what was read, and carries its own record: a process that ends anywhere leaves
//! objects that are as before, or that say how they were.

mod destination;
mod event;
mod lease;
mod objects;
mod plan;
mod probe;
mod record;
mod session;

pub use destination::Destination;
pub use event::{DevError, DevEvent};
pub use lease::{DevLease, TakeOver};
pub use plan::Whose;
pub use record::DevHolder;
pub use session::{DevConfig, DevSession, PutBackOutcome};
