//! From the head of a request to its response.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use gateward_core::{Review, ReviewObserver, ReviewResponse, SpareThread, WebhookError};
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode, Version, request};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use crate::access_log;
use crate::body::{Payload, ReceivedBody, receive};
use crate::connection::state::ConnectionState;
use crate::handler::{ReviewHandler, ReviewTerms};
use crate::limits::byte_budget::{ByteBudget, BytePermit};
use crate::limits::connection_limit::{InFlight, Receiving, Unwritten};
use crate::limits::{Cap, Limits, work_cost};
use crate::metrics::{Metrics, Overload};
use crate::outgoing::outgoing;
use crate::panics::{Panicked, catch_panic};
use crate::phase::ServerPhase;
use crate::pool::WorkPool;
use crate::query_timeout;
use crate::request_head::RequestHead;
use crate::review_in_progress::ReviewInProgress;
use crate::spare_thread::IdleThread;

/// Responds to all requests of a listener: enforces the limits, calls the handler, counts and logs.
pub(crate) struct WebhookService<H> {
    handler: Arc<H>,
    limits: Limits,
    metrics: Metrics,
    budget: ByteBudget,
    /// Reviews that are handled on the thread that received them.
    inline: Arc<Semaphore>,
    /// Larger reviews, on the work pool or in its queue.
    queue: Arc<Semaphore>,
    pool: Arc<WorkPool>,
    spare_thread: Arc<IdleThread>,
    phase: watch::Receiver<ServerPhase>,
}

/// What came of a request: the answer, and what metrics, log and connection need beside it.
struct Handled {
    answer: ReviewResponse,
    review: Option<Review>,
    handling_time: Option<Duration>,
    request_body: RequestBody,
    held: Held,
}

/// What a request holds until its response is written.
#[derive(Default)]
struct Held {
    _unwritten: Option<Unwritten>,
    _bytes: Option<Arc<BytePermit>>,
}

/// What a review holds until its handler returns, which may be after the response.
struct WorkPermit {
    _concurrency: OwnedSemaphorePermit,
    _bytes: Arc<BytePermit>,
}

/// How much of the request's body was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestBody {
    /// All of it.
    Consumed,
    /// The peer may still be sending it: over HTTP/1.1 the connection can't be used again.
    Unread,
}

/// Whether a connection outlives a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeepAlive {
    /// It stays open.
    Keep,
    /// It closes after this response, which carries `Connection: close`.
    CloseAfterResponse,
    /// It closes after all requests in flight: GOAWAY of HTTP/2.
    GoAway,
}

impl KeepAlive {
    fn of(version: Version, body: RequestBody, close_requested: bool) -> Self {
        match (version < Version::HTTP_2, body, close_requested) {
            (true, RequestBody::Unread, _) | (true, _, true) => Self::CloseAfterResponse,
            (false, _, true) => Self::GoAway,
            (true, RequestBody::Consumed, false) | (false, _, false) => Self::Keep,
        }
    }
}

/// When a response is due, on both clocks: the monotonic one drives timers, handlers get the other.
#[derive(Clone, Copy)]
struct Deadline {
    start: Instant,
    end: Instant,
    wall: SystemTime,
}

impl Deadline {
    fn of(query: Option<&str>, longest: Duration) -> Self {
        let allowed = query_timeout::from_query(query).map_or(longest, |timeout| timeout.min(longest));
        let start = Instant::now();
        Self { start, end: start + allowed, wall: SystemTime::now() + allowed }
    }
}

impl<H: ReviewHandler> WebhookService<H> {
    pub(crate) fn new(handler: H, limits: Limits, metrics: Metrics, phase: watch::Receiver<ServerPhase>) -> Self {
        let Limits { bodies_in_flight, inline_size, connections, .. } = limits;
        let budget = ByteBudget::new(bodies_in_flight, inline_size, connections, metrics.body_bytes());
        let of = |cap: Cap| Arc::new(Semaphore::new(cap.get() as usize));
        let (inline, queue) = (of(limits.concurrency), of(limits.work_queue));
        let pool = Arc::new(WorkPool::new(limits.work_threads, limits.work_bytes));
        let spare_thread = Arc::new(IdleThread {
            inline: Arc::clone(&inline),
            concurrency: limits.concurrency,
            pool: Arc::clone(&pool),
        });
        Self { handler: Arc::new(handler), limits, metrics, budget, inline, queue, pool, spare_thread, phase }
    }

    /// Responds to a request whose head was read.
    pub(crate) async fn call<B>(&self, request: Request<B>, connection: &ConnectionState) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let _active = connection.activity().begin();
        let _counted = self.metrics.request();
        let (head, body) = request.into_parts();
        let handled = self.handle(&head, body, connection.progress().receive()).await;
        self.metrics.answered(handled.review, &handled.answer.decision, handled.handling_time);
        access_log::answered(handled.review, &handled.answer.decision, handled.handling_time);
        if handled.request_body == RequestBody::Unread {
            connection.activity().leave_body();
        }
        let close_requested = *self.phase.borrow() >= ServerPhase::Draining || connection.has_reached_max_age();
        let keep_alive = KeepAlive::of(head.version, handled.request_body, close_requested);
        if keep_alive == KeepAlive::GoAway {
            connection.request_close();
        }
        self.response(handled, keep_alive)
    }

    async fn handle<B>(&self, head: &request::Parts, body: B, receiving: Receiving) -> Handled
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let deadline = Deadline::of(head.uri.query(), self.limits.deadline);
        let sent = if body.is_end_stream() { RequestBody::Consumed } else { RequestBody::Unread };
        let length = body.size_hint().exact();
        let route = self.handler.route(head.uri.path());
        let checked = match RequestHead::check(head, length, route, &self.limits) {
            Ok(checked) => checked,
            Err(why) => {
                let in_flight = (sent == RequestBody::Consumed).then(|| receiving.complete());
                return Handled::error(route.map(Into::into), why, sent).holding(in_flight, None);
            }
        };
        match self.receive(body, checked.limit, deadline).await {
            Ok(body) => self.review(head.uri.path(), body, checked.route, deadline, receiving.complete()).await,
            Err(why) => Handled::error(Some(checked.route.into()), why, RequestBody::Unread),
        }
    }

    async fn receive<B>(&self, body: B, limit: usize, deadline: Deadline) -> Result<ReceivedBody, WebhookError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let slow = deadline.start + self.limits.body;
        let received = timeout_at(slow.min(deadline.end), receive(body, limit, &self.budget)).await;
        let late = if slow < deadline.end { WebhookError::SlowBody } else { WebhookError::Deadline };
        let body = received.unwrap_or(Err(late)).inspect_err(|why| {
            if *why == WebhookError::Overloaded {
                self.metrics.shed(Overload::Bytes);
            }
        })?;
        self.metrics.received(body.len());
        Ok(body)
    }

    async fn review(
        &self,
        path: &str,
        received: ReceivedBody,
        route: H::Route,
        deadline: Deadline,
        in_flight: InFlight,
    ) -> Handled {
        let review = route.into();
        let (concurrency, overload) = if self.is_large(received.len()) {
            (&self.queue, Overload::Work)
        } else {
            (&self.inline, Overload::Concurrency)
        };
        let Ok(concurrency) = Arc::clone(concurrency).try_acquire_owned() else {
            self.metrics.shed(overload);
            return Handled::error(Some(review), WebhookError::Overloaded, RequestBody::Consumed)
                .holding(Some(in_flight), None);
        };
        let start = Instant::now();
        let (body, bytes) = received.into_parts();
        let (body, mut bytes) = (Arc::new(body), Arc::new(bytes));
        let permit = WorkPermit { _concurrency: concurrency, _bytes: Arc::clone(&bytes) };
        let spare_thread: Arc<dyn SpareThread> = Arc::<IdleThread>::clone(&self.spare_thread);
        let progress = Arc::new(ReviewInProgress::new());
        let observer: Arc<dyn ReviewObserver> = Arc::<ReviewInProgress>::clone(&progress);
        let terms = ReviewTerms { deadline: deadline.wall, spare_thread, observer };
        let work = work(Arc::clone(&self.handler), route, Arc::clone(&body), terms, permit);
        let work = work.instrument(progress.span.clone());
        let answer = match timeout_at(deadline.end, self.run(body.len(), work)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(Panicked)) => {
                self.metrics.panicked();
                let answer = progress.failed(WebhookError::Panicked);
                access_log::panicked(path, &answer.decision);
                answer
            }
            Err(_elapsed) => progress.failed(WebhookError::Deadline),
        };
        // The answer takes the body's place until the peer has read it; one that is longer than all may be takes what there
        // is. Who still works on the review has a short one.
        let longest = answer.body.len().min(self.limits.bodies_in_flight.get());
        let beyond = longest.saturating_sub(body.len());
        let has_room = Arc::get_mut(&mut bytes).is_none_or(|bytes| bytes.grow(beyond).is_ok());
        let answer = if has_room {
            answer
        } else {
            self.metrics.shed(Overload::Bytes);
            progress.failed(WebhookError::Overloaded)
        };
        let handled = Handled {
            answer,
            review: Some(review),
            handling_time: Some(start.elapsed()),
            request_body: RequestBody::Consumed,
            held: Held::default(),
        };
        handled.holding(Some(in_flight), Some(bytes))
    }

    /// Runs the work on a body of so many bytes on this thread, or on the pool where it would block this thread for long.
    async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Panicked> {
        if self.is_large(bytes) { self.pool.run(work_cost(bytes), work).await } else { catch_panic(work).await }
    }

    fn is_large(&self, bytes: usize) -> bool {
        bytes > self.limits.inline_size.get()
    }

    fn response(&self, handled: Handled, keep_alive: KeepAlive) -> Response<Full<Bytes>> {
        let status = status(handled.answer.status);
        let mut response = Response::new(Full::new(outgoing(handled.answer.body, handled.held)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.advise(status, headers);
        if keep_alive == KeepAlive::CloseAfterResponse {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Adds what the caller can do about an error.
    fn advise(&self, status: StatusCode, headers: &mut HeaderMap) {
        match status {
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(ALLOW, HeaderValue::from_static("POST"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from(self.limits.retry_after.as_secs().max(1)));
            }
            _ => {}
        }
    }
}

impl Handled {
    fn error(review: Option<Review>, why: WebhookError, request_body: RequestBody) -> Self {
        Self { answer: ReviewResponse::error(why), review, handling_time: None, request_body, held: Held::default() }
    }

    fn holding(self, in_flight: Option<InFlight>, bytes: Option<Arc<BytePermit>>) -> Self {
        Self { held: Held { _unwritten: in_flight.map(InFlight::answered), _bytes: bytes }, ..self }
    }
}

/// The work on a review. It starts when it is first polled, so that every panic of it can be caught.
async fn work<H: ReviewHandler>(
    handler: Arc<H>,
    route: H::Route,
    body: Arc<Payload>,
    terms: ReviewTerms,
    _permit: WorkPermit,
) -> ReviewResponse {
    handler.handle(route, &body, terms).await
}

/// Never a redirect: the API server would follow it (CVE-2020-8561).
fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code)
        .ok()
        .filter(|status| !status.is_redirection() && !status.is_informational())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::{Future, pending};
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use gateward_core::Decision;
    use http_body::Frame;

    use super::*;
    use crate::limits::ByteSize;

    /// Returns after a time.
    struct After(Duration);

    /// Answers with so many bytes.
    struct Long(usize);

    impl ReviewHandler for Long {
        type Route = Review;

        fn route(&self, _: &str) -> Option<Review> {
            Some(Review::Convert)
        }

        async fn handle(&self, _: Review, _: &[u8], _: ReviewTerms) -> ReviewResponse {
            let decision = Decision::error(WebhookError::Deadline);
            ReviewResponse { status: 200, body: vec![b' '; self.0], decision }
        }
    }

    impl ReviewHandler for After {
        type Route = Review;

        fn route(&self, path: &str) -> Option<Review> {
            (path == "/validate").then_some(Review::Validate)
        }

        async fn handle(&self, _: Review, _: &[u8], _: ReviewTerms) -> ReviewResponse {
            tokio::time::sleep(self.0).await;
            ReviewResponse { status: 200, body: Vec::new(), decision: Decision::error(WebhookError::Deadline) }
        }
    }

    /// A body that never arrives.
    struct Never;

    impl Body for Never {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            std::pin::pin!(pending()).poll(cx)
        }
    }

    fn service<H: ReviewHandler>(handler: H, limits: Limits) -> WebhookService<H> {
        WebhookService::new(handler, limits, Metrics::new("test"), watch::channel(ServerPhase::Serving).1)
    }

    fn post<B>(target: &str, body: B) -> Request<B> {
        Request::post(target).header(CONTENT_TYPE, "application/json").body(body).unwrap()
    }

    /// How long after its deadline an answer comes at most.
    const LATEST: Duration = Duration::from_millis(100);

    /// The status and the seconds that it took, all of which are deadlines here.
    async fn ask<B: Body<Data = Bytes> + Unpin>(handler: After, target: &str, body: B) -> (u16, u64) {
        let service = service(handler, Limits::default());
        let request = post(target, body);
        let start = Instant::now();
        let response = service.call(request, &ConnectionState::default()).await;
        let took = start.elapsed();
        assert!(Duration::from_nanos(took.subsec_nanos().into()) <= LATEST, "{took:?}");
        (response.status().as_u16(), took.as_secs())
    }

    fn whole() -> Full<Bytes> {
        Full::new(Bytes::from_static(b"{}"))
    }

    #[tokio::test(start_paused = true)]
    async fn the_timeout_of_the_caller_ends_the_review() {
        let hour = || After(Duration::from_hours(1));
        assert_eq!(ask(hour(), "/validate?timeout=7s", whole()).await, (504, 7));
        assert_eq!(ask(hour(), "/validate", whole()).await, (504, 30));
        assert_eq!(ask(hour(), "/validate?timeout=1h", whole()).await, (504, 30));
        assert_eq!(ask(After(Duration::from_secs(6)), "/validate?timeout=7s", whole()).await, (200, 6));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_arrives_ends_with_the_earlier_timeout() {
        let once = || After(Duration::ZERO);
        assert_eq!(ask(once(), "/validate", Never).await, (408, 10));
        assert_eq!(ask(once(), "/validate?timeout=4s", Never).await, (504, 4));
        assert_eq!(ask(once(), "/validate?timeout=20s", Never).await, (408, 10));
    }

    #[tokio::test]
    async fn an_answer_counts_with_the_bodies_until_it_is_read() {
        let limits = Limits {
            inline_size: ByteSize::bytes(0),
            bodies_in_flight: ByteSize::bytes(100),
            admission_size: ByteSize::bytes(100),
            conversion_size: ByteSize::bytes(100),
            ..Limits::default()
        };
        // The second is longer than all may be.
        for bytes in [60, 500] {
            let service = service(Long(bytes), limits.clone());
            let ask = async || service.call(post("/convert", whole()), &ConnectionState::default()).await;
            let unread = ask().await;
            assert_eq!(unread.status(), StatusCode::OK);
            assert_eq!(ask().await.status(), StatusCode::TOO_MANY_REQUESTS);
            drop(unread);
            assert_eq!(ask().await.status(), StatusCode::OK);
        }
    }

    #[test]
    fn only_http1_closes_by_a_header() {
        let (old, new) = (Version::HTTP_11, Version::HTTP_2);
        assert_eq!(KeepAlive::of(old, RequestBody::Consumed, false), KeepAlive::Keep);
        assert_eq!(
            KeepAlive::of(old, RequestBody::Unread, false),
            KeepAlive::CloseAfterResponse,
            "the rest of the body would be read as a request"
        );
        assert_eq!(KeepAlive::of(old, RequestBody::Consumed, true), KeepAlive::CloseAfterResponse);
        assert_eq!(KeepAlive::of(new, RequestBody::Unread, false), KeepAlive::Keep, "only the stream is affected");
        assert_eq!(KeepAlive::of(new, RequestBody::Consumed, true), KeepAlive::GoAway);
    }

    #[test]
    fn no_response_is_a_redirect() {
        for code in [100, 301, 302, 307, 308, 0, 1000] {
            assert_eq!(status(code), StatusCode::INTERNAL_SERVER_ERROR, "{code}");
        }
        assert_eq!(status(200), StatusCode::OK);
        assert_eq!(status(504), StatusCode::GATEWAY_TIMEOUT);
    }
}
