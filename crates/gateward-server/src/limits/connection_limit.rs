//! How many connections a listener has open, and which it evicts for a new one.
//!
//! The oldest connection without a complete request is evicted first: opening one costs an attacker nothing, and an API
//! server sends its request within milliseconds. Next is the connection that has been idle for longest, then the one whose
//! further request has been incomplete for longest, and last the one whose response has been unwritten for longest. A
//! connection with a request in flight is never evicted, nor is one whose response was made a moment ago. A new one has a
//! grace period: while the next candidate has it, accepting pauses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

use super::Cap;

/// How long a new connection has for its request before it may be evicted.
const GRACE: Duration = Duration::from_millis(20);

/// How long a response may be unwritten before its connection may be evicted: an API server reads all but the largest
/// within milliseconds.
const WRITE_GRACE: Duration = Duration::from_secs(1);

/// The connections of one listener. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionLimit(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    open: Mutex<Open>,
    /// How many permits exist: those of open connections, and of evicted ones that are not closed yet.
    permits: watch::Sender<usize>,
}

/// The open connections, oldest first.
#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: BTreeMap<u64, Arc<RequestProgress>>,
}

/// The result of [`ConnectionLimit::acquire`].
#[derive(Debug)]
pub(crate) enum Acquired {
    /// The limit was not reached.
    Free(ConnectionPermit),
    /// Another connection was evicted.
    AfterEviction(ConnectionPermit),
    /// No connection may be evicted.
    Refused,
}

impl ConnectionLimit {
    pub(crate) fn new(most: Cap) -> Self {
        let (most, permits) = (most.get() as usize, watch::Sender::new(0));
        Self(Arc::new(Shared { most, open: Mutex::default(), permits }))
    }

    /// Acquires a permit for a new connection, and evicts another one for it at the limit.
    pub(crate) fn acquire(&self) -> Acquired {
        let mut open = self.open();
        if open.connections.len() < self.0.most {
            return Acquired::Free(self.permit(&mut open));
        }
        if open.evict_one() { Acquired::AfterEviction(self.permit(&mut open)) } else { Acquired::Refused }
    }

    /// Evicts one connection; `false` where none may be evicted.
    pub(crate) fn evict_one(&self) -> bool {
        self.open().evict_one()
    }

    /// How many connections are not closed yet.
    pub(crate) fn count(&self) -> usize {
        *self.0.permits.borrow()
    }

    /// Waits until every connection is closed.
    pub(crate) async fn all_closed(&self) {
        self.at_most(0).await;
    }

    /// Waits until evicted connections are closed: a flood opens at most one connection beyond the limit.
    pub(crate) async fn evicted_closed(&self) {
        self.at_most(self.0.most).await;
    }

    /// Waits for the end of the grace period of the next candidate for eviction.
    pub(crate) async fn grace_ended(&self) {
        let Some(opened) = self.next_candidate() else { return };
        if opened.elapsed() < GRACE {
            sleep_until(opened + GRACE).await;
        }
        // Where this thread was late, connections read first what has arrived.
        yield_now().await;
    }

    /// When the next candidate for eviction was opened; `None` below the limit.
    fn next_candidate(&self) -> Option<Instant> {
        let open = self.open();
        let full = open.connections.len() >= self.0.most;
        full.then(|| open.eviction_candidate())
            .flatten()
            .and_then(|id| open.connections.get(&id))
            .map(|connection| connection.opened)
    }

    async fn at_most(&self, count: usize) {
        // `self` holds the sender, so this can't fail.
        let _ = self.0.permits.subscribe().wait_for(|permits| *permits <= count).await;
    }

    fn permit(&self, open: &mut Open) -> ConnectionPermit {
        let (id, progress) = (open.next, Arc::new(RequestProgress::default()));
        open.next += 1;
        open.connections.insert(id, Arc::clone(&progress));
        self.0.permits.send_modify(|permits| *permits += 1);
        ConnectionPermit { limit: self.clone(), id, progress }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn evict_one(&mut self) -> bool {
        // Another round is needed only where a request arrived meanwhile.
        for _ in 0..self.connections.len() {
            let Some(id) = self.eviction_candidate() else { return false };
            let evicted = self.connections.get(&id).is_some_and(|progress| progress.evict());
            if evicted {
                self.connections.remove(&id);
                return true;
            }
        }
        false
    }

    fn eviction_candidate(&self) -> Option<u64> {
        let ranked = || self.connections.iter().filter_map(|(id, progress)| Some((progress.rank()?, *id)));
        // There are many of them where somebody floods the port.
        let first = ranked().find(|(rank, _)| *rank == Rank::Handshaking).or_else(|| ranked().min());
        first.map(|(_, id)| id)
    }
}

/// The right to have a connection open, returned on drop.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    limit: ConnectionLimit,
    id: u64,
    progress: Arc<RequestProgress>,
}

impl ConnectionPermit {
    /// The progress of the connection's requests, which decides about eviction.
    pub(crate) fn progress(&self) -> &Arc<RequestProgress> {
        &self.progress
    }

    /// Waits until the connection is evicted.
    pub(crate) async fn evicted(&self) {
        self.progress.evicted.notified().await;
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        // Eviction has removed it already.
        self.limit.open().connections.remove(&self.id);
        self.limit.0.permits.send_modify(|permits| *permits = permits.saturating_sub(1));
    }
}

/// The progress of a connection's requests.
#[derive(Debug)]
pub(crate) struct RequestProgress {
    opened: Instant,
    requests: Mutex<Requests>,
    evicted: Notify,
}

#[derive(Debug, Default)]
struct Requests {
    handshake_done: bool,
    /// Requests with a complete head and an incomplete body.
    receiving: u32,
    /// Complete requests whose response is not made.
    in_flight: u32,
    /// Responses that are made and not written.
    unwritten: u32,
    /// Since when there have been such responses.
    unwritten_since: Option<Instant>,
    /// When the last request was complete, or its response was made or written.
    served: Option<Instant>,
    evicted: bool,
}

/// The order of eviction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Its TLS handshake isn't done.
    Handshaking,
    /// It has had no complete request. The API server keeps such connections for requests to come, and does not send one
    /// again that it lost on its first try.
    New,
    /// It has been idle since then.
    Idle(Instant),
    /// A further request is incomplete; the last response was then.
    Receiving(Instant),
    /// A response has been unwritten since then, for longer than [`WRITE_GRACE`].
    Unwritten(Instant),
}

impl Default for RequestProgress {
    fn default() -> Self {
        Self { opened: Instant::now(), requests: Mutex::default(), evicted: Notify::new() }
    }
}

impl RequestProgress {
    /// Requests may come; where there is no TLS, from the start.
    pub(crate) fn handshake_done(&self) {
        self.requests().handshake_done = true;
    }

    /// The head of a request was read.
    pub(crate) fn receive(self: &Arc<Self>) -> Receiving {
        self.requests().receiving += 1;
        Receiving(Arc::clone(self))
    }

    /// `None` for a connection that may not be evicted, or was evicted.
    fn rank(&self) -> Option<Rank> {
        self.requests().rank()
    }

    /// Evicts the connection, if it may be evicted.
    fn evict(&self) -> bool {
        let mut requests = self.requests();
        if requests.rank().is_none() {
            return false;
        }
        requests.evicted = true;
        self.evicted.notify_one();
        true
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Requests {
    fn rank(&self) -> Option<Rank> {
        if self.evicted || self.in_flight > 0 {
            return None;
        }
        if let Some(since) = self.unwritten_since {
            return (since.elapsed() > WRITE_GRACE).then_some(Rank::Unwritten(since));
        }
        Some(match self.served {
            None if !self.handshake_done => Rank::Handshaking,
            None => Rank::New,
            Some(since) if self.receiving > 0 => Rank::Receiving(since),
            Some(since) => Rank::Idle(since),
        })
    }
}

/// A request whose head was read and whose body is incomplete.
#[derive(Debug)]
pub(crate) struct Receiving(Arc<RequestProgress>);

impl Receiving {
    /// The request is complete: its connection can't be evicted until the response is made.
    pub(crate) fn complete(self) -> InFlight {
        let mut requests = self.0.requests();
        requests.in_flight += 1;
        requests.served = Some(Instant::now());
        drop(requests);
        InFlight(Arc::clone(&self.0))
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        requests.receiving = requests.receiving.saturating_sub(1);
    }
}

/// A complete request, until its response is made.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<RequestProgress>);

impl InFlight {
    /// The response is made: its connection can't be evicted until it is written, or has been unwritten for a while.
    pub(crate) fn answered(self) -> Unwritten {
        let mut requests = self.0.requests();
        requests.unwritten += 1;
        requests.unwritten_since.get_or_insert_with(Instant::now);
        drop(requests);
        Unwritten(Arc::clone(&self.0))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        requests.in_flight = requests.in_flight.saturating_sub(1);
        requests.served = Some(Instant::now());
    }
}

/// A response that is made, until it is written.
#[derive(Debug)]
pub(crate) struct Unwritten(Arc<RequestProgress>);

impl Drop for Unwritten {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        requests.unwritten = requests.unwritten.saturating_sub(1);
        if requests.unwritten == 0 {
            requests.unwritten_since = None;
        }
        requests.served = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limit(most: u32) -> ConnectionLimit {
        ConnectionLimit::new(Cap::at_most(most))
    }

    fn free(limit: &ConnectionLimit) -> ConnectionPermit {
        match limit.acquire() {
            Acquired::Free(permit) => permit,
            other => panic!("{other:?}"),
        }
    }

    fn after_eviction(limit: &ConnectionLimit) -> ConnectionPermit {
        match limit.acquire() {
            Acquired::AfterEviction(permit) => permit,
            other => panic!("{other:?}"),
        }
    }

    fn is_evicted(permit: &ConnectionPermit) -> bool {
        permit.progress.requests().evicted
    }

    /// Makes a connection one that was served and is idle.
    fn idle(permit: &ConnectionPermit) {
        drop(unwritten(permit));
    }

    /// Makes a connection one whose response is made.
    fn unwritten(permit: &ConnectionPermit) -> Unwritten {
        permit.progress().receive().complete().answered()
    }

    #[test]
    fn the_oldest_without_a_request_is_evicted_before_an_idle_one() {
        let limit = limit(3);
        let (idling, older, newer) = (free(&limit), free(&limit), free(&limit));
        idle(&idling);
        let _fourth = after_eviction(&limit);
        assert_eq!([&idling, &older, &newer].map(is_evicted), [false, true, false]);
    }

    #[test]
    fn one_without_a_handshake_is_evicted_before_an_older_one_that_may_send_requests() {
        let limit = limit(3);
        let (older, silent, newer) = (free(&limit), free(&limit), free(&limit));
        for permit in [&older, &newer] {
            permit.progress().handshake_done();
        }
        let _fourth = after_eviction(&limit);
        assert_eq!([&older, &silent, &newer].map(is_evicted), [false, true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_have_had_a_request_the_longest_idle_is_evicted() {
        let limit = limit(2);
        let (first, second) = (free(&limit), free(&limit));
        idle(&second);
        tokio::time::advance(Duration::from_secs(1)).await;
        idle(&first);
        let _third = after_eviction(&limit);
        assert_eq!([&first, &second].map(is_evicted), [false, true]);
    }

    #[test]
    fn a_head_without_its_body_is_no_complete_request() {
        let limit = limit(1);
        let slow = free(&limit);
        let _receiving = slow.progress().receive();
        let _other = after_eviction(&limit);
        assert!(is_evicted(&slow));
    }

    #[test]
    fn an_idle_connection_is_evicted_before_one_with_a_further_request() {
        let limit = limit(2);
        let (asking, idling) = (free(&limit), free(&limit));
        idle(&asking);
        idle(&idling);
        let _receiving = asking.progress().receive();
        let _third = after_eviction(&limit);
        assert_eq!([&asking, &idling].map(is_evicted), [false, true]);
    }

    #[test]
    fn a_connection_with_a_request_in_flight_is_never_evicted() {
        let limit = limit(1);
        let busy = free(&limit);
        let in_flight = busy.progress().receive().complete();
        assert!(matches!(limit.acquire(), Acquired::Refused));
        assert!(!limit.evict_one() && !is_evicted(&busy));
        drop(in_flight);
        let _other = after_eviction(&limit);
        assert!(is_evicted(&busy));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_an_unwritten_response_has_a_grace_period_before_eviction() {
        let limit = limit(2);
        let (busy, unread) = (free(&limit), free(&limit));
        let _in_flight = busy.progress().receive().complete();
        let _unwritten = unwritten(&unread);
        tokio::time::advance(WRITE_GRACE).await;
        assert!(matches!(limit.acquire(), Acquired::Refused));
        tokio::time::advance(Duration::from_millis(1)).await;
        let _third = after_eviction(&limit);
        assert_eq!([&busy, &unread].map(is_evicted), [false, true]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_an_unwritten_response_is_evicted_last() {
        let limit = limit(4);
        let (unread, asking, idling, silent) = (free(&limit), free(&limit), free(&limit), free(&limit));
        let _unwritten = unwritten(&unread);
        tokio::time::advance(2 * WRITE_GRACE).await;
        idle(&asking);
        idle(&idling);
        let _receiving = asking.progress().receive();
        for next in [&silent, &idling, &asking, &unread] {
            assert!(!is_evicted(next));
            assert!(limit.evict_one() && is_evicted(next));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_unwritten_response_evicts_no_connection_with_another_request_in_flight() {
        let limit = limit(1);
        let shared = free(&limit);
        let _unwritten = unwritten(&shared);
        tokio::time::advance(2 * WRITE_GRACE).await;
        let in_flight = shared.progress().receive().complete();
        assert!(!limit.evict_one());
        drop(in_flight.answered());
        assert!(limit.evict_one(), "the first response is still unwritten");
    }

    #[tokio::test(start_paused = true)]
    async fn each_connection_has_a_grace_period_before_eviction() {
        let (limit, start) = (limit(2), Instant::now());
        let _first = free(&limit);
        limit.grace_ended().await;
        assert_eq!(start.elapsed(), Duration::ZERO, "below the limit");
        tokio::time::advance(GRACE / 2).await;
        let second = free(&limit);
        limit.grace_ended().await;
        assert_eq!(start.elapsed().as_millis(), GRACE.as_millis(), "the first one has had its grace period");
        let _third = after_eviction(&limit);
        idle(&second);
        assert_eq!(second.progress.requests().rank().map(|rank| rank == Rank::New), Some(false));
        limit.grace_ended().await;
        assert!(start.elapsed() >= 2 * GRACE, "the third one is next, and opened later than the second");
    }

    #[tokio::test]
    async fn an_evicted_connection_is_notified_and_returns_its_permit_once() {
        let limit = limit(1);
        let first = free(&limit);
        let second = after_eviction(&limit);
        first.evicted().await;
        assert_eq!(limit.count(), 2);
        drop(first);
        limit.evicted_closed().await;
        assert_eq!(limit.count(), 1);
        drop(second);
        limit.all_closed().await;
        let _third = free(&limit);
    }
}
