//! Listening as the API server does, with its certificate, for TLS.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Begins to take connections, for ever. The folder is the bed's.
pub(crate) async fn listen<H, F>(address: SocketAddr, folder: &Path, handle: H) -> anyhow::Result<()>
where
    H: Fn(TlsStream<TcpStream>, SocketAddr) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let (acceptor, handle) = (acceptor(folder)?, Arc::new(handle));
    tokio::spawn(async move {
        loop {
            let Ok((socket, peer)) = listener.accept().await else { continue };
            let (acceptor, handle) = (acceptor.clone(), Arc::clone(&handle));
            tokio::spawn(async move {
                // Slower, and good all the same.
                let _ = socket.set_nodelay(true);
                // A peer that hangs up needs no answer.
                if let Ok(stream) = acceptor.accept(socket).await {
                    handle(stream, peer).await;
                }
            });
        }
    });
    Ok(())
}

fn acceptor(folder: &Path) -> anyhow::Result<TlsAcceptor> {
    let certificate = CertificateDer::from_pem_file(folder.join("api.crt"))?;
    let key = PrivateKeyDer::from_pem_file(folder.join("api.key"))?;
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
