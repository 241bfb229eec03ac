//! The operator of the kind `__kind__`: its webhooks, and a controller beside them.

pub mod controller;
pub mod conversion;
pub mod rules;
pub mod v1;
pub mod v2;
pub mod webhooks;

use gateward::prelude::*;
use gateward::{Client, ControllersError, Names, Operator, Permission, ShutdownSignal};

/// What `serve` serves, `check` checks and `generate` prints.
pub struct Program(Webhooks);

impl Default for Program {
    fn default() -> Self {
        Self(webhooks::webhooks())
    }
}

impl Operator for Program {
    fn webhooks(&self) -> &Webhooks {
        &self.0
    }

    fn names(&self) -> Names {
        Names { namespace: "__name__-system", ..gateward::names!() }
    }

    fn controllers(
        &self,
        client: Client,
        shutdown: ShutdownSignal,
    ) -> impl Future<Output = Result<(), ControllersError>> + Send {
        controller::run(client, shutdown)
    }

    fn controller_permissions(&self) -> Vec<Permission> {
        controller::permissions()
    }
}
