//! Who provides certificates, as the configuration of an operator says it that has none of its own.

use gateward_certs::{CaBundle, CaInjection, Provision, ProvisionMode};
use gateward_core::FieldPath;
use serde::Deserialize;
use serde_json::Value;

use super::problem::{ConfigError, Problem};

/// The key `certificates`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Certificates {
    mode: Option<String>,
    ca_bundle: Option<String>,
}

/// What the document says; the leader makes certificates where it doesn't say.
pub(super) fn provision(document: &Value) -> Result<Provision, ConfigError> {
    let Some(given) = document.get("certificates").filter(|given| !given.is_null()) else {
        return Ok(Provision::Automatic);
    };
    let here = || FieldPath::field("certificates");
    if !given.is_object() {
        return Err(wrong(here(), "has to be an object, such as {mode: cert-manager}"));
    }
    let Certificates { mode, ca_bundle } =
        Certificates::deserialize(given).map_err(|error| wrong(here(), error.to_string()))?;
    let mode = mode.as_deref().unwrap_or(ProvisionMode::Automatic.name());
    let known = ProvisionMode::ALL.into_iter().find(|known| known.name() == mode);
    let known = known.ok_or_else(|| {
        let names = ProvisionMode::ALL.map(ProvisionMode::name).join(", ");
        wrong(here() / "mode", format!("{mode:?} is no mode; it has to be one of {names}"))
    })?;
    let at_bundle = || here() / "caBundle";
    if ca_bundle.is_some() && known != ProvisionMode::External {
        return Err(wrong(at_bundle(), "is for the mode external alone; leave it out"));
    }
    Ok(match known {
        ProvisionMode::Automatic => Provision::Automatic,
        ProvisionMode::CertManager => {
            Provision::CertManager { injection: CaInjection::Secret, ca_bundle: CaBundle::default() }
        }
        ProvisionMode::External => {
            let bundle = ca_bundle.as_deref().map(CaBundle::from_base64).transpose();
            let bundle =
                bundle.map_err(|why| wrong(at_bundle(), format!("{why}; give what `base64 -w0 < ca.crt` prints")))?;
            Provision::External { ca_bundle: bundle.unwrap_or_default() }
        }
    })
}

fn wrong(key: FieldPath, text: impl Into<String>) -> ConfigError {
    ConfigError(vec![Problem::of_key(key, text)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mode_of(document: &Value) -> Result<ProvisionMode, String> {
        provision(document).map(|provision| provision.mode()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_mode_is_automatic_unless_the_document_says_otherwise() {
        for document in [json!({}), json!({"certificates": null}), json!({"certificates": {}})] {
            assert_eq!(mode_of(&document), Ok(ProvisionMode::Automatic), "{document}");
        }
        for mode in ProvisionMode::ALL {
            assert_eq!(mode_of(&json!({"certificates": {"mode": mode.name()}})), Ok(mode));
        }
    }

    #[test]
    fn what_is_wrong_is_said_at_its_key() {
        for (certificates, said) in [
            (
                json!({"mode": "magic"}),
                "certificates.mode: \"magic\" is no mode; it has to be one of auto, cert-manager, external",
            ),
            (json!({"caBundle": "eA=="}), "certificates.caBundle: is for the mode external alone; leave it out"),
            (json!({"mode": "external", "caBundle": "?"}), "certificates.caBundle: "),
            (json!({"mode": "external", "caBundle": "eA=="}), "certificates.caBundle: "),
            (json!({"colour": 1}), "certificates: unknown field `colour`"),
            (json!(["auto"]), "certificates: has to be an object"),
        ] {
            let error = mode_of(&json!({"certificates": certificates})).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
