//! `serve --config FILE --certificate-dir DIRECTORY`: the certificate is one that somebody else mounts and renews, as OLM
//! does. Nothing of ours writes Secrets, webhook configurations or CRDs then.

use std::path::PathBuf;
use std::sync::Arc;

use gateward_cluster::Connection;

use crate::config::{Config, ConfigError, ConfigSource, NamespaceScope, Problem};
use crate::operator::Operator;
use crate::runtime::{CertificateSource, GivenCertificate, ListenerSettings, Signals};

/// Where words about the start as a whole are found.
const TARGET: &str = "setup";
const FLAG: &str = "certificate-dir";

/// Whether the configuration asks for what only the controllers of a cluster do.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    match &config.namespaces {
        NamespaceScope::All(_) => Ok(()),
        NamespaceScope::One(one) => {
            let text = format!(
                "is for an operator of the whole cluster: nobody would renew the Lease that claims {}; let the operator \
                 serve all namespaces, or leave the option out",
                one.name
            );
            Err(ConfigError(vec![Problem::of_flag(FLAG, text)]))
        }
    }
}

pub(super) async fn run<P: Operator>(
    operator: Arc<P>,
    given: ConfigSource,
    directory: PathBuf,
    settings: ListenerSettings,
    signals: Signals,
) -> anyhow::Result<()> {
    let path = directory.display();
    tracing::info!(target: TARGET, %path, "somebody else mounts and renews the certificate; no CA is made, no caBundle written");
    let connection = Connection::connect(&operator.names().user_agent()).await?;
    let source = CertificateSource::Directory(directory);
    GivenCertificate::start(operator, given, source, settings, Some(connection)).await?.run(signals).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::RestrictedNamespace;
    use crate::release::Release;

    fn config(namespaces: NamespaceScope) -> Config {
        let release = Release { name: "otter".into(), namespace: "zoo".into() };
        Config { namespaces, ..Config::of_release(&release, "otter").unwrap() }
    }

    #[test]
    fn an_operator_of_one_namespace_needs_its_controller() {
        assert!(check(&config(NamespaceScope::default())).is_ok());
        let one = RestrictedNamespace {
            name: "river".into(),
            lease: "lock".into(),
            lease_duration: Duration::from_secs(30),
            renew_interval: Duration::from_secs(10),
        };
        let error = check(&config(NamespaceScope::One(one))).unwrap_err().to_string();
        assert!(error.starts_with("--certificate-dir: is for an operator of the whole cluster"), "{error}");
        assert!(error.contains("claims river"), "{error}");
    }
}
