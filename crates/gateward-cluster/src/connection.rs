//! The way to the API server.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use http::header::{DATE, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use k8s_openapi::jiff::fmt::rfc2822;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tower::service_fn;
use tower::timeout::{Timeout, TimeoutLayer};
use tower::util::{MapResponse, MapResponseLayer};

use crate::request::with_read_timeout;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// How long the API server may take to take a request in.
const WRITE: Duration = Duration::from_secs(30);
/// How long the head of an answer may take: an API server ends a request after a minute. A watch begins to answer at once.
const ANSWER: Duration = Duration::from_secs(65);
/// How long an answer may rest on its way. An API server ends the watches of ours after half a minute.
const READ: Duration = Duration::from_mins(5);
/// In a Pod, this is set.
const IN_CLUSTER: &str = "KUBERNETES_SERVICE_HOST";
/// Where people name their kubeconfig.
const KUBECONFIG: &str = "KUBECONFIG";

/// A connection to the API server, cheap to clone. It remembers what the API server's clock said last.
///
/// A request is sent once: the caller decides whether to retry. One without an answer is an error after 65 seconds, such
/// as where a load balancer has lost the connection; a caller that can't wait so long sets a timeout of its own.
#[derive(Clone)]
pub struct Connection {
    client: Client,
    clock: Arc<ServerClock>,
    /// Whose credentials it has, for people.
    user: Arc<str>,
}

impl Connection {
    /// To the cluster that `KUBECONFIG` names; without that variable, the one that this process runs in; outside of
    /// any, the one of `~/.kube/config`.
    ///
    /// Nothing is sent yet. The user agent appears in the API server's audit log, as `gateward/0.1.0`.
    pub async fn connect(user_agent: &str) -> Result<Self, ConnectionError> {
        let (config, user) = configuration().await?;
        Self::with(config, &user, user_agent)
    }

    /// To the cluster that a kubeconfig names.
    pub async fn of_kubeconfig(file: &Path, user_agent: &str) -> Result<Self, ConnectionError> {
        let kubeconfig = Kubeconfig::read_from(file).map_err(unreadable)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Self::with(config.map_err(unreadable)?, &user_of(Some(file)), user_agent)
    }

    /// Through a client that is already there, with its user agent, retries and timeouts.
    pub fn of_client(client: Client) -> Self {
        let clock = Arc::new(ServerClock::default());
        let namespace = client.default_namespace().to_owned();
        let through = service_fn(move |request| {
            let client = client.clone();
            async move { client.send(request).await }
        });
        let observed = MapResponse::new(Timeout::new(through, ANSWER), observer(&clock));
        Self { client: Client::new(observed, namespace), clock, user: "the client".into() }
    }

    pub(crate) fn with(mut config: Config, user: &str, user_agent: &str) -> Result<Self, ConnectionError> {
        let agent = HeaderValue::from_str(user_agent).map_err(|_| ConnectionError::UserAgent)?;
        config.headers.push((USER_AGENT, agent));
        (config.connect_timeout, config.write_timeout, config.read_timeout) = (Some(CONNECT), Some(WRITE), Some(READ));
        config.default_retry = false;
        // A library of TLS that finds two cryptographies in the process asks for this choice.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let clock = Arc::new(ServerClock::default());
        let listen = MapResponseLayer::new(observer(&clock));
        let builder = ClientBuilder::try_from(config).map_err(|why| ConnectionError::Client(Box::new(why)))?;
        Ok(Self {
            client: builder.with_layer(&TimeoutLayer::new(ANSWER)).with_layer(&listen).build(),
            clock,
            user: user.into(),
        })
    }

    /// Whether the API server answers, and knows the user: a command can then say it once, instead of at each request.
    /// What the user may do is another question.
    ///
    /// # Errors
    ///
    /// The API server isn't reached, or refuses the credentials.
    pub async fn verify(&self) -> Result<(), ConnectionError> {
        let Err(why) = with_read_timeout(self.client.apiserver_version()).await else { return Ok(()) };
        match why.code() {
            None => Err(ConnectionError::Unreachable(why.to_string())),
            Some(401) => Err(ConnectionError::Unauthenticated { user: self.user.to_string() }),
            // A user that it knows may be forbidden this, and be allowed the rest.
            Some(_) => Ok(()),
        }
    }

    /// The client, for requests of any kind.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// What the API server's clock says now: the `Date` of its last answer, and the time that has passed since.
    ///
    /// It counts whole seconds.
    pub fn api_server_time(&self) -> Option<SystemTime> {
        self.clock.now(Instant::now())
    }

    /// The present time by the API server's clock; by ours before its first answer.
    ///
    /// The API server's clock counts, since it dates what is in the cluster, such as when a Pod is to be gone, and
    /// since API servers check our certificate's dates by it. Our node's clock may be wrong.
    pub(crate) fn now(&self) -> SystemTime {
        self.api_server_time().unwrap_or_else(SystemTime::now)
    }
}

/// Has the clock learn from each response.
fn observer<B>(clock: &Arc<ServerClock>) -> impl Fn(http::Response<B>) -> http::Response<B> + Clone + use<B> {
    let clock = Arc::clone(clock);
    move |response| {
        clock.observe(response.headers(), Instant::now());
        response
    }
}

/// The API server's clock, by the `Date` of its last answer.
#[derive(Debug, Default)]
struct ServerClock(Mutex<Option<(SystemTime, Instant)>>);

impl ServerClock {
    fn observe(&self, headers: &HeaderMap, at: Instant) {
        if let Some(date) = headers.get(DATE).and_then(|date| date.to_str().ok()).and_then(read_date) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((date, at));
        }
    }

    fn now(&self, now: Instant) -> Option<SystemTime> {
        let (date, at) = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(date + now.saturating_duration_since(at))
    }
}

/// Reads the form of dates that HTTP prescribes, which is one of RFC 2822.
fn read_date(text: &str) -> Option<SystemTime> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok().map(SystemTime::from)
}

async fn configuration() -> Result<(Config, String), ConnectionError> {
    let in_cluster = std::env::var_os(IN_CLUSTER).is_some() && std::env::var_os(KUBECONFIG).is_none();
    if in_cluster {
        let config = Config::incluster().map_err(|why| ConnectionError::InCluster(Box::new(why)))?;
        return Ok((config, "the ServiceAccount of this Pod".to_owned()));
    }
    let config = Config::from_kubeconfig(&KubeConfigOptions::default()).await.map_err(unreadable)?;
    Ok((config, user_of(None)))
}

/// The user of a kubeconfig; without a file, of the one that is usual here.
pub(crate) fn user_of(file: Option<&Path>) -> String {
    let usual = || std::env::var_os(KUBECONFIG).map_or_else(|| "~/.kube/config".into(), PathBuf::from);
    format!("the kubeconfig {}", file.map_or_else(usual, Path::to_owned).display())
}

pub(crate) fn unreadable(why: kube::config::KubeconfigError) -> ConnectionError {
    ConnectionError::Kubeconfig(Box::new(why))
}

/// Why there is no way to the API server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The kubeconfig can't be used.
    #[error("no API server to talk to: {0}; set KUBECONFIG to a file that names one")]
    Kubeconfig(Box<kube::config::KubeconfigError>),
    /// What a Pod is given can't be used.
    #[error("the ServiceAccount's token or CA can't be read: {0}; let the Pod mount them")]
    InCluster(Box<kube::config::InClusterError>),
    /// No answer comes.
    #[error("the API server can't be asked: {0}")]
    Unreachable(String),
    /// The API server answers 401.
    #[error(
        "the API server refuses the credentials of {user} (401 Unauthorized): its token or certificate is wrong or has \
         expired; sign in again, or name a kubeconfig with valid ones"
    )]
    Unauthenticated {
        /// Whose credentials they are.
        user: String,
    },
    /// The user agent can't stand in a header.
    #[error("the user agent holds characters that no header takes")]
    UserAgent,
    /// The configuration contradicts itself.
    #[error("no client can be made of the configuration: {0}")]
    Client(Box<kube::Error>),
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;

    use kube::client::Body;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_without_an_answer_times_out() {
        let silent = service_fn(|_: http::Request<Body>| pending::<Result<http::Response<Body>, Infallible>>());
        let connection = Connection::of_client(Client::new(silent, "default"));
        let start = tokio::time::Instant::now();
        let why = connection.client().apiserver_version().await.unwrap_err().to_string();
        assert_eq!(start.elapsed().as_secs(), ANSWER.as_secs(), "{why}");
    }

    fn dated(date: &'static str) -> HeaderMap {
        [(DATE, HeaderValue::from_static(date))].into_iter().collect()
    }

    #[test]
    fn the_api_servers_time_goes_on_between_two_answers() {
        let (clock, start) = (ServerClock::default(), Instant::now());
        assert_eq!(clock.now(start), None);
        clock.observe(&dated("Fri, 15 Jan 2027 08:00:00 GMT"), start);
        let then = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        assert_eq!(clock.now(start + Duration::from_secs(3)), Some(then + Duration::from_secs(3)));
    }

    #[test]
    fn an_answer_without_a_readable_date_changes_nothing() {
        let (clock, start) = (ServerClock::default(), Instant::now());
        clock.observe(&dated("Fri, 15 Jan 2027 08:00:00 GMT"), start);
        let before = clock.now(start);
        clock.observe(&dated("yesterday"), start);
        clock.observe(&HeaderMap::new(), start);
        assert_eq!(clock.now(start), before);
    }
}
