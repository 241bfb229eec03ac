//! A future polled to its end on the thread of a test.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a future may wait, altogether: as long as the API server waits for a webhook that doesn't say otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

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
    block_on_for(PATIENCE, future)
}

#[track_caller]
fn block_on_for<F: Future>(patience: Duration, future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut waiting_since = None;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        let since = *waiting_since.get_or_insert_with(Instant::now);
        assert!(
            since.elapsed() < patience,
            "what is tested has waited for {patience:?}. If it waits for the runtime of this test, that stands still \
             meanwhile: write `TestRequest::of(…).asynchronous()` and `.await`, or the words of `testing::asynchronous`"
        );
        thread::park_timeout(GLANCE);
    }
}

/// Wakes the thread that polls.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
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
        let woken = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let waking = Arc::clone(&woken);
        let other = thread::spawn(move || {
            let waker = receiver.recv().unwrap();
            waking.store(true, std::sync::atomic::Ordering::SeqCst);
            waker.wake();
        });
        block_on(poll_fn(|context| {
            let _ = sender.send(context.waker().clone());
            if woken.load(std::sync::atomic::Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        }));
        other.join().unwrap();
    }

    #[test]
    #[should_panic(expected = "TestRequest::of(…).asynchronous()")]
    fn what_never_gets_ready_ends_with_what_to_call_instead() {
        block_on_for(Duration::from_millis(20), pending::<()>());
    }

    #[test]
    #[should_panic(expected = "testing::asynchronous")]
    fn what_wakes_itself_for_ever_ends_too() {
        let restless = poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        block_on_for(Duration::from_millis(20), restless);
    }
}
