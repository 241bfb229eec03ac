//! When a silent peer is given up: the decision alone, without a clock and without a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// What the requests of one connection tell the watch over its bytes.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    begun: AtomicU32,
    ended: AtomicU32,
    ending: AtomicU8,
    given_up: AtomicU8,
}

/// A request that is being answered; dropped when it is not any more.
pub(crate) struct Busy(Arc<Activity>);

impl Activity {
    /// A head was read; the request is being answered until the result is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Busy {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// The answer goes out before the request's body was read to its end.
    pub(crate) fn leave_body(&self) {
        self.ending.store(1, Ordering::Relaxed);
    }

    /// Whether a part of a body is still on its way when the connection closes.
    pub(crate) fn body_was_left(&self) -> bool {
        self.ending.load(Ordering::Relaxed) == 1
    }

    /// Why the peer was given up, if it was.
    pub(crate) fn given_up(&self) -> Option<Silence> {
        Silence::ALL.into_iter().find(|silence| *silence as u8 == self.given_up.load(Ordering::Relaxed))
    }

    pub(crate) fn give_up(&self, silence: Silence) {
        self.given_up.store(silence as u8, Ordering::Relaxed);
    }

    /// How many requests were begun, and how many of them are open.
    fn requests(&self) -> (u32, u32) {
        let ended = self.ended.load(Ordering::Relaxed);
        let begun = self.begun.load(Ordering::Relaxed);
        (begun, begun.wrapping_sub(ended))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// What the peer kept silent about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Silence {
    /// It sent no further request.
    Idle = 1,
    /// It began the head of a request and did not end it.
    Head = 2,
    /// It did not take its answer.
    Answer = 3,
}

impl Silence {
    const ALL: [Self; 3] = [Self::Idle, Self::Head, Self::Answer];

    /// The word that metrics use.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Head => "head",
            Self::Answer => "answer",
        }
    }
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For another request.
    pub idle: Duration,
    /// For the rest of a head; `None` where bytes are no sign of a head, as in HTTP/2.
    pub head: Option<Duration>,
    /// For the peer to take a part of an answer.
    pub write: Duration,
    /// For the peer to take all of it.
    pub answer: Duration,
}

/// What a connection waits for, and since when.
#[derive(Debug)]
pub(crate) struct Wait {
    patience: Patience,
    begun: u32,
    idle_since: Option<Instant>,
    head_since: Option<Instant>,
    stalled_since: Option<Instant>,
    answering_since: Option<Instant>,
}

impl Wait {
    pub(crate) fn new(patience: Patience) -> Self {
        Self { patience, begun: 0, idle_since: None, head_since: None, stalled_since: None, answering_since: None }
    }

    /// Bytes came in. Between two requests the first of them begins a head.
    pub(crate) fn received(&mut self, activity: &Activity, now: impl FnOnce() -> Instant) {
        if self.between_requests(activity) && self.head_since.is_none() && self.patience.head.is_some() {
            self.head_since = Some(now());
        }
    }

    /// There is nothing to read: until when to wait for more, and for what.
    pub(crate) fn for_bytes(
        &mut self,
        activity: &Activity,
        now: impl FnOnce() -> Instant,
    ) -> Option<(Instant, Silence)> {
        if !self.between_requests(activity) {
            return None;
        }
        if let (Some(since), Some(head)) = (self.head_since, self.patience.head) {
            return Some((since + head, Silence::Head));
        }
        let since = *self.idle_since.get_or_insert_with(now);
        Some((since + self.patience.idle, Silence::Idle))
    }

    /// The peer takes no more bytes: until when to wait.
    pub(crate) fn for_room(&mut self, now: impl FnOnce() -> Instant) -> (Instant, Silence) {
        let since = *self.stalled_since.get_or_insert_with(now);
        let answering = *self.answering_since.get_or_insert(since);
        ((since + self.patience.write).min(answering + self.patience.answer), Silence::Answer)
    }

    /// The peer took bytes.
    pub(crate) fn sent(&mut self) {
        self.stalled_since = None;
    }

    /// The peer took all that there was.
    pub(crate) fn flushed(&mut self) {
        (self.stalled_since, self.answering_since) = (None, None);
    }

    /// Whether no request is being answered. A request that began since the last look ended the head before it.
    fn between_requests(&mut self, activity: &Activity) -> bool {
        let (begun, open) = activity.requests();
        if begun != self.begun {
            (self.begun, self.idle_since, self.head_since) = (begun, None, None);
        }
        open == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience {
        idle: Duration::from_mins(2),
        head: Some(Duration::from_secs(5)),
        write: Duration::from_secs(10),
        answer: Duration::from_secs(30),
    };

    struct Scene {
        wait: Wait,
        activity: Arc<Activity>,
        start: Instant,
    }

    fn scene() -> Scene {
        Scene { wait: Wait::new(PATIENCE), activity: Arc::default(), start: Instant::now() }
    }

    impl Scene {
        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        fn bytes(&mut self, second: u64) {
            let now = self.at(second);
            self.wait.received(&self.activity, || now);
        }

        fn waits(&mut self, second: u64) -> Option<(u64, Silence)> {
            let now = self.at(second);
            let until = self.wait.for_bytes(&self.activity, || now);
            until.map(|(moment, silence)| ((moment - self.start).as_secs(), silence))
        }
    }

    #[test]
    fn a_new_connection_may_rest_as_long_as_an_idle_one() {
        assert_eq!(scene().waits(3), Some((123, Silence::Idle)));
    }

    #[test]
    fn the_first_byte_of_a_head_starts_its_time_and_further_bytes_win_none() {
        let mut scene = scene();
        scene.waits(0);
        scene.bytes(60);
        assert_eq!(scene.waits(60), Some((65, Silence::Head)));
        scene.bytes(64);
        assert_eq!(scene.waits(64), Some((65, Silence::Head)));
    }

    #[test]
    fn nothing_runs_while_a_request_is_being_answered() {
        let mut scene = scene();
        scene.bytes(0);
        let _busy = scene.activity.begin();
        assert_eq!(scene.waits(0), None);
        scene.bytes(1);
        assert_eq!(scene.waits(50), None);
    }

    #[test]
    fn a_connection_rests_from_the_moment_of_its_last_answer() {
        let mut scene = scene();
        scene.waits(0);
        scene.bytes(100);
        drop(scene.activity.begin());
        assert_eq!(scene.waits(101), Some((221, Silence::Idle)));
        assert_eq!(scene.waits(150), Some((221, Silence::Idle)));
    }

    #[test]
    fn each_head_has_its_own_time() {
        let mut scene = scene();
        scene.bytes(0);
        drop(scene.activity.begin());
        scene.bytes(50);
        assert_eq!(scene.waits(50), Some((55, Silence::Head)));
    }

    #[test]
    fn without_heads_to_watch_bytes_win_no_time_at_all() {
        let mut scene = scene();
        scene.wait.patience.head = None;
        scene.waits(0);
        scene.bytes(100);
        assert_eq!(scene.waits(100), Some((120, Silence::Idle)));
    }

    #[test]
    fn a_peer_that_takes_a_byte_now_and_then_is_not_stalled() {
        let mut scene = scene();
        let (first, later) = (scene.at(0), scene.at(9));
        assert_eq!(scene.wait.for_room(|| first).0, scene.at(10));
        assert_eq!(scene.wait.for_room(|| later).0, scene.at(10));
        scene.wait.sent();
        assert_eq!(scene.wait.for_room(|| later).0, scene.at(19));
    }

    #[test]
    fn a_peer_that_takes_a_byte_now_and_then_is_given_up_in_the_end() {
        let mut scene = scene();
        for second in [0, 9, 18, 27] {
            let now = scene.at(second);
            assert_eq!(scene.wait.for_room(|| now).0, scene.at((second + 10).min(30)));
            scene.wait.sent();
        }
        scene.wait.flushed();
        let next = scene.at(29);
        assert_eq!(scene.wait.for_room(|| next).0, scene.at(39), "the next answer has its own time");
    }
}
