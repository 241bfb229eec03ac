//! Where long work is done: on threads beside those that move bytes.
//!
//! A review is polled there step by step. Each step takes a thread, so that reviews that yield take turns, and one that
//! waits for something holds no thread. For its whole life it takes a part of a byte budget, which bounds the memory that
//! reading and judging may cost at a time. A step can't be interrupted: who gives up the result leaves the step with its
//! thread and its bytes, and no other takes them before it has ended.

use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::limits::{ByteSize, Cap};
use crate::panics::Panicked;

/// For how long a future that only yields goes on before another has its turn: handing it over costs some microseconds.
const TURN: Duration = Duration::from_millis(5);

/// The threads and the budget of a listener.
pub(crate) struct WorkPool {
    threads: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    most_bytes: u32,
}

impl WorkPool {
    pub(crate) fn new(threads: Cap, bytes: ByteSize) -> Self {
        let most_bytes = u32::try_from(bytes.get().max(1)).unwrap_or(u32::MAX);
        let (threads, bytes) = (Semaphore::new(threads.get() as usize), Semaphore::new(most_bytes as usize));
        Self { threads: Arc::new(threads), bytes: Arc::new(bytes), most_bytes }
    }

    /// Runs a future of so many bytes to its end. One that is larger than the budget takes all of it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Panicked> {
        let share = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.most_bytes);
        // Neither budget is ever closed, which alone would be an error.
        let room = Arc::clone(&self.bytes).acquire_many_owned(share).await.ok();
        let mut work = Work { future: Some(Box::pin(future)), room };
        let wakeup = Arc::<Wakeup>::default();
        loop {
            let thread = Arc::clone(&self.threads).acquire_owned().await.ok();
            let waker = Arc::clone(&wakeup);
            let stepped = spawn_blocking(move || {
                let _thread = thread;
                work.step(&waker)
            });
            work = match stepped.await {
                Ok(Step::Ended(result)) => return result,
                Ok(Step::Waits(work)) => work,
                // The runtime ends, and with it whoever waits for this.
                Err(_) => return Err(Panicked),
            };
            wakeup.called.notified().await;
        }
    }
}

/// Remembers that a future wants to be polled again.
#[derive(Default)]
struct Wakeup {
    called: Notify,
    /// Since the last poll.
    again: AtomicBool,
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.again.store(true, Ordering::SeqCst);
        self.called.notify_one();
    }
}

/// A future between two steps, with its share of the budget.
struct Work<F: Future + Send + 'static> {
    future: Option<Pin<Box<F>>>,
    room: Option<OwnedSemaphorePermit>,
}

/// What has come of a step.
enum Step<F: Future + Send + 'static> {
    Ended(Result<F::Output, Panicked>),
    Waits(Work<F>),
}

impl<F: Future + Send + 'static> Work<F> {
    fn step(mut self, wakeup: &Arc<Wakeup>) -> Step<F> {
        let (waker, start) = (Waker::from(Arc::clone(wakeup)), Instant::now());
        let Some(future) = self.future.as_mut() else { return Step::Ended(Err(Panicked)) };
        loop {
            wakeup.again.store(false, Ordering::SeqCst);
            let poll = AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker)));
            match panic::catch_unwind(poll) {
                Ok(Poll::Pending) if wakeup.again.load(Ordering::SeqCst) && start.elapsed() < TURN => {}
                Ok(Poll::Pending) => return Step::Waits(self),
                Ok(Poll::Ready(output)) => return self.end(Ok(output)),
                Err(_) => return self.end(Err(Panicked)),
            }
        }
    }

    /// What the future holds is dropped on this thread: dropping a large document takes its time too.
    fn end(mut self, result: Result<F::Output, Panicked>) -> Step<F> {
        drop(self.future.take());
        Step::Ended(result)
    }
}

impl<F: Future + Send + 'static> Drop for Work<F> {
    /// Given up between two steps, on a thread that moves bytes.
    fn drop(&mut self) {
        if let (Some(future), Ok(runtime)) = (self.future.take(), Handle::try_current()) {
            let room = self.room.take();
            drop(runtime.spawn_blocking(move || drop((future, room))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn pool(threads: u32, bytes: usize) -> Arc<WorkPool> {
        Arc::new(WorkPool::new(Cap::at_most(threads), ByteSize::bytes(bytes)))
    }

    #[tokio::test]
    async fn work_is_done_on_another_thread() {
        let here = thread::current().id();
        assert_ne!(pool(1, 1).run(1, async { thread::current().id() }).await.unwrap(), here);
    }

    #[tokio::test]
    async fn a_panic_at_any_step_is_a_value() {
        let pool = pool(1, 1);
        assert_eq!(pool.run(1, async { panic!("first") }).await, Err::<(), _>(Panicked));
        let later = async {
            tokio::task::yield_now().await;
            panic!("later")
        };
        assert_eq!(pool.run(1, later).await, Err::<(), _>(Panicked));
        assert_eq!(pool.run(1, async { 1 }).await, Ok(1));
    }

    #[tokio::test]
    async fn who_yields_gives_others_a_turn() {
        let (pool, ended) = (pool(1, 2), Arc::new(AtomicBool::new(false)));
        let waits = Arc::clone(&ended);
        let long = async move {
            while !waits.load(Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
        };
        let short = async move { ended.store(true, Ordering::SeqCst) };
        let (long, short) = tokio::join!(pool.run(1, long), pool.run(1, short));
        assert_eq!((long, short), (Ok(()), Ok(())));
    }

    #[tokio::test]
    async fn who_waits_holds_no_thread() {
        let (pool, wake) = (pool(1, 2), Arc::new(Notify::new()));
        let woken = Arc::clone(&wake);
        let waiting = async move { woken.notified().await };
        let waking = async move { wake.notify_one() };
        let (waiting, waking) = tokio::join!(pool.run(1, waiting), pool.run(1, waking));
        assert_eq!((waiting, waking), (Ok(()), Ok(())));
    }

    #[tokio::test]
    async fn work_that_was_given_up_keeps_its_thread_and_its_bytes_until_it_ends() {
        let pool = pool(1, 10);
        let (go_on, told) = mpsc::channel::<()>();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let stuck = {
            let pool = Arc::clone(&pool);
            let blocks = async move {
                let _ = begun.send(());
                told.recv().is_ok()
            };
            tokio::spawn(async move { pool.run(10, blocks).await })
        };
        begins.await.unwrap();
        stuck.abort();
        assert!(stuck.await.unwrap_err().is_cancelled());
        assert_eq!((pool.threads.available_permits(), pool.bytes.available_permits()), (0, 0));
        go_on.send(()).unwrap();
        assert_eq!(pool.run(10, async { 1 }).await, Ok(1), "both come back");
    }

    #[tokio::test]
    async fn work_that_is_larger_than_the_budget_runs_alone() {
        assert_eq!(pool(2, 10).run(usize::MAX, async { 1 }).await, Ok(1));
    }
}
