//! What a file of handlers needs: `use gateward::prelude::*;`.

pub use crate::Operation::{Connect, Create, Delete, Update};
pub use crate::{
    CREATE, CREATE_AND_UPDATE, Context, ConversionError, Convert, Defaulted, Defaulter, DeletingObjects, Endpoint,
    Facts, FieldPath, GroupVersionKind, Issue, Issues, Operation, PathStyle, Provenance, Raw, Redacted, Request,
    Resource, Rule, STASH, Scope, Stash, State, Store, UPDATE, Validator, Verdict, Webhook, WebhookError, Webhooks,
    handler, resource,
};

#[cfg(feature = "server")]
pub use crate::service::IntoService;
