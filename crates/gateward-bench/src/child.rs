//! The servers under load, each a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child as Process, Command, Stdio};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use dynamo_webhooks::ClusterFacts;
use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
use gateward_core::{Facts, Review, ReviewResponse, WebhookError};
use gateward_server::{CertResolver, Identity, ReviewHandler, ReviewServer, WebhooksHandler};

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    /// The Dynamo Operator's webhooks.
    Webhooks,
    /// Nothing: the body is read and the answer is a constant.
    Nothing,
}

impl Handler {
    /// The handler that a child process was started with.
    pub fn parse(argument: &str) -> Option<Self> {
        [Self::Webhooks, Self::Nothing].into_iter().find(|handler| handler.argument() == argument)
    }

    const fn argument(self) -> &'static str {
        match self {
            Self::Webhooks => "--child-webhooks",
            Self::Nothing => "--child-nothing",
        }
    }
}

/// A server in a process of its own, which ends with this value.
pub struct Child {
    process: Process,
    /// Where it listens.
    pub address: SocketAddr,
    /// Whom its clients trust.
    pub ca_pem: String,
}

impl Child {
    /// Starts this very program as a server and waits until it listens.
    pub fn start(handler: Handler) -> anyhow::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(handler.argument())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().context("a child has an output")?;
        let mut lines = BufReader::new(output).lines();
        let Some(address) = lines.next().transpose()? else { bail!("the server did not start") };
        let ca_pem = lines.map_while(Result::ok).take_while(|line| line != ".").collect::<Vec<_>>().join("\n");
        Ok(Self { process, address: address.parse()?, ca_pem })
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It holds nothing that would have to be written.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves until the parent closes our input.
pub async fn serve(handler: Handler) -> anyhow::Result<()> {
    let validity = Validity::starting(SystemTime::now(), TEN_YEARS)?;
    let ca = Ca::new(&CommonName::new("gateward bench")?, validity, &SystemKeys)?;
    let leaf = ca.issue(&ServerNames::parse(["localhost"])?, validity, &SystemKeys)?;
    let certificate = CertResolver::new(Identity::try_from(&leaf)?);
    let facts: Arc<dyn Facts> = Arc::new(ClusterFacts::default());
    match handler {
        Handler::Webhooks => {
            let webhooks = Arc::new(dynamo_webhooks::webhooks());
            until_closed(
                ReviewServer::new(certificate, WebhooksHandler::new(webhooks, move || Arc::clone(&facts))),
                &ca,
            )
            .await
        }
        Handler::Nothing => until_closed(ReviewServer::new(certificate, DoesNothing::new()?), &ca).await,
    }
}

async fn until_closed<A: ReviewHandler>(server: ReviewServer<A>, ca: &Ca) -> anyhow::Result<()> {
    let bound = server.bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let address = bound.address();
    let serving = bound.serve();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{address}\n{}\n.", ca.certificate_pem().trim_end())?;
    stdout.flush()?;
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
    drop(serving);
    Ok(())
}

/// Answers every review alike: with the record and the body of an allowed one.
struct DoesNothing(ReviewResponse);

impl DoesNothing {
    fn new() -> anyhow::Result<Self> {
        let mut answer = ReviewResponse::error(WebhookError::Overloaded);
        answer.status = 200;
        answer.decision.outcome = gateward_core::Outcome::Allowed;
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

    async fn handle(&self, _: Review, _: &[u8], _: SystemTime) -> ReviewResponse {
        self.0.clone()
    }
}
