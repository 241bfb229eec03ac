//! The state of certificates that cert-manager or the user provides.

use std::time::SystemTime;

use gateward_certs::secret::{CA_CRT, CA_KEY, ServingCertificate};
use gateward_certs::trust::{ObservedTrust, next_step};
use gateward_certs::{CaBundle, CaInjection, ChainFault, ChainRules, Provision, ProvisionMode, chain_faults};
use k8s_openapi::api::core::v1::Secret;

use super::error::InspectError;
use crate::cert_controller::{OTHERS_WRITE, observed_trust};
use crate::config::ControllerConfig;
use crate::injection::TargetObject;
use crate::secrets::{data, trusted};

/// The annotation with which cert-manager marks the Secret of a Certificate.
const CERTIFICATE_NAME: &str = "cert-manager.io/certificate-name";

/// The state of certificates that cert-manager or the user provides.
#[derive(Debug)]
pub struct ProvidedStatus {
    /// The serving certificate.
    pub serving: Option<ServingCertificate>,
    /// What is wrong with its Secret.
    pub faults: Vec<ChainFault>,
    /// The CAs that clients are to trust.
    pub roots: CaBundle,
    /// The CAs that they trust besides, until no replica needs them.
    pub outgoing: CaBundle,
    /// What happens next.
    pub next: String,
    /// The Certificate of cert-manager, as its Secret names it.
    pub certificate: Option<String>,
}

/// Who provides the certificates of an installation: as the configuration says, or else as the Secrets look.
pub(super) fn provision(config: &ControllerConfig, ca: Option<&Secret>, serving: Option<&Secret>) -> Provision {
    let Some(serving) = serving.filter(|_| config.provision == Provision::Automatic) else {
        return config.provision.clone();
    };
    if certificate_name(serving).is_some() {
        return Provision::CertManager { injection: CaInjection::default(), ca_bundle: CaBundle::default() };
    }
    let labels = serving.metadata.labels.clone().unwrap_or_default();
    let ours = config.secrets.labels.iter().all(|(name, value)| labels.get(name) == Some(value));
    if ca.is_none() && !ours && !data(serving).has(CA_KEY) {
        return Provision::External { ca_bundle: CaBundle::default() };
    }
    Provision::Automatic
}

impl ProvidedStatus {
    pub(super) fn of(
        config: &ControllerConfig,
        provision: &Provision,
        bundle: Option<&Secret>,
        serving: Option<&Secret>,
        seen: &[TargetObject],
        now: SystemTime,
    ) -> Self {
        let spec = config.spec();
        let configured = provision.configured();
        let observed = observed_trust(&spec, bundle, serving, seen, now);
        let observed = ObservedTrust { configured: configured.clone(), ..observed };
        let roots = match provision {
            Provision::External { .. } => trusted(provision, None, serving),
            _ => observed.roots(),
        };
        let secret = &spec.serving_secret;
        let rules = ChainRules { secret, name: spec.names.first(), trusted: &roots, now };
        let serving_data = serving.map(data);
        let kept = bundle.map(data).unwrap_or_default();
        let kept = CaBundle::parse_lossy(kept.field(CA_CRT).unwrap_or_default()).0;
        let (outgoing, next) = match provision {
            Provision::CertManager { injection: CaInjection::Secret, .. } => {
                (kept.filtered(|anchor| !roots.contains(anchor)), next_step(&observed).to_string())
            }
            _ => (CaBundle::default(), OTHERS_WRITE.to_owned()),
        };
        Self {
            faults: chain_faults(serving_data.as_ref(), &rules),
            serving: serving_data.and_then(|data| ServingCertificate::read(&data, secret).ok()),
            roots,
            outgoing,
            next,
            certificate: serving.and_then(certificate_name),
        }
    }

    /// Why there is nothing to rotate.
    pub(super) fn not_ours(&self, provider: ProvisionMode, config: &ControllerConfig) -> InspectError {
        if provider == ProvisionMode::External {
            return InspectError::ByTheUser { secret: config.spec().serving_secret };
        }
        let certificate = self.certificate.clone().unwrap_or_else(|| "<its Certificate>".to_owned());
        InspectError::ByCertManager { namespace: config.namespace.clone(), certificate }
    }
}

/// The Certificate for which cert-manager writes a Secret.
pub(crate) fn certificate_name(serving: &Secret) -> Option<String> {
    serving.metadata.annotations.as_ref()?.get(CERTIFICATE_NAME).cloned()
}
