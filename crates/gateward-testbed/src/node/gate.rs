//! The way of Pods to the API server: the Service `kubernetes`, behind which watches can be slow.
//!
//! TLS ends here, with the API server's own certificate, and begins anew. Who somebody is stays as it is: Pods show
//! tokens, never certificates.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::{Request, Response, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;

use super::listen::listen;
use crate::client::Client;

/// The Service `kubernetes`.
const SERVICE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 96, 0, 1)), 443);

type Answer = Response<BoxBody<Bytes, hyper::Error>>;

/// How late the events of watches are delivered: to a Pod by its address, and without one to all that have none of their
/// own.
#[derive(Clone, Debug)]
pub(crate) struct Delays(watch::Sender<BTreeMap<Option<Ipv4Addr>, Duration>>);

impl Delays {
    pub(crate) fn none() -> Self {
        Self(watch::Sender::new(BTreeMap::new()))
    }

    pub(crate) fn set(&self, pod: Option<Ipv4Addr>, delay: Duration) {
        self.0.send_modify(|delays| {
            delays.insert(pod, delay);
        });
    }

    fn of(&self, pod: IpAddr) -> Duration {
        let delays = self.0.borrow();
        let own = match pod {
            IpAddr::V4(pod) => delays.get(&Some(pod)),
            IpAddr::V6(_) => None,
        };
        own.or_else(|| delays.get(&None)).copied().unwrap_or_default()
    }

    /// Waits until something that came at an instant may be delivered.
    async fn pass(&self, pod: IpAddr, came: Instant) {
        let mut changes = self.0.subscribe();
        loop {
            let due = came + self.of(pod);
            tokio::select! {
                () = tokio::time::sleep_until(due) => return,
                _ = changes.changed() => {}
            }
        }
    }
}

/// When events came for the first time: a watch that is resumed gets the same events again, and must not wait for
/// it from the beginning.
#[derive(Debug, Default)]
struct Arrivals(std::sync::Mutex<HashMap<u64, Instant>>);

impl Arrivals {
    /// So many are remembered at most, and for so long where there are more.
    const MANY: usize = 2_000;
    const LONG: Duration = Duration::from_mins(5);

    fn first(&self, event: &[u8], now: Instant) -> Instant {
        let mut hasher = DefaultHasher::new();
        event.hash(&mut hasher);
        let mut known = self.0.lock().unwrap();
        if known.len() > Self::MANY {
            known.retain(|_, came| now.duration_since(*came) < Self::LONG);
        }
        *known.entry(hasher.finish()).or_insert(now)
    }
}

/// Takes connections of Pods, for ever.
pub(crate) async fn open(client: Client, folder: &Path, delays: Delays) -> anyhow::Result<()> {
    let arrivals = Arc::<Arrivals>::default();
    listen(SERVICE, folder, move |stream, peer| {
        let (client, delays, arrivals) = (client.clone(), delays.clone(), Arc::clone(&arrivals));
        Passage { client, pod: peer.ip(), delays, arrivals }.serve(stream)
    })
    .await
}

/// One connection of a Pod.
#[derive(Clone)]
struct Passage {
    client: Client,
    pod: IpAddr,
    delays: Delays,
    arrivals: Arc<Arrivals>,
}

impl Passage {
    async fn serve(self, stream: TlsStream<TcpStream>) {
        let behind = Mutex::new(None);
        let service = service_fn(|request| self.forward(request, &behind));
        // A Pod that hangs up, or an API server that isn't there, ends the connection, and that is all.
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    }

    async fn forward(
        &self,
        request: Request<Incoming>,
        behind: &Mutex<Option<SendRequest<Incoming>>>,
    ) -> anyhow::Result<Answer> {
        let watches = watches(request.uri());
        let mut behind = behind.lock().await;
        let mut connection = match rested(behind.take()).await {
            Some(connection) => connection,
            None => connect(&self.client).await?,
        };
        let answer = connection.send_request(request).await?;
        *behind = Some(connection);
        let watches = watches && answer.status().is_success();
        Ok(if watches { answer.map(|body| self.delayed(body)) } else { answer.map(BodyExt::boxed) })
    }

    /// The same body, an event after the other, each of them later. It is read at once, so that the delay is counted
    /// from when an event comes.
    fn delayed(&self, mut body: Incoming) -> BoxBody<Bytes, hyper::Error> {
        let (keep, kept) = mpsc::unbounded_channel();
        let arrivals = Arc::clone(&self.arrivals);
        tokio::spawn(async move {
            let mut read = BytesMut::new();
            loop {
                let frame = tokio::select! {
                    frame = body.frame() => frame,
                    // The Pod has hung up.
                    () = keep.closed() => return,
                };
                // Half an event is of no use, nor is the news that an answer has broken off.
                let Some(Ok(frame)) = frame else { return };
                read.extend_from_slice(frame.data_ref().map_or(&[], Bytes::as_ref));
                while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                    let event = read.split_to(end + 1).freeze();
                    if keep.send((arrivals.first(&event, Instant::now()), event)).is_err() {
                        return;
                    }
                }
            }
        });
        let (pod, delays) = (self.pod, self.delays.clone());
        let frames = stream::unfold((kept, delays), move |(mut kept, delays)| async move {
            let (came, event) = kept.recv().await?;
            delays.pass(pod, came).await;
            Some((Ok(Frame::data(event)), (kept, delays)))
        });
        BodyExt::boxed(StreamBody::new(frames))
    }
}

/// The connection, if it is still good.
async fn rested(connection: Option<SendRequest<Incoming>>) -> Option<SendRequest<Incoming>> {
    let mut connection = connection?;
    connection.ready().await.is_ok().then_some(connection)
}

async fn connect(client: &Client) -> anyhow::Result<SendRequest<Incoming>> {
    let (sender, connection) = http1::handshake(TokioIo::new(client.open().await?)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Whether a request is a watch.
fn watches(uri: &Uri) -> bool {
    uri.query().unwrap_or_default().split('&').any(|pair| ["watch=true", "watch=1", "watch"].contains(&pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_of_a_pod_wins_over_that_of_all() {
        let (one, other) = (Ipv4Addr::new(10, 244, 0, 2), Ipv4Addr::new(10, 244, 0, 3));
        let delays = Delays::none();
        assert_eq!(delays.of(one.into()), Duration::ZERO);
        delays.set(None, Duration::from_secs(2));
        delays.set(Some(one), Duration::ZERO);
        assert_eq!(delays.of(one.into()), Duration::ZERO);
        assert_eq!(delays.of(other.into()), Duration::from_secs(2));
    }

    #[tokio::test]
    async fn a_delay_that_is_taken_away_holds_nothing_back() {
        let (delays, pod) = (Delays::none(), IpAddr::V4(Ipv4Addr::new(10, 244, 0, 2)));
        delays.set(None, Duration::from_hours(1));
        let came = Instant::now();
        let taken_away = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            delays.set(None, Duration::ZERO);
        };
        tokio::join!(delays.pass(pod, came), taken_away);
        assert!(came.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn an_event_that_is_told_again_came_when_it_was_told_first() {
        let (arrivals, first) = (Arrivals::default(), Instant::now());
        let later = first + Duration::from_secs(9);
        assert_eq!(arrivals.first(b"otter", first), first);
        assert_eq!(arrivals.first(b"otter", later), first);
        assert_eq!(arrivals.first(b"heron", later), later);
    }

    #[test]
    fn knows_a_watch_by_its_query() {
        let watch = |uri: &str| watches(&uri.parse().unwrap());
        assert!(watch("/api/v1/secrets?allowWatchBookmarks=true&watch=true"));
        assert!(watch("/api/v1/secrets?watch=1"));
        assert!(!watch("/api/v1/secrets?watch=false&labelSelector=watch%3Dtrue"));
        assert!(!watch("/api/v1/secrets"));
    }
}
