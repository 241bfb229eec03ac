//! Pages over TLS, for those who may read them: metrics in a cluster.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, request};
use hyper::body::Incoming;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::authorize::{Authorize, Permission, bearer, refusal};
use crate::bind::BindError;
use crate::identity::IdentitySlot;
use crate::journal::TARGET;
use crate::pages::{Answered, PageListener, Pages, asked_for, converse, limits, page};
use crate::panics::caught;
use crate::phase::Phase;
use crate::protocols::Protocols;

/// How long it may take to find out whether a page may be read: a scraper is patient for ten seconds.
const LONGEST_QUESTION: Duration = Duration::from_secs(8);

/// A listener that serves pages over TLS until it is dropped, each of them only to those who may read it.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct SecureServer(PageListener);

impl SecureServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on the runtime of the caller. It may be bound
    /// while `identity` is still empty: until there is one, handshakes fail.
    pub async fn bind(
        address: SocketAddr,
        identity: &IdentitySlot,
        authorize: impl Authorize,
        pages: impl Pages,
    ) -> Result<Self, BindError> {
        let tls = identity.server_config(&Protocols::Http1).map_err(|error| BindError::Tls(error.to_string()))?;
        let counter = Arc::new(Counter { tls: tls.into(), authorize, pages });
        let receive = move |socket, phase| {
            let counter = Arc::clone(&counter);
            async move { counter.receive(socket, phase).await }
        };
        PageListener::bind(address, receive).await.map(Self)
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// Where pages are handed out.
struct Counter<Z, P> {
    tls: TlsAcceptor,
    authorize: Z,
    pages: P,
}

impl<Z: Authorize, P: Pages> Counter<Z, P> {
    async fn receive(&self, socket: TcpStream, phase: watch::Receiver<Phase>) {
        // A socket that refuses this still works.
        let _ = socket.set_nodelay(true);
        match timeout(limits().handshake, self.tls.accept(socket)).await {
            Ok(Ok(stream)) => converse(stream, phase, |request| self.answer(request)).await,
            Ok(Err(error)) => tracing::debug!(target: TARGET, %error, "TLS handshake for a page failed"),
            Err(_elapsed) => tracing::debug!(target: TARGET, "TLS handshake for a page took too long"),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answered {
        let (head, _body) = request.into_parts();
        if let Err(answer) = asked_for(&head, &self.pages) {
            return *answer;
        }
        match refusal(self.permission(&head).await) {
            Some(answer) => answer,
            None => page(&head, &self.pages),
        }
    }

    async fn permission(&self, head: &request::Parts) -> Permission {
        let (path, token) = (head.uri.path(), bearer(&head.headers));
        // Within the block, so that a panic before the first `await` is caught too.
        let question = caught(async { self.authorize.may_read(path, token).await });
        // Neither a panic nor a silence grants anything.
        match timeout(LONGEST_QUESTION, question).await {
            Ok(Ok(permission)) => permission,
            Ok(Err(_)) | Err(_) => Permission::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::Instant;

    use super::*;
    use crate::metrics::Metrics;

    /// Never answers.
    struct Silence;

    impl Authorize for Silence {
        async fn may_read(&self, _: &str, _: Option<&str>) -> Permission {
            pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_answers_is_given_up() {
        let tls = IdentitySlot::empty().server_config(&Protocols::Http1).unwrap().into();
        let counter = Counter { tls, authorize: Silence, pages: Metrics::new("test") };
        let (head, ()) = Request::get("/metrics").body(()).unwrap().into_parts();
        let start = Instant::now();
        assert_eq!(counter.permission(&head).await, Permission::Unknown);
        assert_eq!(start.elapsed(), LONGEST_QUESTION);
    }
}
