//! What a file of handlers needs: `use gateward::prelude::*;`.

pub use gateward_core::Operation::{Connect, Create, Delete, Update};
pub use gateward_core::{
    CREATE, CREATE_AND_UPDATE, Context, ConversionError, Convert, Defaulted, Defaulter, Endpoint, Facts, FieldPath,
    GroupVersionKind, Issue, Issues, Kind, Operation, Provenance, Raw, Redacted, Registry, Request, Resource, Rule,
    STASH, Scope, Stash, Terminating, UPDATE, Undecided, Validator, Verdict,
};
