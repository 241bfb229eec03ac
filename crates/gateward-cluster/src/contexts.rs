//! The contexts of a kubeconfig, for commands that ask a person which cluster is meant.

use std::path::Path;

use http::Uri;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::connection::{Connection, ConnectionError, unreadable, user_of};

/// What a kubeconfig names.
#[derive(Debug, Clone)]
pub struct Contexts {
    kubeconfig: Kubeconfig,
    user: String,
}

/// A connection to the cluster of a context, and where its API server is.
pub struct ContextConnection {
    /// The connection.
    pub connection: Connection,
    /// The address of the API server, as the kubeconfig has it.
    pub server: Uri,
}

impl Contexts {
    /// Those of a file; without one, those of `KUBECONFIG` or of `~/.kube/config`.
    ///
    /// # Errors
    ///
    /// There is no such file, or it is no kubeconfig.
    pub fn read(file: Option<&Path>) -> Result<Self, ConnectionError> {
        let read = match file {
            Some(file) => Kubeconfig::read_from(file),
            None => Kubeconfig::read(),
        };
        Ok(Self { kubeconfig: read.map_err(unreadable)?, user: user_of(file) })
    }

    /// The names of all contexts.
    pub fn names(&self) -> Vec<String> {
        self.kubeconfig.contexts.iter().map(|context| context.name.clone()).collect()
    }

    /// The context that holds where none is named.
    pub fn current(&self) -> Option<&str> {
        self.kubeconfig.current_context.as_deref()
    }

    /// To the cluster of a context; to that of the current one where none is named. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// There is no such context, or what it names can't be used.
    pub async fn connect(self, name: Option<&str>, user_agent: &str) -> Result<ContextConnection, ConnectionError> {
        let options = KubeConfigOptions { context: name.map(str::to_owned), ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(self.kubeconfig, &options).await.map_err(unreadable)?;
        let server = config.cluster_url.clone();
        Ok(ContextConnection { connection: Connection::with(config, &self.user, user_agent)?, server })
    }
}
