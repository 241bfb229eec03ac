//! Pages over TLS, for those who may read them: metrics in a cluster.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, request};
use hyper::body::Incoming;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::authorize::{Authorize, Permission, bearer, refusal};
use crate::bind::BindError;
use crate::connections::ConnectionState;
use crate::identity::IdentitySlot;
use crate::journal::TARGET;
use crate::metrics::{Metrics, Port};
use crate::pages::{Answered, PageListener, Pages, asked_for, converse, limits, page};
use crate::phase::Phase;
use crate::protocols::Protocols;
use crate::refusals::Refusals;

/// How long it may take to find out whether a page may be read: a scraper is patient for ten seconds.
const LONGEST_QUESTION: Duration = Duration::from_secs(8);

/// A listener that serves pages over TLS until it is dropped, each of them only to those who may read it.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct SecureServer(PageListener);

impl SecureServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on a thread of its own; `authorize` is asked on the
    /// runtime of the caller. It may be bound while `identity` is still empty: until there is one, handshakes fail.
    /// `metrics` count connections that find no room.
    pub async fn bind(
        address: SocketAddr,
        identity: &IdentitySlot,
        authorize: impl Authorize,
        pages: impl Pages,
        metrics: &Metrics,
    ) -> Result<Self, BindError> {
        let tls = identity.server_config(&Protocols::Http1).map_err(|error| BindError::Tls(error.to_string()))?;
        let (authorize, asking) = (Arc::new(authorize), Handle::current());
        let counter = Arc::new(Counter { tls: tls.into(), authorize, asking, pages });
        let serve = move |socket, state, phase| {
            let counter = Arc::clone(&counter);
            async move { counter.receive(socket, &state, phase).await }
        };
        PageListener::bind(address, Refusals::new(Port::Metrics, metrics.clone()), serve).await.map(Self)
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// Where pages are handed out.
struct Counter<Z, P> {
    tls: TlsAcceptor,
    authorize: Arc<Z>,
    /// Where it is asked: what it asks in turn has its connections there.
    asking: Handle,
    pages: P,
}

impl<Z: Authorize, P: Pages> Counter<Z, P> {
    async fn receive(&self, socket: TcpStream, state: &Arc<ConnectionState>, phase: watch::Receiver<Phase>) {
        // A socket that refuses this still works.
        let _ = socket.set_nodelay(true);
        match timeout(limits().handshake, self.tls.accept(socket)).await {
            Ok(Ok(stream)) => converse(stream, state, phase, |request| self.answer(request)).await,
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
        let (path, token) = (head.uri.path().to_owned(), bearer(&head.headers).map(str::to_owned));
        let authorize = Arc::clone(&self.authorize);
        // Who drops the set drops the question.
        let mut question = JoinSet::new();
        let asked = async move { authorize.may_read(&path, token.as_deref()).await };
        question.spawn_on(asked, &self.asking);
        // Neither a panic nor a silence grants anything.
        match timeout(LONGEST_QUESTION, question.join_next()).await {
            Ok(Some(Ok(permission))) => permission,
            Ok(Some(Err(_)) | None) | Err(_) => Permission::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::Instant;

    use super::*;

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
        let (authorize, asking) = (Arc::new(Silence), Handle::current());
        let counter = Counter { tls, authorize, asking, pages: Metrics::new("test") };
        let (head, ()) = Request::get("/metrics").body(()).unwrap().into_parts();
        let start = Instant::now();
        assert_eq!(counter.permission(&head).await, Permission::Unknown);
        assert_eq!(start.elapsed(), LONGEST_QUESTION);
    }
}
