//! A stream that enforces the timeouts of one connection.
//!
//! The HTTP library's own timer for heads also runs while a connection is idle between two requests, so it can't be short
//! (slow heads) and long (idle connections) at once. This stream learns from [`Activity`] which of the two it sees.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::connection::timeouts::{Activity, ConnectionTimeouts, TimeoutKind, TimeoutTracker};

/// A stream whose reads and writes fail with [`io::ErrorKind::TimedOut`] when a timeout of the connection ends.
pub(crate) struct TimeoutStream<S> {
    stream: S,
    activity: Arc<Activity>,
    tracker: TimeoutTracker,
    timer: DeadlineTimer,
    write_side: WriteSide,
    linger: Duration,
}

/// Whether our side of the connection is open.
enum WriteSide {
    /// We can write.
    Open,
    /// We have closed it, and discard until then what the peer still sends.
    Lingering(Instant),
}

impl<S> TimeoutStream<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>, timeouts: ConnectionTimeouts, linger: Duration) -> Self {
        let (tracker, timer) = (TimeoutTracker::new(timeouts), DeadlineTimer::default());
        Self { stream, activity, tracker, timer, write_side: WriteSide::Open, linger }
    }

    /// Pending until the deadline, then an error.
    fn poll_deadline(&mut self, cx: &mut Context<'_>, until: Instant, kind: TimeoutKind) -> Poll<io::Error> {
        ready!(self.timer.poll(cx, until));
        self.activity.time_out(kind);
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    /// Passes on the result of a write, and starts or resets the write timeout.
    fn after_write<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.tracker.wrote();
            return result;
        }
        let (until, kind) = self.tracker.until_writable(Instant::now);
        self.poll_deadline(cx, until, kind).map(Err)
    }
}

impl<S: AsyncRead + Unpin> TimeoutStream<S> {
    /// Reads until there is nothing more or the buffer is full: TLS returns one record at a time, and each read of the HTTP
    /// library costs a round through the scheduler.
    fn fill(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        loop {
            let filled = buffer.filled().len();
            let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
            let progress = buffer.filled().len() > filled;
            if progress && buffer.remaining() > 0 {
                continue;
            }
            // The next call returns an end or an error again.
            return if buffer.filled().len() > before { Poll::Ready(Ok(())) } else { result };
        }
    }

    /// Discards what the peer still sends, so that the response reaches the peer before a reset does.
    fn poll_linger(&mut self, cx: &mut Context<'_>, until: Instant) -> Poll<io::Result<()>> {
        let mut space = [0; 4096];
        loop {
            if self.timer.poll(cx, until).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut space);
            let result = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            if result.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = this.fill(cx, buffer);
        if result.is_ready() {
            this.tracker.read(&this.activity, Instant::now);
            return result;
        }
        match this.tracker.until_readable(&this.activity, Instant::now) {
            Some((until, kind)) => this.poll_deadline(cx, until, kind).map(Err),
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.after_write(cx, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.after_write(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_flush(cx);
        if result.is_ready() {
            this.tracker.flushed();
        }
        this.after_write(cx, result)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let WriteSide::Open = this.write_side {
            let result = Pin::new(&mut this.stream).poll_shutdown(cx);
            ready!(this.after_write(cx, result))?;
            this.write_side = WriteSide::Lingering(Instant::now() + this.linger);
        }
        match this.write_side {
            WriteSide::Lingering(until) if this.activity.has_unread_body() => this.poll_linger(cx, until),
            _ => Poll::Ready(Ok(())),
        }
    }
}

/// A timer that is reset rarely: it may fire early, and is then set to the current deadline.
#[derive(Default)]
struct DeadlineTimer(Option<Pin<Box<Sleep>>>);

impl DeadlineTimer {
    fn poll(&mut self, cx: &mut Context<'_>, until: Instant) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if sleep.deadline() > until {
            sleep.as_mut().reset(until);
        }
        ready!(sleep.as_mut().poll(cx));
        if sleep.deadline() < until {
            sleep.as_mut().reset(until);
            return sleep.as_mut().poll(cx);
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;
    use crate::connection::timeouts::tests::TIMEOUTS;

    fn pair(room: usize) -> (TimeoutStream<DuplexStream>, DuplexStream, Arc<Activity>) {
        let (near, far) = duplex(room);
        let activity = Arc::<Activity>::default();
        (TimeoutStream::new(near, Arc::clone(&activity), TIMEOUTS, Duration::from_secs(1)), far, activity)
    }

    async fn read(stream: &mut TimeoutStream<DuplexStream>) -> io::Result<usize> {
        stream.read(&mut [0; 64]).await
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_times_out() {
        let (mut near, _far, activity) = pair(64);
        let start = Instant::now();
        assert_eq!(read(&mut near).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!((start.elapsed().as_secs(), activity.timed_out()), (120, Some(TimeoutKind::Idle)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_head_times_out() {
        let (mut near, mut far, activity) = pair(64);
        let start = Instant::now();
        let trickle = tokio::spawn(async move {
            while far.write_all(b"P").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        while read(&mut near).await.is_ok() {}
        assert_eq!((start.elapsed().as_secs(), activity.timed_out()), (5, Some(TimeoutKind::Head)));
        drop(near);
        trickle.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_active_request_never_times_out() {
        let (mut near, mut far, activity) = pair(64);
        far.write_all(b"POST").await.unwrap();
        read(&mut near).await.unwrap();
        let _active = activity.begin();
        let hour = tokio::time::timeout(Duration::from_hours(1), read(&mut near)).await;
        assert!(hour.is_err(), "still waiting");
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_nothing_times_out() {
        let (mut near, _far, activity) = pair(4);
        let start = Instant::now();
        assert_eq!(near.write_all(b"a long response").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!((start.elapsed().as_secs(), activity.timed_out()), (10, Some(TimeoutKind::Response)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_slowly_times_out() {
        let (mut near, mut far, activity) = pair(4);
        let start = Instant::now();
        let slow_reader = tokio::spawn(async move {
            while far.read_exact(&mut [0]).await.is_ok() {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
        });
        assert_eq!(near.write_all(&[b'x'; 1_000]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!((start.elapsed().as_secs(), activity.timed_out()), (30, Some(TimeoutKind::Response)));
        drop(near);
        slow_reader.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_unread_body_is_discarded_for_the_linger_time() {
        let (mut near, mut far, activity) = pair(1024);
        activity.leave_body();
        let start = Instant::now();
        let rest = tokio::spawn(async move {
            far.write_all(&[b'x'; 8192]).await.unwrap();
            far
        });
        near.shutdown().await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 1);
        rest.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn without_an_unread_body_shutdown_is_immediate() {
        let (mut near, _far, _) = pair(64);
        let start = Instant::now();
        near.shutdown().await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn several_records_are_read_at_once() {
        let (mut near, mut far, _) = pair(64);
        far.write_all(b"one").await.unwrap();
        far.write_all(b"two").await.unwrap();
        drop(far);
        let mut space = [0; 64];
        assert_eq!(near.read(&mut space).await.unwrap(), 6);
        assert_eq!(near.read(&mut space).await.unwrap(), 0, "the end comes at the next call");
    }
}
