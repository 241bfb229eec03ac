//! Ports of Pods, for `kubectl port-forward`.
//!
//! API servers ask a kubelet in SPDY/3.1, whatever clients speak. A program of the test bed that consists of kubelet's own
//! code answers them; here a request only gets to it.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use anyhow::Context;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use super::answer::{Answer, error};
use super::entry::Entry;

/// The program in the network of a Pod. It ends when this is dropped.
struct Forwarder(Child);

impl Drop for Forwarder {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Answers one request, and forwards as long as the API server keeps the connection.
pub(crate) async fn answer(pod: &Entry, request: Request<Incoming>) -> Answer {
    forward(pod, request)
        .await
        .unwrap_or_else(|failure| error(StatusCode::INTERNAL_SERVER_ERROR, format!("{failure:#}\n")))
}

async fn forward(pod: &Entry, mut request: Request<Incoming>) -> anyhow::Result<Answer> {
    let (forwarder, connection) = start(pod)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(connection)).await?;
    tokio::spawn(connection.with_upgrades());
    let api_server = hyper::upgrade::on(&mut request);
    let mut answer = sender.send_request(request.map(|_| Empty::<Bytes>::new())).await?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        let (head, body) = answer.into_parts();
        return Ok(Response::from_parts(head, Full::new(body.collect().await?.to_bytes()).boxed()));
    }
    let program = hyper::upgrade::on(&mut answer);
    tokio::spawn(async move {
        if let (Ok(api_server), Ok(program)) = tokio::join!(api_server, program) {
            // Who hangs up has had enough.
            let _ = copy_bidirectional(&mut TokioIo::new(api_server), &mut TokioIo::new(program)).await;
        }
        drop(forwarder);
    });
    Ok(answer.map(|_| Full::default().boxed()))
}

/// Starts the program, with a connection as its input.
fn start(pod: &Entry) -> anyhow::Result<(Forwarder, tokio::net::UnixStream)> {
    let (ours, its) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = {
        let running = pod.running.lock().unwrap();
        let inside = running.values().next().context("no container of the Pod is running")?;
        inside.beside(pod.node.port_forward.as_os_str())
    };
    let log = pod.node.log.lock().unwrap().try_clone()?;
    let forwarder = Forwarder(command.stdin(OwnedFd::from(its)).stdout(Stdio::null()).stderr(log).spawn()?);
    Ok((forwarder, tokio::net::UnixStream::from_std(ours)?))
}
