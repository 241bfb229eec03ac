//! A future polled to its end on the thread of a test.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a future may wait that nothing wakes: as long as the API server waits for a webhook that doesn't say otherwise.
const STALL_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a future is polled that nothing has woken. Some runtimes wake only when the polling thread comes back to
/// them, which this one doesn't.
const GLANCE: Duration = Duration::from_millis(1);

/// Polls until the future is ready.
///
/// A future that waits is ready once another thread has woken it. In a test that runs in a runtime, what waits for that
/// runtime (`tokio::time::sleep`, say) stands still with it while this function blocks; so after ten seconds it panics and says
/// what to call instead: [`TestRequest::asynchronous`](super::TestRequest::asynchronous) and
/// [`asynchronous`](super::asynchronous).
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_for(STALL_TIMEOUT, future)
}

#[track_caller]
fn block_on_for<F: Future>(timeout: Duration, future: F) -> F::Output {
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut context = Context::from_waker(&waker);
    let mut waiting_since = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        if unpark.is_woken.swap(false, Ordering::Relaxed) {
            waiting_since = Instant::now();
            continue;
        }
        assert!(
            waiting_since.elapsed() < timeout,
            "what is tested has waited for {timeout:?}. If it waits for the runtime of this test, that stands still \
             meanwhile: write `TestRequest::of(…).asynchronous()` and `.await`, or the words of `testing::asynchronous`"
        );
        thread::park_timeout(GLANCE);
    }
}

/// Wakes the thread that polls.
struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};

    use super::*;

    #[test]
    fn a_future_is_polled_again_though_nothing_woke_it() {
        let mut polls = 0;
        let third = poll_fn(|_| {
            polls += 1;
            if polls == 3 { Poll::Ready("ready") } else { Poll::Pending }
        });
        assert_eq!(block_on(third), "ready");
    }

    #[test]
    fn another_thread_wakes_a_future() {
        let (sender, receiver) = std::sync::mpsc::channel::<Waker>();
        let woken = Arc::new(AtomicBool::new(false));
        let waking = Arc::clone(&woken);
        let other = thread::spawn(move || {
            let waker = receiver.recv().unwrap();
            waking.store(true, Ordering::SeqCst);
            waker.wake();
        });
        block_on(poll_fn(|context| {
            let _ = sender.send(context.waker().clone());
            if woken.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        }));
        other.join().unwrap();
    }

    #[test]
    #[should_panic(expected = "TestRequest::of(…).asynchronous()")]
    fn what_never_gets_ready_ends_with_what_to_call_instead() {
        block_on_for(Duration::from_millis(20), pending::<()>());
    }

    /// Work of many steps may take its time, on a busy machine above all.
    #[test]
    fn what_is_woken_again_and_again_is_not_given_up() {
        let mut steps = 0;
        let laborious = poll_fn(|context| {
            context.waker().wake_by_ref();
            thread::sleep(Duration::from_millis(5));
            steps += 1;
            if steps == 10 { Poll::Ready(()) } else { Poll::Pending }
        });
        block_on_for(Duration::from_millis(20), laborious);
    }
}
