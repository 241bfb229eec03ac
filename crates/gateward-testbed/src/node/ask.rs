//! Asking a container: the network side of probes and hooks.

use std::net::Ipv4Addr;

use anyhow::{Context, bail};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::container::Inside;
use super::probe::{Check, Scheme};
use crate::tls::connect_unverified;

/// Asks once, however long it takes.
pub(crate) async fn ask(check: &Check, ip: Ipv4Addr, inside: &Inside) -> anyhow::Result<()> {
    let dial = async |host: &str, port| {
        let host = if host.is_empty() { ip.to_string() } else { host.to_owned() };
        TcpStream::connect((host, port)).await.context("no connection")
    };
    match check {
        Check::Tcp { host, port } => dial(host, *port).await.map(drop),
        Check::Exec(command) => inside.run(command).await,
        Check::Sleep(pause) => {
            tokio::time::sleep(*pause).await;
            Ok(())
        }
        Check::Http { scheme, host, port, path, headers } => {
            let socket = dial(host, *port).await?;
            let mut request = Request::get(path).header("host", format!("{ip}:{port}"));
            request = request.header("user-agent", "kube-probe/1.34").header("accept", "*/*");
            for (name, value) in headers {
                request = request.header(name, value);
            }
            let request = request.header("connection", "close").body(Empty::new())?;
            match scheme {
                Scheme::Http => get(socket, request).await,
                Scheme::Https => get(connect_unverified(socket, ip).await?, request).await,
            }
        }
    }
}

async fn get<S>(stream: S, request: Request<Empty<Bytes>>) -> anyhow::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    if status.is_success() || status.is_redirection() {
        return Ok(());
    }
    bail!("{status}: {}", String::from_utf8_lossy(&body))
}
