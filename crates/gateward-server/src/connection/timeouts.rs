//! When a connection times out: the decision alone, without a clock and without a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The activity of one connection: its requests report it, its [stream](super::timeout_stream) reads it.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    begun: AtomicU32,
    ended: AtomicU32,
    body_left: AtomicBool,
    timed_out: AtomicU8,
}

/// A request between its head and its response; it ends on drop.
pub(crate) struct ActiveRequest(Arc<Activity>);

impl Activity {
    /// A head was read. The request is active until the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> ActiveRequest {
        self.begun.fetch_add(1, Ordering::Relaxed);
        ActiveRequest(Arc::clone(self))
    }

    /// The response is sent before the request's body was read to its end.
    pub(crate) fn leave_body(&self) {
        self.body_left.store(true, Ordering::Relaxed);
    }

    /// Whether the peer may still be sending a body when the connection closes.
    pub(crate) fn has_unread_body(&self) -> bool {
        self.body_left.load(Ordering::Relaxed)
    }

    /// The timeout that ended the connection, if one did.
    pub(crate) fn timed_out(&self) -> Option<TimeoutKind> {
        TimeoutKind::ALL.into_iter().find(|kind| *kind as u8 == self.timed_out.load(Ordering::Relaxed))
    }

    pub(crate) fn time_out(&self, kind: TimeoutKind) {
        self.timed_out.store(kind as u8, Ordering::Relaxed);
    }

    /// How many requests began, and how many of them are active.
    fn requests(&self) -> (u32, u32) {
        let ended = self.ended.load(Ordering::Relaxed);
        let begun = self.begun.load(Ordering::Relaxed);
        (begun, begun.wrapping_sub(ended))
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a connection timed out on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TimeoutKind {
    /// The next request.
    Idle = 1,
    /// The rest of the head of a request.
    Head = 2,
    /// The peer, which didn't read its response.
    Response = 3,
}

impl TimeoutKind {
    const ALL: [Self; 3] = [Self::Idle, Self::Head, Self::Response];

    /// The label in metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Head => "head",
            Self::Response => "answer",
        }
    }
}

/// The timeouts of one connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionTimeouts {
    /// For the next request.
    pub idle: Duration,
    /// For a head, from its first byte; `None` where bytes don't imply a head, as in HTTP/2.
    pub head: Option<Duration>,
    /// For the peer to read a part of a response.
    pub write: Duration,
    /// For the peer to read all of it.
    pub response: Duration,
}

/// What a connection waits for, and since when.
#[derive(Debug)]
pub(crate) struct TimeoutTracker {
    timeouts: ConnectionTimeouts,
    begun: u32,
    idle_since: Option<Instant>,
    head_since: Option<Instant>,
    stalled_since: Option<Instant>,
    responding_since: Option<Instant>,
}

impl TimeoutTracker {
    pub(crate) fn new(timeouts: ConnectionTimeouts) -> Self {
        Self { timeouts, begun: 0, idle_since: None, head_since: None, stalled_since: None, responding_since: None }
    }

    /// Bytes were read. Between two requests the first byte begins a head.
    pub(crate) fn read(&mut self, activity: &Activity, now: impl FnOnce() -> Instant) {
        if self.between_requests(activity) && self.head_since.is_none() && self.timeouts.head.is_some() {
            self.head_since = Some(now());
        }
    }

    /// Nothing can be read: until when to wait for more, and for what.
    pub(crate) fn until_readable(
        &mut self,
        activity: &Activity,
        now: impl FnOnce() -> Instant,
    ) -> Option<(Instant, TimeoutKind)> {
        if !self.between_requests(activity) {
            return None;
        }
        if let (Some(since), Some(head)) = (self.head_since, self.timeouts.head) {
            return Some((since + head, TimeoutKind::Head));
        }
        let since = *self.idle_since.get_or_insert_with(now);
        Some((since + self.timeouts.idle, TimeoutKind::Idle))
    }

    /// Nothing can be written: until when to wait.
    pub(crate) fn until_writable(&mut self, now: impl FnOnce() -> Instant) -> (Instant, TimeoutKind) {
        let since = *self.stalled_since.get_or_insert_with(now);
        let responding = *self.responding_since.get_or_insert(since);
        ((since + self.timeouts.write).min(responding + self.timeouts.response), TimeoutKind::Response)
    }

    /// Bytes were written.
    pub(crate) fn wrote(&mut self) {
        self.stalled_since = None;
    }

    /// All bytes were written.
    pub(crate) fn flushed(&mut self) {
        (self.stalled_since, self.responding_since) = (None, None);
    }

    /// Whether no request is active. A request that began since the last call ended the head before it.
    fn between_requests(&mut self, activity: &Activity) -> bool {
        let (begun, open) = activity.requests();
        if begun != self.begun {
            (self.begun, self.idle_since, self.head_since) = (begun, None, None);
        }
        open == 0
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::connection) const TIMEOUTS: ConnectionTimeouts = ConnectionTimeouts {
        idle: Duration::from_mins(2),
        head: Some(Duration::from_secs(5)),
        write: Duration::from_secs(10),
        response: Duration::from_secs(30),
    };

    struct Fixture {
        tracker: TimeoutTracker,
        activity: Arc<Activity>,
        start: Instant,
    }

    fn fixture() -> Fixture {
        Fixture { tracker: TimeoutTracker::new(TIMEOUTS), activity: Arc::default(), start: Instant::now() }
    }

    impl Fixture {
        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        fn bytes(&mut self, second: u64) {
            let now = self.at(second);
            self.tracker.read(&self.activity, || now);
        }

        fn timeout_at(&mut self, second: u64) -> Option<(u64, TimeoutKind)> {
            let now = self.at(second);
            let until = self.tracker.until_readable(&self.activity, || now);
            until.map(|(end, kind)| ((end - self.start).as_secs(), kind))
        }
    }

    #[test]
    fn a_new_connection_has_the_idle_timeout() {
        assert_eq!(fixture().timeout_at(3), Some((123, TimeoutKind::Idle)));
    }

    #[test]
    fn the_head_timeout_starts_with_the_first_byte_and_is_not_prolonged() {
        let mut fixture = fixture();
        fixture.timeout_at(0);
        fixture.bytes(60);
        assert_eq!(fixture.timeout_at(60), Some((65, TimeoutKind::Head)));
        fixture.bytes(64);
        assert_eq!(fixture.timeout_at(64), Some((65, TimeoutKind::Head)));
    }

    #[test]
    fn no_timeout_runs_while_a_request_is_active() {
        let mut fixture = fixture();
        fixture.bytes(0);
        let _active = fixture.activity.begin();
        assert_eq!(fixture.timeout_at(0), None);
        fixture.bytes(1);
        assert_eq!(fixture.timeout_at(50), None);
    }

    #[test]
    fn the_idle_timeout_starts_with_the_last_response() {
        let mut fixture = fixture();
        fixture.timeout_at(0);
        fixture.bytes(100);
        drop(fixture.activity.begin());
        assert_eq!(fixture.timeout_at(101), Some((221, TimeoutKind::Idle)));
        assert_eq!(fixture.timeout_at(150), Some((221, TimeoutKind::Idle)));
    }

    #[test]
    fn each_head_has_its_own_timeout() {
        let mut fixture = fixture();
        fixture.bytes(0);
        drop(fixture.activity.begin());
        fixture.bytes(50);
        assert_eq!(fixture.timeout_at(50), Some((55, TimeoutKind::Head)));
    }

    #[test]
    fn without_a_head_timeout_bytes_do_not_prolong_the_idle_timeout() {
        let mut fixture = fixture();
        fixture.tracker.timeouts.head = None;
        fixture.timeout_at(0);
        fixture.bytes(100);
        assert_eq!(fixture.timeout_at(100), Some((120, TimeoutKind::Idle)));
    }

    #[test]
    fn each_write_restarts_the_write_timeout() {
        let mut fixture = fixture();
        let (first, later) = (fixture.at(0), fixture.at(9));
        assert_eq!(fixture.tracker.until_writable(|| first).0, fixture.at(10));
        assert_eq!(fixture.tracker.until_writable(|| later).0, fixture.at(10));
        fixture.tracker.wrote();
        assert_eq!(fixture.tracker.until_writable(|| later).0, fixture.at(19));
    }

    #[test]
    fn writes_do_not_prolong_the_response_timeout() {
        let mut fixture = fixture();
        for second in [0, 9, 18, 27] {
            let now = fixture.at(second);
            assert_eq!(fixture.tracker.until_writable(|| now).0, fixture.at((second + 10).min(30)));
            fixture.tracker.wrote();
        }
        fixture.tracker.flushed();
        let next = fixture.at(29);
        assert_eq!(fixture.tracker.until_writable(|| next).0, fixture.at(39), "the next response has its own timeout");
    }
}
