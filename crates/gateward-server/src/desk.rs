//! From the head of a request to its answer.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use gateward_core::{Answer, Review, Undecided};
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode, Version, request};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, timeout_at};

use crate::answerer::Answerer;
use crate::body::{Budget, Charge, Payload, Received, receive};
use crate::connections::{InFlight, Receiving};
use crate::conversation::Conversation;
use crate::entry::Entry;
use crate::journal;
use crate::limits::{Cap, Limits, work_cost};
use crate::metrics::{Metrics, Overload};
use crate::outgoing::outgoing;
use crate::panics::{Panicked, caught};
use crate::phase::Phase;
use crate::pool::WorkPool;
use crate::timeout;

/// Up to this size the envelope of a body is read again to say what was given up: that takes about a millisecond.
const READ_AGAIN: usize = 1024 * 1024;

/// Where all requests of a listener are answered.
pub(crate) struct Desk<A> {
    answerer: Arc<A>,
    limits: Limits,
    metrics: Metrics,
    budget: Budget,
    turns: Arc<Semaphore>,
    large_turns: Arc<Semaphore>,
    pool: WorkPool,
    phase: watch::Receiver<Phase>,
}

/// An answer, and what the listener should know beside it.
struct Reply {
    answer: Answer,
    review: Option<Review>,
    judged_in: Option<Duration>,
    rest: Rest,
    kept: Kept,
}

/// What a request holds until its answer is written.
#[derive(Default)]
struct Kept {
    _in_flight: Option<InFlight>,
    _charge: Option<Arc<Charge>>,
}

/// What a review holds until the work on it ends, which may be after its answer.
struct Taken {
    _turn: OwnedSemaphorePermit,
    _charge: Arc<Charge>,
}

/// What became of the request's body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// It was read to its end.
    Read,
    /// It may still be on its way: the connection can't be used again.
    Left,
}

/// When a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parting {
    /// Not now.
    Never,
    /// With this answer, which says so.
    WithThis,
    /// When all is answered that is under way on it.
    AfterAll,
}

impl Parting {
    fn of(version: Version, rest: Rest, farewell: bool) -> Self {
        match (version < Version::HTTP_2, rest, farewell) {
            (true, Rest::Left, _) | (true, _, true) => Self::WithThis,
            (false, _, true) => Self::AfterAll,
            (true, Rest::Read, false) | (false, _, false) => Self::Never,
        }
    }
}

/// When a request must be answered, on both clocks: one drives timers, the other means something to handlers.
#[derive(Clone, Copy)]
struct Deadline {
    start: Instant,
    end: Instant,
    wall: SystemTime,
}

impl Deadline {
    fn of(query: Option<&str>, longest: Duration) -> Self {
        let allowed = timeout::of_query(query).map_or(longest, |timeout| timeout.min(longest));
        let start = Instant::now();
        Self { start, end: start + allowed, wall: SystemTime::now() + allowed }
    }
}

impl<A: Answerer> Desk<A> {
    pub(crate) fn new(answerer: A, limits: Limits, metrics: Metrics, phase: watch::Receiver<Phase>) -> Self {
        let Limits { bodies_in_flight, inline_size, connections, .. } = limits;
        let budget = Budget::new(bodies_in_flight, inline_size, connections, metrics.body_bytes());
        let of = |cap: Cap| Arc::new(Semaphore::new(cap.get() as usize));
        let (turns, large_turns) = (of(limits.concurrency), of(limits.work_queue));
        let pool = WorkPool::new(limits.work_threads, limits.work_bytes);
        Self { answerer: Arc::new(answerer), limits, metrics, budget, turns, large_turns, pool, phase }
    }

    /// Answers a request whose head was read.
    pub(crate) async fn handle<B>(&self, request: Request<B>, conversation: &Conversation) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let _busy = conversation.activity().begin();
        let _counted = self.metrics.request();
        let (head, body) = request.into_parts();
        let reply = self.reply(&head, body, conversation.state().receive()).await;
        self.metrics.answered(reply.review, &reply.answer.record, reply.judged_in);
        journal::answered(reply.review, &reply.answer.record, reply.judged_in);
        if reply.rest == Rest::Left {
            conversation.activity().leave_body();
        }
        let farewell = *self.phase.borrow() >= Phase::Leaving || conversation.is_over();
        let parting = Parting::of(head.version, reply.rest, farewell);
        if parting == Parting::AfterAll {
            conversation.say_goodbye();
        }
        self.response(reply, parting)
    }

    async fn reply<B>(&self, head: &request::Parts, body: B, receiving: Receiving) -> Reply
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let deadline = Deadline::of(head.uri.query(), self.limits.deadline);
        let rest = if body.is_end_stream() { Rest::Read } else { Rest::Left };
        let length = body.size_hint().exact();
        let entry = match Entry::of(head, length, |path| self.answerer.route(path), &self.limits) {
            Ok(entry) => entry,
            Err(why) => {
                let in_flight = (rest == Rest::Read).then(|| receiving.whole());
                return Reply::refusal(self.answerer.route(head.uri.path()), why, rest).keeping(in_flight, None);
            }
        };
        match self.receive(body, entry.limit, deadline).await {
            Ok(body) => self.judge(head.uri.path(), body, entry.review, deadline, receiving.whole()).await,
            Err(why) => Reply::refusal(Some(entry.review), why, Rest::Left),
        }
    }

    async fn receive<B>(&self, body: B, limit: usize, deadline: Deadline) -> Result<Received, Undecided>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let slow = deadline.start + self.limits.body;
        let received = timeout_at(slow.min(deadline.end), receive(body, limit, &self.budget)).await;
        let late = if slow < deadline.end { Undecided::SlowBody } else { Undecided::Deadline };
        let body = received.unwrap_or(Err(late)).inspect_err(|why| {
            if *why == Undecided::Overloaded {
                self.metrics.shed(Overload::Bytes);
            }
        })?;
        self.metrics.received(body.len());
        Ok(body)
    }

    async fn judge(
        &self,
        path: &str,
        received: Received,
        review: Review,
        deadline: Deadline,
        in_flight: InFlight,
    ) -> Reply {
        let (turns, overload) = if self.is_large(received.len()) {
            (&self.large_turns, Overload::Work)
        } else {
            (&self.turns, Overload::Concurrency)
        };
        let Ok(turn) = Arc::clone(turns).try_acquire_owned() else {
            self.metrics.shed(overload);
            return Reply::refusal(Some(review), Undecided::Overloaded, Rest::Read).keeping(Some(in_flight), None);
        };
        let start = Instant::now();
        let (body, charge) = received.into_parts();
        let (body, charge) = (Arc::new(body), Arc::new(charge));
        let taken = Taken { _turn: turn, _charge: Arc::clone(&charge) };
        let answering = answer(Arc::clone(&self.answerer), path.to_owned(), Arc::clone(&body), deadline.wall, taken);
        let answer = match timeout_at(deadline.end, self.work(body.len(), answering)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(Panicked)) => {
                self.metrics.panicked();
                journal::panicked(path);
                given_up(review, &body, Undecided::Panicked)
            }
            Err(_elapsed) => given_up(review, &body, Undecided::Deadline),
        };
        let reply = Reply {
            answer,
            review: Some(review),
            judged_in: Some(start.elapsed()),
            rest: Rest::Read,
            kept: Kept::default(),
        };
        reply.keeping(Some(in_flight), Some(charge))
    }

    /// Works on a body of so many bytes: here, or where it holds up nobody.
    async fn work<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Panicked> {
        if self.is_large(bytes) { self.pool.run(work_cost(bytes), work).await } else { caught(work).await }
    }

    fn is_large(&self, bytes: usize) -> bool {
        bytes > self.limits.inline_size.get()
    }

    fn response(&self, reply: Reply, parting: Parting) -> Response<Full<Bytes>> {
        let status = status(reply.answer.status);
        let mut response = Response::new(Full::new(outgoing(reply.answer.body, reply.kept)));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.advise(status, headers);
        if parting == Parting::WithThis {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// What the caller can do about an error.
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

impl Reply {
    fn refusal(review: Option<Review>, why: Undecided, rest: Rest) -> Self {
        Self { answer: Answer::undecided(why), review, judged_in: None, rest, kept: Kept::default() }
    }

    fn keeping(self, in_flight: Option<InFlight>, charge: Option<Arc<Charge>>) -> Self {
        Self { kept: Kept { _in_flight: in_flight, _charge: charge }, ..self }
    }
}

/// The work on a review. Nothing of it is done before it is polled, so that every panic of it can be caught.
async fn answer<A: Answerer>(
    answerer: Arc<A>,
    path: String,
    body: Arc<Payload>,
    deadline: SystemTime,
    _taken: Taken,
) -> Answer {
    answerer.answer(&path, &body, deadline).await
}

/// The answer to a review that is given up, which says what it was about where that is quickly read.
fn given_up(review: Review, body: &[u8], why: Undecided) -> Answer {
    if body.len() <= READ_AGAIN { Answer::undecided_on(review, body, why) } else { Answer::undecided(why) }
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

    use gateward_core::Record;
    use http_body::Frame;

    use super::*;

    /// Answers after a time.
    struct After(Duration);

    impl Answerer for After {
        fn route(&self, path: &str) -> Option<Review> {
            (path == "/validate").then_some(Review::Validate)
        }

        async fn answer(&self, _: &str, _: &[u8], _: SystemTime) -> Answer {
            tokio::time::sleep(self.0).await;
            Answer { status: 200, body: Vec::new(), record: Record::undecided(Undecided::Deadline) }
        }
    }

    /// A body that never comes.
    struct Never;

    impl Body for Never {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            std::pin::pin!(pending()).poll(cx)
        }
    }

    /// The status and the seconds that it took.
    async fn ask<B: Body<Data = Bytes> + Unpin>(answers: After, target: &str, body: B) -> (u16, u64) {
        let (_phase, watched) = watch::channel(Phase::Serving);
        let desk = Desk::new(answers, Limits::default(), Metrics::new("test"), watched);
        let request = Request::post(target).header(CONTENT_TYPE, "application/json").body(body).unwrap();
        let start = Instant::now();
        let response = desk.handle(request, &Conversation::default()).await;
        (response.status().as_u16(), start.elapsed().as_secs())
    }

    fn whole() -> Full<Bytes> {
        Full::new(Bytes::from_static(b"{}"))
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_the_caller_holds_to_the_second() {
        let hour = || After(Duration::from_hours(1));
        assert_eq!(ask(hour(), "/validate?timeout=7s", whole()).await, (504, 7));
        assert_eq!(ask(hour(), "/validate", whole()).await, (504, 30));
        assert_eq!(ask(hour(), "/validate?timeout=1h", whole()).await, (504, 30));
        assert_eq!(ask(After(Duration::from_secs(6)), "/validate?timeout=7s", whole()).await, (200, 6));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_comes_is_given_up_by_whichever_time_ends_first() {
        let once = || After(Duration::ZERO);
        assert_eq!(ask(once(), "/validate", Never).await, (408, 10));
        assert_eq!(ask(once(), "/validate?timeout=4s", Never).await, (504, 4));
        assert_eq!(ask(once(), "/validate?timeout=20s", Never).await, (408, 10));
    }

    #[test]
    fn only_the_older_protocol_says_goodbye_in_an_answer() {
        let (old, new) = (Version::HTTP_11, Version::HTTP_2);
        assert_eq!(Parting::of(old, Rest::Read, false), Parting::Never);
        assert_eq!(Parting::of(old, Rest::Left, false), Parting::WithThis, "what is left of a body spoils it");
        assert_eq!(Parting::of(old, Rest::Read, true), Parting::WithThis);
        assert_eq!(Parting::of(new, Rest::Left, false), Parting::Never, "only the stream is spoiled");
        assert_eq!(Parting::of(new, Rest::Read, true), Parting::AfterAll);
    }

    #[test]
    fn a_redirect_never_leaves_the_server() {
        for code in [100, 301, 302, 307, 308, 0, 1000] {
            assert_eq!(status(code), StatusCode::INTERNAL_SERVER_ERROR, "{code}");
        }
        assert_eq!(status(200), StatusCode::OK);
        assert_eq!(status(504), StatusCode::GATEWAY_TIMEOUT);
    }
}
