//! Another thread for a long list, while no other request wants it.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use gateward_core::SpareThread;
use tokio::sync::Semaphore;

use crate::limits::Cap;
use crate::pool::WorkPool;

/// A thread of the pool, as long as no other review is under way.
///
/// The list holds it for some milliseconds at a time, so that a review that comes meanwhile waits no longer than for its
/// turn. The objects that are converted there count in the pool's budget of bytes.
pub(crate) struct IdleThread {
    /// Reviews that are handled on the thread that received them.
    pub inline: Arc<Semaphore>,
    /// How many of those there may be.
    pub concurrency: Cap,
    /// The pool that lends its thread.
    pub pool: Arc<WorkPool>,
}

impl SpareThread for IdleThread {
    fn join(&self, own: &mut dyn FnMut(), other: &mut (dyn FnMut() + Send)) {
        let is_idle = self.inline.available_permits() == self.concurrency.get() as usize;
        let lent = is_idle.then(|| self.pool.lend()).flatten();
        if !(lent.is_some() && both(own, other)) {
            own();
            other();
        }
    }
}

/// Runs both at the same time; whether there was a thread for that.
fn both(own: &mut dyn FnMut(), other: &mut (dyn FnMut() + Send)) -> bool {
    thread::scope(|scope| {
        let Ok(other) = thread::Builder::new().name("gateward-list".into()).spawn_scoped(scope, other) else {
            return false;
        };
        own();
        // A panic costs the review, as on the thread that it is on.
        other.join().unwrap_or_else(|panic| resume_unwind(panic));
        true
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread::{ThreadId, current};

    use super::*;
    use crate::limits::ByteSize;

    const CONCURRENCY: Cap = Cap::at_most(4);

    fn idle(threads: u32) -> IdleThread {
        let pool = Arc::new(WorkPool::new(Cap::at_most(threads), ByteSize::mebibytes(64)));
        IdleThread { inline: Arc::new(Semaphore::new(CONCURRENCY.get() as usize)), concurrency: CONCURRENCY, pool }
    }

    /// The threads that both ran on.
    fn ran_on(spare: &IdleThread) -> (ThreadId, ThreadId) {
        let (mut own, mut other) = (None, None);
        spare.join(&mut || own = Some(current().id()), &mut || other = Some(current().id()));
        (own.unwrap(), other.unwrap())
    }

    #[test]
    fn an_idle_thread_is_lent_each_time() {
        let (spare, here) = (idle(1), current().id());
        for _ in 0..3 {
            let (own, other) = ran_on(&spare);
            assert_eq!(own, here);
            assert_ne!(other, here);
        }
    }

    #[test]
    fn nothing_is_lent_while_another_review_is_under_way() {
        let (spare, here) = (idle(1), current().id());
        let small = spare.inline.try_acquire().unwrap();
        assert_eq!(ran_on(&spare), (here, here), "a small one");
        drop(small);
        let large = spare.pool.lend().unwrap();
        assert_eq!(ran_on(&spare), (here, here), "a large one, on the only thread");
        drop(large);
        assert_ne!(ran_on(&spare), (here, here));
    }

    #[test]
    fn a_panic_on_either_side_is_the_panic_of_both() {
        for (own, other) in [(true, false), (false, true)] {
            let spare = idle(1);
            let side = |falls: bool| move || assert!(!falls, "a trap");
            let (mut own, mut other) = (side(own), side(other));
            let panic = catch_unwind(AssertUnwindSafe(|| spare.join(&mut own, &mut other))).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"a trap"));
            assert!(spare.pool.lend().is_some(), "the thread is given back");
        }
    }
}
