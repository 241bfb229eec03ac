//! `generate certs`: a CA and a serving certificate for development.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail};
use clap::Args;
use gateward_certs::secret::{
    CA_CRT, CA_KEY, SecretData, ServingCertificate, ServingCertificateRules, ServingCertificateState, TLS_CRT, TLS_KEY,
};
use gateward_certs::{
    Ca, CaBundle, CommonName, IssuedCertificate, PrivateKey, ServerNames, SystemKeys, Validity, rfc3339,
};
use gateward_core::terminal;

use crate::cli::generate::arguments::ServiceArguments;
use crate::cli::generate::folder::{present, shown};
use crate::cli::whole_file;
use crate::exit::Exit;
use crate::operator::Operator;

const CA_NAME: &str = "development CA";

const DAY: Duration = Duration::from_hours(24);

#[derive(Debug, Args)]
pub(super) struct GenerateCertsArguments {
    /// Name or address by which clients call the server, more than once for several; that of the Service unless given
    #[arg(long = "host", value_name = "NAME", value_parser = host, conflicts_with_all = ["release", "namespace", "service"])]
    hosts: Vec<String>,
    #[command(flatten)]
    service: ServiceArguments,
    /// Folder of the files: ca.crt, tls.crt and tls.key
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How long they are valid
    #[arg(long, value_name = "DAYS", default_value_t = 365, value_parser = clap::value_parser!(u16).range(1..=3650))]
    days: u16,
    /// Make others although those in the folder are good; of the same CA, if its key is there
    #[arg(long)]
    renew: bool,
    /// Write the CA's private key too, as ca.key. Who has it can pretend to be the server
    #[arg(long)]
    keep_ca_key: bool,
    /// Write nothing; exit 1 unless the files are there and good
    #[arg(long, conflicts_with_all = ["renew", "keep_ca_key"])]
    check: bool,
}

/// What is in the folder.
enum Found {
    /// None of the files.
    Nothing,
    /// A certificate that clients accept, with its state for people.
    Good(String),
    /// Something else, with what is wrong with it.
    Bad(String),
}

/// What is written.
struct Made {
    ca: Ca,
    certificate: IssuedCertificate,
}

pub(super) fn run<P: Operator>(operator: &P, arguments: &GenerateCertsArguments) -> anyhow::Result<Exit> {
    let names = ServerNames::parse(hosts(operator, arguments))?;
    let (folder, now) = (arguments.out.as_path(), SystemTime::now());
    let found = found(folder, &names, now)?;
    if arguments.check {
        return check(folder, &found);
    }
    match found {
        Found::Good(state) if !arguments.renew => {
            let folder = shown(folder);
            writeln!(anstream::stderr(), "kept what is in {folder}: {state}; --renew makes others")?;
            return Ok(Exit::Success);
        }
        Found::Bad(why) if !arguments.renew => {
            bail!("nothing was written: in {}, {why}; move the files away, or replace them with --renew", shown(folder))
        }
        Found::Nothing | Found::Good(_) | Found::Bad(_) => {}
    }
    let lifetime = DAY * u32::from(arguments.days);
    write(folder, &make(folder, &names, now, lifetime)?, arguments)?;
    Ok(Exit::Success)
}

/// A DNS name or an address. A wildcard would stand for servers of others.
fn host(text: &str) -> Result<String, String> {
    if text.contains('*') {
        return Err("a wildcard would stand for other servers too; name each host".into());
    }
    ServerNames::parse([text]).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// The names that the certificate gets: of the Service, the one by which API servers call.
fn hosts<P: Operator>(operator: &P, arguments: &GenerateCertsArguments) -> Vec<String> {
    if !arguments.hosts.is_empty() {
        return arguments.hosts.clone();
    }
    let installation = arguments.service.installation(operator);
    vec![format!("{}.{}.svc", installation.service, installation.namespace)]
}

fn found(folder: &Path, names: &ServerNames, now: SystemTime) -> anyhow::Result<Found> {
    let mut data = SecretData::default();
    for name in [CA_CRT, CA_KEY, TLS_CRT, TLS_KEY] {
        if let Some(bytes) = present(&folder.join(name))? {
            data = data.with(name, bytes);
        }
    }
    if data.iter().next().is_none() {
        return Ok(Found::Nothing);
    }
    let Ok(trusted) = CaBundle::parse(data.field(CA_CRT).unwrap_or_default()) else {
        return Ok(Found::Bad(format!("{CA_CRT} is missing or can't be read")));
    };
    let rules = ServingCertificateRules { secret: "", names, trusted: &trusted, now: Some(now) };
    let state = ServingCertificateState::of(Some(&data), &rules);
    Ok(match &state {
        ServingCertificateState::Complete(certificate) | ServingCertificateState::Expiring(certificate) => {
            dated(certificate, &trusted, now, &state)
        }
        ServingCertificateState::Invalid(invalid) => Found::Bad(format!("{}: {}", invalid.field, invalid.error)),
        _ => Found::Bad(format!("{TLS_CRT}: {state}")),
    })
}

fn dated(
    certificate: &ServingCertificate,
    trusted: &CaBundle,
    now: SystemTime,
    state: &ServingCertificateState,
) -> Found {
    let until = rfc3339(certificate.validity().not_after());
    if trusted.verifies_chain(&certificate.chain(), Some(now)) {
        Found::Good(state.to_string())
    } else {
        Found::Bad(format!("{TLS_CRT}, which is valid until {until}, or its CA is out of date"))
    }
}

fn check(folder: &Path, found: &Found) -> anyhow::Result<Exit> {
    let why = match found {
        Found::Good(_) => return Ok(Exit::Success),
        Found::Nothing => "there is no certificate",
        Found::Bad(why) => why.as_str(),
    };
    writeln!(anstream::stdout(), "{}: {}", shown(folder), terminal::line(why))?;
    Ok(Exit::Findings)
}

fn make(folder: &Path, names: &ServerNames, now: SystemTime, lifetime: Duration) -> anyhow::Result<Made> {
    let validity = Validity::starting(now, lifetime)?;
    let ca = match kept_ca(folder)?.filter(|ca| ca.validity().contains(now)) {
        Some(ca) => ca,
        None => Ca::new(&CommonName::new(CA_NAME)?, validity, &SystemKeys)?,
    };
    let validity = validity.within(&ca.validity()).context("the CA is out of date")?;
    let certificate = ca.issue(names, validity, &SystemKeys)?;
    Ok(Made { ca, certificate })
}

/// The CA whose key an earlier run has kept.
fn kept_ca(folder: &Path) -> anyhow::Result<Option<Ca>> {
    let (key, certificate) = (folder.join(CA_KEY), folder.join(CA_CRT));
    let (key, certificate) = match (present(&key)?, present(&certificate)?) {
        (Some(key), Some(certificate)) => (key, certificate),
        (Some(_), None) => bail!("{CA_KEY} in {} has no {CA_CRT} beside it; move it away", shown(folder)),
        (None, _) => return Ok(None),
    };
    let in_folder = || format!("{CA_KEY} and {CA_CRT} in {} are no CA; move them away", shown(folder));
    let certificates = CaBundle::parse(&certificate).with_context(in_folder)?;
    let Some(anchor) = certificates.iter().next() else { return Ok(None) };
    let key = PrivateKey::from_pem(&key).with_context(in_folder)?;
    Ca::from_parts(anchor.certificate().clone(), key).map(Some).with_context(in_folder)
}

/// Keys first: a certificate without its key would be of no use.
fn write(folder: &Path, made: &Made, arguments: &GenerateCertsArguments) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", shown(folder)))?;
    let Made { ca, certificate } = made;
    let keeps_ca_key = arguments.keep_ca_key || fs::symlink_metadata(folder.join(CA_KEY)).is_ok();
    let ca_key = keeps_ca_key.then(|| (CA_KEY, ca.private_key_pem()));
    for (name, text) in ca_key.into_iter().chain([(TLS_KEY, certificate.private_key_pem())]) {
        whole_file::write_secret(&folder.join(name), &text)?;
        report(folder, name)?;
    }
    for (name, text) in [(TLS_CRT, certificate.certificate_pem()), (CA_CRT, ca.certificate_pem())] {
        whole_file::write(&folder.join(name), &text)?;
        report(folder, name)?;
    }
    let until = rfc3339(certificate.validity().not_after());
    writeln!(anstream::stderr(), "valid until {until}")?;
    Ok(())
}

fn report(folder: &Path, name: &str) -> anyhow::Result<()> {
    Ok(writeln!(anstream::stderr(), "wrote {}", shown(&folder.join(name)))?)
}
