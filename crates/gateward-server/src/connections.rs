//! How many connections a listener has, and which of them is closed when there is no room for another.
//!
//! The oldest connection that has not yet brought a whole request goes first: it costs a stranger nothing to open, and a
//! caller that means to ask has asked within milliseconds. Then goes the one that has rested for longest, then the one
//! whose next request has been on its way for longest. A connection whose request is being answered never goes, and each
//! has a moment to bring one: where many come at once, those that come after wait for that long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

use crate::limits::Cap;

/// How long a new connection has for its request, whoever else comes.
const MOMENT: Duration = Duration::from_millis(20);

/// The connections of one listener. All clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionLimit(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    open: Mutex<Open>,
    /// How many slots exist: those of open connections, and those of evicted ones that are not closed yet.
    slots: watch::Sender<usize>,
}

/// The connections that hold a place, oldest first.
#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: BTreeMap<u64, Arc<ConnectionState>>,
}

/// What becomes of a new connection.
#[derive(Debug)]
pub(crate) enum Admission {
    /// There is room.
    Free(Slot),
    /// There is room because another connection was evicted.
    InPlaceOfAnother(Slot),
    /// Every connection has a request under way.
    Refused,
}

impl ConnectionLimit {
    pub(crate) fn new(most: Cap) -> Self {
        let (most, slots) = (most.get() as usize, watch::Sender::new(0));
        Self(Arc::new(Shared { most, open: Mutex::default(), slots }))
    }

    /// Takes a place for a new connection, another's if need be.
    pub(crate) fn admit(&self) -> Admission {
        let mut open = self.open();
        if open.connections.len() < self.0.most {
            return Admission::Free(self.slot(&mut open));
        }
        if open.evict_one() { Admission::InPlaceOfAnother(self.slot(&mut open)) } else { Admission::Refused }
    }

    /// Closes the connection that can best be spared; `false` where none can.
    pub(crate) fn evict_one(&self) -> bool {
        self.open().evict_one()
    }

    /// How many connections are not closed yet.
    pub(crate) fn taken(&self) -> usize {
        *self.0.slots.borrow()
    }

    /// Waits until every connection is closed.
    pub(crate) async fn empty(&self) {
        self.at_most(0).await;
    }

    /// Waits until evicted connections are closed, so that a flood can't open more than the limit and one.
    pub(crate) async fn settled(&self) {
        self.at_most(self.0.most).await;
    }

    /// Where a connection must make room next, waits until it has had its moment.
    pub(crate) async fn moment(&self) {
        let Some(opened) = self.next_to_go() else { return };
        if opened.elapsed() < MOMENT {
            sleep_until(opened + MOMENT).await;
        }
        // Where the thread itself was late, what has arrived meanwhile is read first.
        yield_now().await;
    }

    /// When the connection was opened that makes room next; `None` while there is room.
    fn next_to_go(&self) -> Option<Instant> {
        let open = self.open();
        let full = open.connections.len() >= self.0.most;
        full.then(|| open.most_dispensable()).flatten().and_then(|id| open.connections.get(&id)).map(|it| it.opened)
    }

    async fn at_most(&self, count: usize) {
        // An error would mean that the sender is gone, which is held here.
        let _ = self.0.slots.subscribe().wait_for(|slots| *slots <= count).await;
    }

    fn slot(&self, open: &mut Open) -> Slot {
        let (id, state) = (open.next, Arc::new(ConnectionState::default()));
        open.next += 1;
        open.connections.insert(id, Arc::clone(&state));
        self.0.slots.send_modify(|slots| *slots += 1);
        Slot { limit: self.clone(), id, state }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn evict_one(&mut self) -> bool {
        // A second look is needed only where a request arrived since the first.
        for _ in 0..self.connections.len() {
            let Some(id) = self.most_dispensable() else { return false };
            let evicted = self.connections.get(&id).is_some_and(|state| state.evict());
            if evicted {
                self.connections.remove(&id);
                return true;
            }
        }
        false
    }

    fn most_dispensable(&self) -> Option<u64> {
        let ranked = || self.connections.iter().filter_map(|(id, state)| Some((state.rank()?, *id)));
        let first = ranked().find(|(rank, _)| *rank == Rank::New).or_else(|| ranked().min());
        first.map(|(_, id)| id)
    }
}

/// A place in the limit; free again when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    limit: ConnectionLimit,
    id: u64,
    state: Arc<ConnectionState>,
}

impl Slot {
    /// What the connection tells the limit.
    pub(crate) fn state(&self) -> &Arc<ConnectionState> {
        &self.state
    }

    /// Waits until the connection must make room.
    pub(crate) async fn evicted(&self) {
        self.state.evicted.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // An evicted connection isn't there any more.
        self.limit.open().connections.remove(&self.id);
        self.limit.0.slots.send_modify(|slots| *slots = slots.saturating_sub(1));
    }
}

/// How far the requests of a connection have come.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    opened: Instant,
    progress: Mutex<Progress>,
    evicted: Notify,
}

#[derive(Debug, Default)]
struct Progress {
    /// Requests whose head has come and whose body has not.
    receiving: u32,
    /// Requests that have come and whose answer is not written.
    in_flight: u32,
    /// When the last whole request came or was answered.
    served: Option<Instant>,
    evicted: bool,
}

/// How dispensable a connection is, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It has not brought a whole request.
    New,
    /// It rests since then.
    Idle(Instant),
    /// A further request is on its way; the last answer was then.
    Receiving(Instant),
}

impl Default for ConnectionState {
    fn default() -> Self {
        Self { opened: Instant::now(), progress: Mutex::default(), evicted: Notify::new() }
    }
}

impl ConnectionState {
    /// The head of a request was read.
    pub(crate) fn receive(self: &Arc<Self>) -> Receiving {
        self.progress().receiving += 1;
        Receiving(Arc::clone(self))
    }

    /// `None` for a connection that must stay, or is gone already.
    fn rank(&self) -> Option<Rank> {
        self.progress().rank()
    }

    /// Has the connection closed, unless a request is under way.
    fn evict(&self) -> bool {
        let mut progress = self.progress();
        if progress.rank().is_none() {
            return false;
        }
        progress.evicted = true;
        self.evicted.notify_one();
        true
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn rank(&self) -> Option<Rank> {
        if self.evicted || self.in_flight > 0 {
            return None;
        }
        Some(match self.served {
            None => Rank::New,
            Some(since) if self.receiving > 0 => Rank::Receiving(since),
            Some(since) => Rank::Idle(since),
        })
    }
}

/// A request whose head was read, until the rest is there or is given up.
#[derive(Debug)]
pub(crate) struct Receiving(Arc<ConnectionState>);

impl Receiving {
    /// The request is there: from now on its connection stays.
    pub(crate) fn whole(self) -> InFlight {
        let mut progress = self.0.progress();
        progress.in_flight += 1;
        progress.served = Some(Instant::now());
        drop(progress);
        InFlight(Arc::clone(&self.0))
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        let mut progress = self.0.progress();
        progress.receiving = progress.receiving.saturating_sub(1);
    }
}

/// A whole request, until its answer is written.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<ConnectionState>);

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut progress = self.0.progress();
        progress.in_flight = progress.in_flight.saturating_sub(1);
        progress.served = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limit(most: u32) -> ConnectionLimit {
        ConnectionLimit::new(Cap::at_most(most))
    }

    fn free(limit: &ConnectionLimit) -> Slot {
        match limit.admit() {
            Admission::Free(slot) => slot,
            other => panic!("{other:?}"),
        }
    }

    fn in_place_of_another(limit: &ConnectionLimit) -> Slot {
        match limit.admit() {
            Admission::InPlaceOfAnother(slot) => slot,
            other => panic!("{other:?}"),
        }
    }

    fn is_evicted(slot: &Slot) -> bool {
        slot.state.progress().evicted
    }

    /// A connection that has brought a request and rests.
    fn idle(slot: &Slot) {
        drop(slot.state().receive().whole());
    }

    #[test]
    fn the_oldest_without_a_request_goes_before_one_that_rests() {
        let limit = limit(3);
        let (resting, older, newer) = (free(&limit), free(&limit), free(&limit));
        idle(&resting);
        let _fourth = in_place_of_another(&limit);
        assert_eq!([&resting, &older, &newer].map(is_evicted), [false, true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_have_brought_a_request_the_one_that_rests_longest_goes() {
        let limit = limit(2);
        let (first, second) = (free(&limit), free(&limit));
        idle(&second);
        tokio::time::advance(Duration::from_secs(1)).await;
        idle(&first);
        let _third = in_place_of_another(&limit);
        assert_eq!([&first, &second].map(is_evicted), [false, true]);
    }

    #[test]
    fn a_head_without_its_body_is_no_whole_request() {
        let limit = limit(1);
        let slow = free(&limit);
        let _receiving = slow.state().receive();
        let _other = in_place_of_another(&limit);
        assert!(is_evicted(&slow));
    }

    #[test]
    fn a_further_request_on_its_way_outlasts_a_connection_that_rests() {
        let limit = limit(2);
        let (asking, resting) = (free(&limit), free(&limit));
        idle(&asking);
        idle(&resting);
        let _receiving = asking.state().receive();
        let _third = in_place_of_another(&limit);
        assert_eq!([&asking, &resting].map(is_evicted), [false, true]);
    }

    #[test]
    fn a_connection_with_a_request_under_way_never_goes() {
        let limit = limit(1);
        let busy = free(&limit);
        let in_flight = busy.state().receive().whole();
        assert!(matches!(limit.admit(), Admission::Refused));
        assert!(!limit.evict_one() && !is_evicted(&busy));
        drop(in_flight);
        let _other = in_place_of_another(&limit);
        assert!(is_evicted(&busy));
    }

    #[tokio::test(start_paused = true)]
    async fn each_has_its_moment_before_it_makes_room() {
        let (limit, start) = (limit(2), Instant::now());
        let _first = free(&limit);
        limit.moment().await;
        assert_eq!(start.elapsed(), Duration::ZERO, "there is room");
        tokio::time::advance(MOMENT / 2).await;
        let second = free(&limit);
        limit.moment().await;
        assert_eq!(start.elapsed().as_millis(), MOMENT.as_millis(), "the first has had it");
        let _third = in_place_of_another(&limit);
        idle(&second);
        assert_eq!(second.state.progress().rank().map(|rank| rank == Rank::New), Some(false));
        limit.moment().await;
        assert!(start.elapsed() >= 2 * MOMENT, "the third is next, and came later than the second");
    }

    #[tokio::test]
    async fn who_is_evicted_learns_it_and_its_place_is_not_given_back_twice() {
        let limit = limit(1);
        let first = free(&limit);
        let second = in_place_of_another(&limit);
        first.evicted().await;
        assert_eq!(limit.taken(), 2);
        drop(first);
        limit.settled().await;
        assert_eq!(limit.taken(), 1);
        drop(second);
        limit.empty().await;
        let _third = free(&limit);
    }
}
