//! The watch over the bytes of one connection.
//!
//! The HTTP library's own timer for heads also runs while a connection rests between two requests, so it can't be short
//! (slow heads) and long (idle connections) at once. This wrapper knows from [`Activity`] which of the two it sees.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::patience::{Activity, Patience, Silence, Wait};

/// A stream that gives a silent peer up with [`io::ErrorKind::TimedOut`].
pub(crate) struct Guarded<S> {
    stream: S,
    activity: Arc<Activity>,
    wait: Wait,
    alarm: Alarm,
    closing: Closing,
    linger: Duration,
}

/// How far the end of a connection has come.
enum Closing {
    /// Its own side is open.
    No,
    /// Its own side is closed; what the peer still sends is swallowed until then.
    Lingering(Instant),
}

impl<S> Guarded<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>, patience: Patience, linger: Duration) -> Self {
        let (wait, alarm) = (Wait::new(patience), Alarm::default());
        Self { stream, activity, wait, alarm, closing: Closing::No, linger }
    }

    /// Waits on: an error when the peer's time is over.
    fn wait_on(&mut self, cx: &mut Context<'_>, until: Instant, silence: Silence) -> Poll<io::Error> {
        ready!(self.alarm.poll(cx, until));
        self.activity.give_up(silence);
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    /// Passes a result of writing on, and keeps the time of a peer that takes nothing.
    fn after_write<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.wait.sent();
            return result;
        }
        let (until, silence) = self.wait.for_room(Instant::now);
        self.wait_on(cx, until, silence).map(Err)
    }
}

impl<S: AsyncRead + Unpin> Guarded<S> {
    /// Reads until there is no more or no room: TLS hands out one record at a time, and each part of a body that is
    /// given to the HTTP library alone costs a round through the scheduler.
    fn fill(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        loop {
            let filled = buffer.filled().len();
            let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
            let progress = buffer.filled().len() > filled;
            if progress && buffer.remaining() > 0 {
                continue;
            }
            // An end or an error comes again at the next call, when what was read before it has been used.
            return if buffer.filled().len() > before { Poll::Ready(Ok(())) } else { result };
        }
    }

    /// Swallows what the peer still sends, so that it finds the answer before it finds the connection reset.
    fn swallow(&mut self, cx: &mut Context<'_>, until: Instant) -> Poll<io::Result<()>> {
        let mut space = [0; 4096];
        loop {
            if self.alarm.poll(cx, until).is_ready() {
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

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let result = this.fill(cx, buffer);
        if result.is_ready() {
            this.wait.received(&this.activity, Instant::now);
            return result;
        }
        match this.wait.for_bytes(&this.activity, Instant::now) {
            Some((until, silence)) => this.wait_on(cx, until, silence).map(Err),
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
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
            this.wait.flushed();
        }
        this.after_write(cx, result)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Closing::No = this.closing {
            let result = Pin::new(&mut this.stream).poll_shutdown(cx);
            ready!(this.after_write(cx, result))?;
            this.closing = Closing::Lingering(Instant::now() + this.linger);
        }
        match this.closing {
            Closing::Lingering(until) if this.activity.body_was_left() => this.swallow(cx, until),
            _ => Poll::Ready(Ok(())),
        }
    }
}

/// A timer that is moved as seldom as can be: it may ring early, and is then set again.
#[derive(Default)]
struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
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

    const PATIENCE: Patience = Patience {
        idle: Duration::from_mins(2),
        head: Some(Duration::from_secs(5)),
        write: Duration::from_secs(10),
        answer: Duration::from_secs(30),
    };

    fn pair(room: usize) -> (Guarded<DuplexStream>, DuplexStream, Arc<Activity>) {
        let (near, far) = duplex(room);
        let activity = Arc::<Activity>::default();
        (Guarded::new(near, Arc::clone(&activity), PATIENCE, Duration::from_secs(1)), far, activity)
    }

    async fn read(stream: &mut Guarded<DuplexStream>) -> io::Result<usize> {
        stream.read(&mut [0; 64]).await
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_peer_is_given_up_after_its_time() {
        let (mut near, _far, activity) = pair(64);
        let start = Instant::now();
        assert_eq!(read(&mut near).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!((start.elapsed().as_secs(), activity.given_up()), (120, Some(Silence::Idle)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_trickles_is_given_up_after_its_own_time() {
        let (mut near, mut far, activity) = pair(64);
        let start = Instant::now();
        let trickle = tokio::spawn(async move {
            while far.write_all(b"P").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        while read(&mut near).await.is_ok() {}
        assert_eq!((start.elapsed().as_secs(), activity.given_up()), (5, Some(Silence::Head)));
        drop(near);
        trickle.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_in_work_is_never_given_up() {
        let (mut near, mut far, activity) = pair(64);
        far.write_all(b"POST").await.unwrap();
        read(&mut near).await.unwrap();
        let _busy = activity.begin();
        let hour = tokio::time::timeout(Duration::from_hours(1), read(&mut near)).await;
        assert!(hour.is_err(), "still waiting");
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_no_answer_is_given_up() {
        let (mut near, _far, activity) = pair(4);
        let start = Instant::now();
        assert_eq!(near.write_all(b"a long answer").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!((start.elapsed().as_secs(), activity.given_up()), (10, Some(Silence::Answer)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_its_answer_byte_by_byte_is_given_up_too() {
        let (mut near, mut far, activity) = pair(4);
        let start = Instant::now();
        let nibble = tokio::spawn(async move {
            while far.read_exact(&mut [0]).await.is_ok() {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
        });
        assert_eq!(near.write_all(&[b'x'; 1_000]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!((start.elapsed().as_secs(), activity.given_up()), (30, Some(Silence::Answer)));
        drop(near);
        nibble.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_was_left_is_swallowed_for_a_while() {
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
    async fn without_a_left_body_the_end_is_immediate() {
        let (mut near, _far, _) = pair(64);
        let start = Instant::now();
        near.shutdown().await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_in_parts_is_read_at_once() {
        let (mut near, mut far, _) = pair(64);
        far.write_all(b"one").await.unwrap();
        far.write_all(b"two").await.unwrap();
        drop(far);
        let mut space = [0; 64];
        assert_eq!(near.read(&mut space).await.unwrap(), 6);
        assert_eq!(near.read(&mut space).await.unwrap(), 0, "the end comes at the next call");
    }
}
