//! A certificate that somebody else writes into a directory, as kubelet does with a Secret, reloaded when it changes.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gateward_certs::secret::{InvalidField, SecretData, ServingCertificate, TLS_CRT, TLS_KEY};
use gateward_server::{ClusterMetrics, Readiness, ReportLine, WaitGuard};
use tokio::sync::watch;

/// How often the files are read. A certificate is renewed long before its end.
const INTERVAL: Duration = Duration::from_secs(2);

/// How much of a file is read. A chain takes some thousand bytes.
const LONGEST: u64 = 1024 * 1024;

/// The name of the wait and of the report.
const NAME: &str = "certificates";

/// Where words for people who look for the rotation of certificates are found.
const TARGET: &str = "cert-rotation";

/// The names of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PairNames {
    certificate: &'static str,
    key: &'static str,
}

/// Those of a Secret of the type `kubernetes.io/tls`.
const OF_SECRET: PairNames = PairNames { certificate: TLS_CRT, key: TLS_KEY };
/// Those of an aggregated API server, which OLM gives to webhooks too.
const OF_API_SERVER: PairNames = PairNames { certificate: "apiserver.crt", key: "apiserver.key" };

/// A directory with `tls.crt` and `tls.key`, or with `apiserver.crt` and `apiserver.key`.
pub(super) struct CertificateDir {
    pub(super) path: PathBuf,
    pub(super) readiness: Readiness,
    pub(super) metrics: ClusterMetrics,
}

impl CertificateDir {
    /// Sends each certificate that is written, for as long as somebody listens. What can't be served is reported, and
    /// changes nothing: the files of a pair may be written one after the other.
    pub(super) async fn follow(&self, certificates: &watch::Sender<Option<ServingCertificate>>) {
        let first = format!("no certificate in {} yet", self.path.display());
        let mut waiting = Some(self.readiness.wait_for(NAME, first));
        let (mut sent, mut fault) = (None, None);
        while !certificates.is_closed() {
            let (files, current) = (self.read().await, certificates.borrow().clone());
            let found = match files {
                Ok(files) if sent.as_ref() == Some(&files) => Ok(None),
                Ok(files) => self.readable(&files, current.as_ref()).map(|certificate| Some((files, certificate))),
                Err(why) => Err(why),
            };
            let now = match found {
                Ok(None) => None,
                Ok(Some((files, certificate))) => {
                    self.metrics.serving_certificate_expires(Some(certificate.validity().not_after()));
                    certificates.send_replace(Some(certificate));
                    (waiting, sent) = (None, Some(files));
                    None
                }
                Err(why) => Some(why),
            };
            if now != fault {
                self.report(now.as_deref(), waiting.as_ref());
                fault = now;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn read(&self) -> Result<SecretData, String> {
        let path = self.path.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let file =
                |name: &str| bounded(&path.join(name)).map_err(|why| format!("{}: {why}", path.join(name).display()));
            let PairNames { certificate, key } = names_in(&path);
            Ok(SecretData::default().with(TLS_CRT, file(certificate)?).with(TLS_KEY, file(key)?))
        });
        reading.await.unwrap_or_else(|why| Err(why.to_string()))
    }

    /// The certificate in the files, unless the one before is the better one.
    fn readable(&self, files: &SecretData, before: Option<&ServingCertificate>) -> Result<ServingCertificate, String> {
        let certificate = ServingCertificate::read(files, "")
            .map_err(|InvalidField { field, error, .. }| format!("{}: {error}", self.file(field).display()))?;
        let now = SystemTime::now();
        let is_valid = |it: &ServingCertificate| it.validity().contains(now);
        if !is_valid(&certificate) && before.is_some_and(is_valid) {
            return Err(format!(
                "{}: the certificate is not valid at present; the one before stays",
                self.path.display()
            ));
        }
        Ok(certificate)
    }

    /// The file that a field of the pair was read from.
    fn file(&self, field: &str) -> PathBuf {
        let PairNames { certificate, key } = names_in(&self.path);
        self.path.join(if field == TLS_KEY { key } else { certificate })
    }

    fn report(&self, fault: Option<&str>, waiting: Option<&WaitGuard>) {
        let Some(why) = fault else { return self.readiness.report(NAME, Vec::new()) };
        self.metrics.reload_failed();
        tracing::error!(target: TARGET, why, "the certificate can't be served");
        match waiting {
            Some(waiting) => waiting.update(why),
            None => self.readiness.report(NAME, vec![ReportLine::Warning(why.to_owned())]),
        }
    }
}

/// Which files of the directory are the pair.
fn names_in(directory: &Path) -> PairNames {
    let has = |name: &str| directory.join(name).exists();
    if !has(OF_SECRET.certificate) && has(OF_API_SERVER.certificate) { OF_API_SERVER } else { OF_SECRET }
}

fn bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut content)?;
    Ok(content)
}
