//! Receives a body: counted against its limit and the byte budget while it streams, in a single buffer.

use std::ops::Deref;

use bytes::Bytes;
use gateward_core::WebhookError;
use http_body::Body;
use http_body_util::BodyExt;

use crate::limits::byte_budget::{ByteBudget, BytePermit};

/// The least that the buffer grows by. An announced `Content-Length` alone takes no memory.
const LEAST_STEP: usize = 64 * 1024;

/// The bytes of a body.
#[derive(Default)]
pub(crate) struct Payload {
    /// All of them, when they arrived in one frame: then nothing is copied.
    frame: Bytes,
    buffer: Vec<u8>,
}

/// A body that was received, with its part of the budget.
pub(crate) struct ReceivedBody {
    payload: Payload,
    permit: BytePermit,
}

impl ReceivedBody {
    fn new(budget: &ByteBudget) -> Self {
        Self { payload: Payload::default(), permit: budget.permit() }
    }

    /// The bytes and the permit for them. The permit may outlive the bytes.
    pub(crate) fn into_parts(self) -> (Payload, BytePermit) {
        (self.payload, self.permit)
    }

    fn add(&mut self, data: Bytes, limit: usize, expected: Option<usize>) -> Result<(), WebhookError> {
        if data.len() > limit.saturating_sub(self.payload.len()) {
            return Err(WebhookError::TooLarge { limit });
        }
        self.permit.grow(data.len()).map_err(|_| WebhookError::Overloaded)?;
        self.payload.add(data, expected);
        Ok(())
    }
}

impl Payload {
    fn add(&mut self, data: Bytes, expected: Option<usize>) {
        if self.is_empty() {
            self.frame = data;
            return;
        }
        let first = std::mem::take(&mut self.frame);
        make_room(&mut self.buffer, first.len() + data.len(), expected);
        self.buffer.extend_from_slice(&first);
        self.buffer.extend_from_slice(&data);
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.buffer.is_empty() { &self.frame } else { &self.buffer }
    }
}

impl Deref for ReceivedBody {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.payload
    }
}

/// Grows a buffer by doubling, but never beyond the announced length.
fn make_room(buffer: &mut Vec<u8>, more: usize, expected: Option<usize>) {
    if buffer.capacity() - buffer.len() >= more {
        return;
    }
    let doubled = buffer.len().max(LEAST_STEP);
    let rest = expected.map_or(doubled, |expected| expected.saturating_sub(buffer.len()));
    buffer.reserve_exact(doubled.min(rest).max(more));
}

/// Receives a body of at most `limit` bytes.
pub(crate) async fn receive<B>(mut body: B, limit: usize, budget: &ByteBudget) -> Result<ReceivedBody, WebhookError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let expected = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let mut received = ReceivedBody::new(budget);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| WebhookError::Unreadable("the body broke off".into()))?;
        // Trailers are ignored.
        if let Ok(data) = frame.into_data() {
            received.add(data, limit, expected)?;
        }
    }
    Ok(received)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use http_body::Frame;
    use prometheus_client::metrics::gauge::Gauge;

    use super::*;
    use crate::limits::{ByteSize, Cap};

    /// A body in frames, without a length.
    struct Frames(VecDeque<Bytes>);

    impl Body for Frames {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.pop_front().map(|frame| Ok(Frame::data(frame))))
        }
    }

    fn frames(sizes: &[usize]) -> Frames {
        Frames(sizes.iter().map(|size| Bytes::from(vec![b'x'; *size])).collect())
    }

    fn budget(bytes: usize) -> ByteBudget {
        ByteBudget::new(ByteSize::bytes(bytes), ByteSize::bytes(0), Cap::at_most(1), Gauge::default())
    }

    async fn status(sizes: &[usize], limit: usize, budget: &ByteBudget) -> Result<usize, u16> {
        receive(frames(sizes), limit, budget).await.map(|body| body.len()).map_err(|why| why.status())
    }

    #[tokio::test]
    async fn a_body_in_one_frame_is_not_copied() {
        let frame = Bytes::from_static(b"{}");
        let body = receive(Frames([frame.clone()].into()), 10, &budget(10)).await.unwrap();
        assert_eq!(body.as_ptr(), frame.as_ptr());
    }

    #[tokio::test]
    async fn frames_are_joined_in_order() {
        let parts = ["ab", "", "c", "def"].map(Bytes::from).into();
        let body = receive(Frames(parts), 6, &budget(6)).await.unwrap();
        assert_eq!(&*body, b"abcdef");
    }

    #[tokio::test]
    async fn a_body_is_counted_while_it_streams() {
        assert_eq!(status(&[4, 6], 10, &budget(100)).await, Ok(10));
        assert_eq!(status(&[4, 7], 10, &budget(100)).await, Err(413));
        assert_eq!(status(&[11], 10, &budget(100)).await, Err(413));
    }

    #[tokio::test]
    async fn a_body_beyond_the_budget_is_shed() {
        let budget = budget(10);
        let held = receive(frames(&[3, 4]), 10, &budget).await.unwrap();
        assert_eq!(status(&[2, 2], 10, &budget).await, Err(429));
        drop(held);
        assert_eq!(status(&[5, 5], 10, &budget).await, Ok(10));
        assert_eq!(status(&[10], 10, &budget).await, Ok(10), "every permit was returned");
    }

    #[test]
    fn the_buffer_never_grows_beyond_the_announced_length() {
        let mut buffer = Vec::new();
        make_room(&mut buffer, 10, Some(300));
        assert_eq!(buffer.capacity(), 300);
        let mut buffer = Vec::new();
        make_room(&mut buffer, 10, Some(7 << 20));
        assert_eq!(buffer.capacity(), LEAST_STEP, "an announced length alone takes no memory");
    }
}
