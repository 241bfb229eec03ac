//! The servers under load, each a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail};
use gateward_certs::{Ca, CommonName, IssuedCertificate, ServerNames, SystemKeys, TEN_YEARS, Validity};
use gateward_core::{Outcome, Review, ReviewResponse, WebhookError};
use gateward_server::{CertResolver, Identity, ReviewHandler, ReviewServer, ReviewTerms};

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(20);

/// The argument that makes this program the server that does nothing.
pub const NOTHING: &str = "--nothing";

/// What answers.
#[derive(Debug, Clone)]
pub enum Program {
    /// `gateward serve --local`, and what it logs.
    Gateward(PathBuf, LogLevel),
    /// A handler in the same shell that reads the body and answers a constant: this program, started once more.
    Nothing,
    /// The peer in Go under `testbed/peers`.
    ControllerRuntime(PathBuf),
}

/// What a server logs; it is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// A line for each review.
    Info,
    /// Nothing of a review that is allowed.
    Warn,
}

impl LogLevel {
    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
        }
    }
}

/// A server in a process of its own, which ends with this value.
pub struct ServerProcess {
    process: Child,
    /// Where it listens.
    pub address: SocketAddr,
    /// Whom its clients trust.
    pub ca_pem: String,
    /// Kept open: a program whose output nobody takes ends.
    _output: BufReader<ChildStdout>,
    /// What it reads its certificate from, or writes its CA to.
    _files: tempfile::TempDir,
}

impl ServerProcess {
    /// Starts a program and waits until it listens.
    pub fn start(program: &Program) -> anyhow::Result<Self> {
        let files = tempfile::tempdir()?;
        let ca = files.path().join("ca.crt");
        let mut known = None;
        let mut command = match program {
            Program::Gateward(program, level) => {
                let anywhere = "127.0.0.1:0";
                let mut command = Command::new(program);
                command.args(["serve", "--local", "--listen", anywhere, "--health-listen", anywhere]);
                command.args(["--metrics-listen", anywhere, "--log-level", level.name(), "--ca-out"]).arg(&ca);
                command
            }
            Program::Nothing => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg(NOTHING).arg(&ca);
                command
            }
            Program::ControllerRuntime(program) => {
                let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
                known = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
                write_certificate(files.path())?;
                let mut command = Command::new(program);
                command.args([format!("--port={port}"), format!("--cert-dir={}", files.path().display())]);
                command
            }
        };
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = process.with_context(|| format!("can't start {program:?}"))?;
        let mut output = BufReader::new(process.stdout.take().context("a server has an output")?);
        let address = known.map_or_else(|| printed_address(&mut output), Ok)?;
        let server = Self { process, address, ca_pem: std::fs::read_to_string(ca)?, _output: output, _files: files };
        server.await_listener()?;
        Ok(server)
    }

    fn await_listener(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            if started.elapsed() > START {
                bail!("nobody listens at {} after {START:?}", self.address);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It holds nothing that would have to be written.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The address that ends the first line of a server.
fn printed_address(output: &mut impl BufRead) -> anyhow::Result<SocketAddr> {
    let mut line = String::new();
    output.read_line(&mut line)?;
    line.trim().rsplit('/').next().unwrap_or_default().parse().context("the server did not start")
}

/// Writes `tls.crt`, `tls.key` and `ca.crt`.
fn write_certificate(folder: &Path) -> anyhow::Result<()> {
    let (ca, leaf) = certificate()?;
    std::fs::write(folder.join("tls.crt"), leaf.certificate_pem())?;
    std::fs::write(folder.join("tls.key"), leaf.private_key_pem())?;
    Ok(std::fs::write(folder.join("ca.crt"), ca.certificate_pem())?)
}

fn certificate() -> anyhow::Result<(Ca, IssuedCertificate)> {
    let validity = Validity::starting(SystemTime::now(), TEN_YEARS)?;
    let ca = Ca::new(&CommonName::new("gateward bench")?, validity, &SystemKeys)?;
    let leaf = ca.issue(&ServerNames::parse(["localhost"])?, validity, &SystemKeys)?;
    Ok((ca, leaf))
}

/// Answers every review with a constant, until the process is ended. Prints its address, and writes its CA to a file.
pub async fn serve_nothing(ca_out: &Path) -> anyhow::Result<()> {
    let (ca, leaf) = certificate()?;
    std::fs::write(ca_out, ca.certificate_pem())?;
    let server = ReviewServer::new(CertResolver::new(Identity::try_from(&leaf)?), DoesNothing::new()?);
    let bound = server.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "https://{}", bound.address())?;
    stdout.flush()?;
    let _serving = bound.serve();
    std::future::pending().await
}

/// Answers every review alike: with the record and the body of an allowed one.
struct DoesNothing(ReviewResponse);

impl DoesNothing {
    fn new() -> anyhow::Result<Self> {
        let mut answer = ReviewResponse::error(WebhookError::Overloaded);
        answer.status = 200;
        answer.decision.outcome = Outcome::Allowed;
        answer.decision.review = Some(Review::Validate);
        answer.body = serde_json::to_vec(&serde_json::json!({
            "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "response": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": true},
        }))?;
        Ok(Self(answer))
    }
}

impl ReviewHandler for DoesNothing {
    type Route = Review;

    fn route(&self, path: &str) -> Option<Review> {
        // The route decides how large a body may be.
        Some(if path == "/convert" { Review::Convert } else { Review::Validate })
    }

    async fn handle(&self, _: Review, _: &[u8], _: ReviewTerms) -> ReviewResponse {
        self.0.clone()
    }
}
