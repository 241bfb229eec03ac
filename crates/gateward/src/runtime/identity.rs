//! The certificate that is shown: the one of the server's Secret, at every moment.

use gateward_certs::secret::ServingCertificate;
use gateward_cluster::restart_on_panic;
use gateward_server::{CertResolver, ClusterMetrics, Identity, IdentityError};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::listen::BoundListeners;

/// Where words for people who look for the rotation of certificates are found.
const TARGET: &str = "cert-rotation";

/// Has each certificate shown that comes, as a task.
pub(super) fn keep_shown(
    tasks: &mut JoinSet<()>,
    served: watch::Receiver<Option<ServingCertificate>>,
    answerable: watch::Receiver<bool>,
    listening: &BoundListeners,
) {
    let (resolver, metrics) = (listening.certificate.clone(), listening.measures());
    let follow = async move || follow(served.clone(), answerable.clone(), &resolver, &metrics).await;
    tasks.spawn(restart_on_panic("certificate", follow));
}

/// Shows each certificate that comes, from the moment on when requests can be answered.
async fn follow(
    mut served: watch::Receiver<Option<ServingCertificate>>,
    mut answerable: watch::Receiver<bool>,
    resolver: &CertResolver,
    metrics: &ClusterMetrics,
) {
    if answerable.wait_for(|answerable| *answerable).await.is_err() {
        return;
    }
    loop {
        let pair = served.borrow_and_update().clone();
        if let Some(pair) = pair {
            show(&pair, resolver, metrics);
        }
        if served.changed().await.is_err() {
            return;
        }
    }
}

fn show(pair: &ServingCertificate, resolver: &CertResolver, metrics: &ClusterMetrics) {
    match identity(pair) {
        Ok(identity) => {
            resolver.set(identity);
            metrics.reloaded();
            tracing::info!(target: TARGET, "serving certificate reloaded");
        }
        Err(error) => {
            metrics.reload_failed();
            tracing::error!(target: TARGET, %error, "the certificate of the Secret can't be shown; the one before stays");
        }
    }
}

fn identity(pair: &ServingCertificate) -> Result<Identity, IdentityError> {
    Identity::new(pair.chain(), pair.private_key().to_der())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use gateward_certs::secret::SecretData;
    use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
    use gateward_server::Metrics;

    use super::*;

    fn pair() -> ServingCertificate {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let ca = Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap();
        let leaf = ca.issue(&ServerNames::parse(["otter.zoo.svc"]).unwrap(), validity, &SystemKeys).unwrap();
        let data =
            SecretData::default().with("tls.crt", leaf.certificate_pem()).with("tls.key", leaf.private_key_pem());
        ServingCertificate::read(&data, "zoo/otter").unwrap()
    }

    #[tokio::test]
    async fn nothing_is_shown_before_requests_can_be_answered() {
        let (_served, served) = watch::channel(Some(pair()));
        let (answerable, may) = watch::channel(false);
        let resolver = CertResolver::empty();
        let (shown, metrics) = (resolver.clone(), ClusterMetrics::of(&Metrics::new("otter")));
        let following = tokio::spawn(async move { follow(served, may, &shown, &metrics).await });
        tokio::task::yield_now().await;
        assert!(resolver.validity().is_none());
        answerable.send_replace(true);
        while resolver.validity().is_none() {
            tokio::task::yield_now().await;
        }
        following.abort();
    }
}
