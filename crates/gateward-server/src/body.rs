//! Receiving a body: counted while it streams, paid for out of one budget, in a single buffer.

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use gateward_core::Undecided;
use http_body::Body;
use http_body_util::BodyExt;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{ByteSize, Cap};

/// The least that the buffer grows by. A length that is only announced takes no memory.
const LEAST_STEP: usize = 64 * 1024;

/// The memory for all bodies that are being received or judged, or whose answer is not written.
#[derive(Clone)]
pub(crate) struct Budget {
    /// For the first bytes of each body, as many as all connections need, so that large bodies turn no small one away.
    firsts: Arc<Semaphore>,
    first: usize,
    /// For what is beyond them.
    rest: Arc<Semaphore>,
    in_use: Gauge,
}

impl Budget {
    /// So much for all bodies together, beyond the first bytes of each.
    pub(crate) fn new(rest: ByteSize, first: ByteSize, connections: Cap, in_use: Gauge) -> Self {
        let of = |bytes: usize| Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS)));
        let firsts = first.get().saturating_mul(connections.get() as usize);
        Self { firsts: of(firsts), first: first.get(), rest: of(rest.get()), in_use }
    }
}

/// Takes what is needed, or nothing: whoever holds a part of the budget must never wait for another.
fn take(budget: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let bytes = u32::try_from(bytes).ok()?;
    Arc::clone(budget).try_acquire_many_owned(bytes).ok()
}

/// A part of the budget; given back when dropped.
pub(crate) struct Charge {
    budget: Budget,
    first: Option<OwnedSemaphorePermit>,
    rest: Option<OwnedSemaphorePermit>,
}

impl Charge {
    fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), first: None, rest: None }
    }

    fn raise(&mut self, bytes: usize) -> Result<(), Undecided> {
        let small = self.budget.first.saturating_sub(paid(self.first.as_ref())).min(bytes);
        let first = take(&self.budget.firsts, small).ok_or(Undecided::Overloaded)?;
        let rest = take(&self.budget.rest, bytes - small).ok_or(Undecided::Overloaded)?;
        self.budget.in_use.inc_by(gauge_value(bytes));
        merge(&mut self.first, first);
        merge(&mut self.rest, rest);
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.in_use.dec_by(gauge_value(paid(self.first.as_ref()) + paid(self.rest.as_ref())));
    }
}

fn paid(permit: Option<&OwnedSemaphorePermit>) -> usize {
    permit.map_or(0, OwnedSemaphorePermit::num_permits)
}

fn merge(permit: &mut Option<OwnedSemaphorePermit>, more: OwnedSemaphorePermit) {
    match permit {
        Some(permit) => permit.merge(more),
        none => *none = Some(more),
    }
}

fn gauge_value(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The bytes of a body.
#[derive(Default)]
pub(crate) struct Payload {
    /// All of them, when they came in one piece: then nothing is copied.
    piece: Bytes,
    buffer: Vec<u8>,
}

/// A body that has arrived.
pub(crate) struct Received {
    payload: Payload,
    charge: Charge,
}

impl Received {
    fn new(budget: &Budget) -> Self {
        Self { payload: Payload::default(), charge: Charge::new(budget) }
    }

    /// The bytes, and what was paid for them: they may be gone before it is given back.
    pub(crate) fn into_parts(self) -> (Payload, Charge) {
        (self.payload, self.charge)
    }

    fn add(&mut self, data: Bytes, limit: usize, expected: Option<usize>) -> Result<(), Undecided> {
        if data.len() > limit.saturating_sub(self.payload.len()) {
            return Err(Undecided::TooLarge { limit });
        }
        self.charge.raise(data.len())?;
        self.payload.add(data, expected);
        Ok(())
    }
}

impl Payload {
    fn add(&mut self, data: Bytes, expected: Option<usize>) {
        if self.is_empty() {
            self.piece = data;
            return;
        }
        let piece = std::mem::take(&mut self.piece);
        make_room(&mut self.buffer, piece.len() + data.len(), expected);
        self.buffer.extend_from_slice(&piece);
        self.buffer.extend_from_slice(&data);
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.buffer.is_empty() { &self.piece } else { &self.buffer }
    }
}

impl Deref for Received {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.payload
    }
}

/// Grows a buffer by doubling, but never beyond the length that was announced.
fn make_room(buffer: &mut Vec<u8>, more: usize, expected: Option<usize>) {
    if buffer.capacity() - buffer.len() >= more {
        return;
    }
    let doubled = buffer.len().max(LEAST_STEP);
    let rest = expected.map_or(doubled, |expected| expected.saturating_sub(buffer.len()));
    buffer.reserve_exact(doubled.min(rest).max(more));
}

/// Receives a body of at most `limit` bytes.
pub(crate) async fn receive<B>(mut body: B, limit: usize, budget: &Budget) -> Result<Received, Undecided>
where
    B: Body<Data = Bytes> + Unpin,
{
    let expected = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
    let mut received = Received::new(budget);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Undecided::Unreadable("the body broke off".into()))?;
        // Trailers say nothing that matters here.
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

    use super::*;

    /// A body that comes in pieces and says nothing about its length.
    struct Pieces(VecDeque<Bytes>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
        }
    }

    fn pieces(sizes: &[usize]) -> Pieces {
        Pieces(sizes.iter().map(|size| Bytes::from(vec![b'x'; *size])).collect())
    }

    fn budget(bytes: usize) -> Budget {
        Budget::new(ByteSize::bytes(bytes), ByteSize::bytes(0), Cap::at_most(1), Gauge::default())
    }

    async fn status(sizes: &[usize], limit: usize, budget: &Budget) -> Result<usize, u16> {
        receive(pieces(sizes), limit, budget).await.map(|body| body.len()).map_err(|why| why.status())
    }

    #[tokio::test]
    async fn a_body_in_one_piece_is_not_copied() {
        let piece = Bytes::from_static(b"{}");
        let body = receive(Pieces([piece.clone()].into()), 10, &budget(10)).await.unwrap();
        assert_eq!(body.as_ptr(), piece.as_ptr());
    }

    #[tokio::test]
    async fn pieces_are_put_together_in_order() {
        let parts = ["ab", "", "c", "def"].map(Bytes::from).into();
        let body = receive(Pieces(parts), 6, &budget(6)).await.unwrap();
        assert_eq!(&*body, b"abcdef");
    }

    #[tokio::test]
    async fn a_body_is_counted_while_it_streams() {
        assert_eq!(status(&[4, 6], 10, &budget(100)).await, Ok(10));
        assert_eq!(status(&[4, 7], 10, &budget(100)).await, Err(413));
        assert_eq!(status(&[11], 10, &budget(100)).await, Err(413));
    }

    #[tokio::test]
    async fn what_exceeds_the_budget_is_shed() {
        let budget = budget(10);
        let held = receive(pieces(&[3, 4]), 10, &budget).await.unwrap();
        assert_eq!(budget.in_use.get(), 7);
        assert_eq!(status(&[2, 2], 10, &budget).await, Err(429));
        drop(held);
        assert_eq!(status(&[5, 5], 10, &budget).await, Ok(10));
        assert_eq!(budget.in_use.get(), 0, "everything was given back");
    }

    #[tokio::test]
    async fn large_bodies_turn_no_small_one_away() {
        let budget = Budget::new(ByteSize::bytes(10), ByteSize::bytes(5), Cap::at_most(2), Gauge::default());
        let large = receive(pieces(&[4, 11]), 20, &budget).await.unwrap();
        assert_eq!(budget.in_use.get(), 15);
        assert_eq!(status(&[6], 20, &budget).await, Err(429), "nothing is left for what is beyond the first bytes");
        assert_eq!(status(&[2, 3], 20, &budget).await, Ok(5));
        drop(large);
        assert_eq!(budget.in_use.get(), 0);
        assert_eq!(status(&[15], 20, &budget).await, Ok(15));
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
