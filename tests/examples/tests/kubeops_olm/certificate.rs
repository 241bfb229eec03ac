//! Cases of the certificates that `generate certs` makes.

use serde_json::{Value, json};
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;

use crate::program::Program;
use crate::{Case, Outcome, same};

pub fn judge(case: &Case) -> Outcome {
    let made = Made::of(&case.rest["input"])?;
    let mut named = case.expect.as_object().unwrap().iter();
    named.try_for_each(|(name, value)| match name.as_str() {
        "san_dns" => same(name, &made.names(dns), value),
        "san_ip" => same(name, &made.names(address), value),
        "caBundle_is" => same(name, &made.ca_is(), value),
        // From an hour before they are made, and for a year.
        "not_before" => same(name, &made.not_before(), value),
        other => Err(format!("unknown expectation {other}")),
    })
}

/// The files of one run.
struct Made {
    ca: Vec<u8>,
    serving: Vec<u8>,
}

impl Made {
    fn of(input: &Value) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let name = input["name"].as_str().unwrap_or("localhost");
        let host = input["namespace"].as_str().map_or(name.to_owned(), |namespace| format!("{name}.{namespace}.svc"));
        let out = folder.path().to_str().unwrap();
        Program::of_testapp().runs(&["generate", "certs", "--host", &host, "--out", out])?;
        let read = |name: &str| std::fs::read(folder.path().join(name)).map_err(|error| format!("{name}: {error}"));
        Ok(Self { ca: read("ca.crt")?, serving: read("tls.crt")? })
    }

    fn names(&self, wanted: fn(&GeneralName<'_>) -> Option<String>) -> Value {
        let pem = pem(&self.serving);
        let certificate = pem.parse_x509().unwrap();
        let names = certificate.subject_alternative_name().unwrap().unwrap();
        names.value.general_names.iter().filter_map(wanted).collect()
    }

    /// What a configuration with this CA as its `caBundle` trusts.
    fn ca_is(&self) -> Value {
        let (ca, serving) = (pem(&self.ca), pem(&self.serving));
        let (ca, serving) = (ca.parse_x509().unwrap(), serving.parse_x509().unwrap());
        let is_root = ca.is_ca() && ca.verify_signature(None).is_ok() && !serving.is_ca();
        json!(if is_root && serving.verify_signature(Some(ca.public_key())).is_ok() { "root" } else { "leaf" })
    }

    fn not_before(&self) -> Value {
        let pem = pem(&self.serving);
        let certificate = pem.parse_x509().unwrap();
        json!(certificate.validity().not_before.to_string())
    }
}

fn pem(bytes: &[u8]) -> Pem {
    Pem::iter_from_buffer(bytes).next().unwrap().unwrap()
}

fn dns(name: &GeneralName<'_>) -> Option<String> {
    if let GeneralName::DNSName(name) = name { Some((*name).to_owned()) } else { None }
}

fn address(name: &GeneralName<'_>) -> Option<String> {
    let GeneralName::IPAddress(bytes) = name else { return None };
    <[u8; 4]>::try_from(*bytes).ok().map(|bytes| std::net::Ipv4Addr::from(bytes).to_string())
}
