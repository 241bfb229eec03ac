//! A small client of the API server: JSON over connections that are kept.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// No answer takes longer: the API server itself gives up after a minute.
const PATIENCE: Duration = Duration::from_secs(70);

type Connection = SendRequest<Full<Bytes>>;

/// Sends requests as one user.
#[derive(Clone)]
pub struct Client {
    line: Arc<Line>,
    impersonated: Option<Arc<str>>,
}

/// Where the server is, how it is trusted, and the connections that are not in use.
struct Line {
    address: SocketAddr,
    name: ServerName<'static>,
    connector: TlsConnector,
    authorization: String,
    idle: Mutex<Vec<Connection>>,
}

/// An answer of the API server.
#[derive(Debug, Clone)]
pub struct Response {
    /// The HTTP status.
    pub status: StatusCode,
    /// An object, a list or a `Status`; a string where it was no JSON.
    pub body: Value,
    /// The texts of the `Warning` headers, as they stand there.
    pub warnings: Vec<String>,
}

impl Client {
    /// A client of the API server that trusts one CA and shows a token.
    pub(crate) fn new(address: SocketAddr, ca_pem: &str, token: &str) -> anyhow::Result<Self> {
        Self::of("kubernetes", address, ca_pem, token)
    }

    /// A client of another server, of this name.
    pub fn of(name: &str, address: SocketAddr, ca_pem: &str, token: &str) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes())?)?;
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let line = Line {
            address,
            name: ServerName::try_from(name.to_owned())?,
            connector: TlsConnector::from(Arc::new(config)),
            authorization: format!("Bearer {token}"),
            idle: Mutex::default(),
        };
        Ok(Self { line: Arc::new(line), impersonated: None })
    }

    /// The same client in the name of somebody else, who may do everything all the same.
    pub fn acting_as(&self, user: &str) -> Self {
        Self { line: Arc::clone(&self.line), impersonated: Some(user.into()) }
    }

    /// Reads an object or a list.
    pub async fn get(&self, path: &str) -> anyhow::Result<Response> {
        self.send(Method::GET, path, "", None).await
    }

    /// Creates an object in a collection.
    pub async fn post(&self, path: &str, object: &Value) -> anyhow::Result<Response> {
        self.send(Method::POST, path, "application/json", Some(object)).await
    }

    /// Replaces an object.
    pub async fn put(&self, path: &str, object: &Value) -> anyhow::Result<Response> {
        self.send(Method::PUT, path, "application/json", Some(object)).await
    }

    /// Changes an object by a JSON merge patch.
    pub async fn merge(&self, path: &str, patch: &Value) -> anyhow::Result<Response> {
        self.send(Method::PATCH, path, "application/merge-patch+json", Some(patch)).await
    }

    /// The same with a patch that is text already: one that nests too deeply for a tree.
    pub async fn merge_text(&self, path: &str, patch: String) -> anyhow::Result<Response> {
        self.exchange(Method::PATCH, path, "application/merge-patch+json", Some(patch)).await
    }

    /// Changes an object by a JSON patch.
    pub async fn patch(&self, path: &str, operations: &Value) -> anyhow::Result<Response> {
        self.send(Method::PATCH, path, "application/json-patch+json", Some(operations)).await
    }

    /// Applies a part of an object on the server's side. The path's query names the field manager.
    pub async fn apply(&self, path: &str, part: &Value) -> anyhow::Result<Response> {
        self.send(Method::PATCH, path, "application/apply-patch+yaml", Some(part)).await
    }

    /// Deletes an object or a collection.
    pub async fn delete(&self, path: &str) -> anyhow::Result<Response> {
        self.send(Method::DELETE, path, "", None).await
    }

    /// Deletes an object as `DeleteOptions` say.
    pub async fn delete_with(&self, path: &str, options: &Value) -> anyhow::Result<Response> {
        self.send(Method::DELETE, path, "application/json", Some(options)).await
    }

    /// Begins to read an answer that goes on for long.
    pub(crate) async fn stream(&self, path: &str) -> anyhow::Result<http::Response<Incoming>> {
        let request = self.request(Method::GET, path, "", None)?;
        let answered = tokio::time::timeout(PATIENCE, async {
            let mut connection = handshake(self.open().await?).await?;
            Ok::<_, anyhow::Error>(connection.send_request(request).await?)
        });
        answered.await.context("no answer").flatten().with_context(|| format!("GET {path}"))
    }

    /// A new connection to the server.
    pub(crate) async fn open(&self) -> anyhow::Result<TlsStream<TcpStream>> {
        self.line.open().await
    }

    async fn send(&self, method: Method, path: &str, kind: &str, body: Option<&Value>) -> anyhow::Result<Response> {
        self.exchange(method, path, kind, body.map(Value::to_string)).await
    }

    async fn exchange(&self, method: Method, path: &str, kind: &str, body: Option<String>) -> anyhow::Result<Response> {
        let about = format!("{method} {path}");
        let request = self.request(method, path, kind, body)?;
        let answered = tokio::time::timeout(PATIENCE, self.line.exchange(request));
        answered.await.context("no answer").flatten().with_context(|| about)
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        kind: &str,
        body: Option<String>,
    ) -> anyhow::Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(method).uri(path).header("host", "kubernetes");
        request = request.header("authorization", &self.line.authorization).header("accept", "application/json");
        if let Some(user) = &self.impersonated {
            request = request.header("impersonate-user", user.as_ref()).header("impersonate-group", "system:masters");
        }
        if body.is_some() {
            request = request.header("content-type", kind);
        }
        Ok(request.body(Full::new(Bytes::from(body.unwrap_or_default())))?)
    }
}

impl Line {
    async fn exchange(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Response> {
        let mut connection = self.connection().await?;
        let (head, body) = connection.send_request(request).await?.into_parts();
        let bytes = body.collect().await?.to_bytes();
        self.idle.lock().unwrap().push(connection);
        let warnings = head.headers.get_all("warning").iter();
        Ok(Response {
            status: head.status,
            body: serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned())),
            warnings: warnings.map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned()).collect(),
        })
    }

    /// One that is still good, or a new one.
    async fn connection(&self) -> anyhow::Result<Connection> {
        while let Some(mut connection) = self.rested() {
            if connection.ready().await.is_ok() {
                return Ok(connection);
            }
        }
        handshake(self.open().await?).await
    }

    async fn open(&self) -> anyhow::Result<TlsStream<TcpStream>> {
        let socket = TcpStream::connect(self.address).await?;
        socket.set_nodelay(true)?;
        Ok(self.connector.connect(self.name.clone(), socket).await?)
    }

    fn rested(&self) -> Option<Connection> {
        self.idle.lock().unwrap().pop()
    }
}

async fn handshake(stream: TlsStream<TcpStream>) -> anyhow::Result<Connection> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

impl Response {
    /// The object, where the server granted the request; its complaint otherwise.
    pub fn granted(self) -> anyhow::Result<Value> {
        if self.status.is_success() {
            return Ok(self.body);
        }
        anyhow::bail!("{}: {}", self.status, self.body["message"].as_str().unwrap_or_default())
    }
}
