//! Long work, on threads beside those that do I/O.
//!
//! The pool polls a review in steps. Each step takes a thread, so reviews that yield take turns, and one that waits for
//! something holds no thread. A review holds a part of a byte budget until it ends, which bounds the memory of parsing and
//! handling. A step can't be interrupted: when the result is dropped, the step keeps its thread and its bytes until it
//! ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::limits::{ByteSize, Cap, work_cost};
use crate::panics::{Panicked, catch_panic};

/// How long a future that only yields is polled before another one gets the thread: a switch costs some microseconds.
const TIME_SLICE: Duration = Duration::from_millis(5);

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

    /// A thread, with the bytes of a small review, if no request waits for either.
    pub(crate) fn lend(&self) -> Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        let share = self.share(work_cost(0));
        let thread = Arc::clone(&self.threads).try_acquire_owned().ok()?;
        Some((thread, Arc::clone(&self.bytes).try_acquire_many_owned(share).ok()?))
    }

    fn share(&self, bytes: usize) -> u32 {
        u32::try_from(bytes).unwrap_or(u32::MAX).min(self.most_bytes)
    }

    /// Runs a future that costs so many bytes to its end. One above the budget takes all of it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Panicked> {
        let share = self.share(bytes);
        // No semaphore is ever closed, so this can't fail.
        let bytes = Arc::clone(&self.bytes).acquire_many_owned(share).await.ok();
        let mut work = Work { future: Some(Box::pin(catch_panic(future))), bytes };
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
                // The runtime shuts down, and with it the caller.
                Err(_) => return Err(Panicked),
            };
            wakeup.called.notified().await;
        }
    }
}

/// Records that a future is to be polled again.
#[derive(Default)]
struct Wakeup {
    called: Notify,
    /// Whether the future was woken since the last poll.
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
    bytes: Option<OwnedSemaphorePermit>,
}

/// The result of a step.
enum Step<F: Future + Send + 'static> {
    Ended(F::Output),
    Waits(Work<F>),
}

impl<T, F: Future<Output = Result<T, Panicked>> + Send + 'static> Work<F> {
    fn step(mut self, wakeup: &Arc<Wakeup>) -> Step<F> {
        let (waker, start) = (Waker::from(Arc::clone(wakeup)), Instant::now());
        let Some(future) = self.future.as_mut() else { return Step::Ended(Err(Panicked)) };
        loop {
            wakeup.again.store(false, Ordering::SeqCst);
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Pending if wakeup.again.load(Ordering::SeqCst) && start.elapsed() < TIME_SLICE => {}
                Poll::Pending => return Step::Waits(self),
                Poll::Ready(result) => {
                    // It ends on this thread: dropping a large document takes time too.
                    self.future = None;
                    return Step::Ended(result);
                }
            }
        }
    }
}

impl<F: Future + Send + 'static> Drop for Work<F> {
    /// The result was dropped between two steps, on a thread that does I/O.
    fn drop(&mut self) {
        if let (Some(future), Ok(runtime)) = (self.future.take(), Handle::try_current()) {
            let bytes = self.bytes.take();
            drop(runtime.spawn_blocking(move || drop((future, bytes))));
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
    async fn work_runs_on_another_thread() {
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
    async fn a_future_that_yields_shares_its_thread() {
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
    async fn a_future_that_waits_holds_no_thread() {
        let (pool, wake) = (pool(1, 2), Arc::new(Notify::new()));
        let woken = Arc::clone(&wake);
        let waiting = async move { woken.notified().await };
        let waking = async move { wake.notify_one() };
        let (waiting, waking) = tokio::join!(pool.run(1, waiting), pool.run(1, waking));
        assert_eq!((waiting, waking), (Ok(()), Ok(())));
    }

    #[tokio::test]
    async fn abandoned_work_keeps_its_thread_and_its_bytes_until_it_ends() {
        let pool = pool(1, 10);
        let (release, released) = mpsc::channel::<()>();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let stuck = {
            let pool = Arc::clone(&pool);
            let blocks = async move {
                let _ = begun.send(());
                released.recv().is_ok()
            };
            tokio::spawn(async move { pool.run(10, blocks).await })
        };
        begins.await.unwrap();
        stuck.abort();
        assert!(stuck.await.unwrap_err().is_cancelled());
        assert_eq!((pool.threads.available_permits(), pool.bytes.available_permits()), (0, 0));
        release.send(()).unwrap();
        assert_eq!(pool.run(10, async { 1 }).await, Ok(1), "both are returned");
    }

    #[tokio::test]
    async fn work_that_is_larger_than_the_budget_runs_alone() {
        assert_eq!(pool(2, 10).run(usize::MAX, async { 1 }).await, Ok(1));
    }
}
