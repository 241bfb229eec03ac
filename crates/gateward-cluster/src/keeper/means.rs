//! What all parts of the keeper share.

use std::sync::{Arc, Mutex, PoisonError};

use gateward_certs::KeySource;
use gateward_certs::rotation::{CaSecret, CertificateSpec};
use tokio::sync::Notify;

use super::board::Board;
use crate::connection::Connection;
use crate::consumers::ConsumerStore;
use crate::fights::Fights;
use crate::lease::Tenure;
use crate::replicas::Replicas;
use crate::secrets::SecretStore;
use crate::setup::Setup;

pub(super) struct Means {
    pub(super) wanted: CertificateSpec,
    pub(super) keys: Arc<dyn KeySource + Send + Sync>,
    pub(super) connection: Connection,
    pub(super) secrets: SecretStore,
    pub(super) consumers: ConsumerStore,
    pub(super) replicas: Replicas,
    pub(super) tenure: Tenure,
    pub(super) fights: Fights,
    pub(super) board: Board,
    /// Something has changed that the writer should look at.
    pub(super) news: Arc<Notify>,
    /// The authority's Secret as the writer has seen it last.
    authority: Mutex<Option<CaSecret>>,
}

impl Means {
    pub(super) fn new(connection: &Connection, setup: &Setup, replicas: Replicas, tenure: Tenure) -> Self {
        Self {
            wanted: setup.wanted(),
            keys: Arc::clone(&setup.certificates.keys),
            connection: connection.clone(),
            secrets: SecretStore::new(connection, setup),
            consumers: ConsumerStore::new(connection, setup),
            replicas,
            tenure,
            fights: Fights::default(),
            board: Board::new(setup.consumers.clone()),
            news: Arc::new(Notify::new()),
            authority: Mutex::default(),
        }
    }

    pub(super) fn remember(&self, authority: Option<CaSecret>) {
        *self.authority.lock().unwrap_or_else(PoisonError::into_inner) = authority;
    }

    pub(super) fn remembered_authority(&self) -> Option<CaSecret> {
        self.authority.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
