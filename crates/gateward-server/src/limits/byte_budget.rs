//! The memory for the bodies of all requests.

use std::sync::Arc;

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{ByteSize, Cap};

/// The memory for all bodies, each from its first byte until its response is written.
#[derive(Clone)]
pub(crate) struct ByteBudget {
    /// For the first bytes of each body, as many as all connections need: large bodies can't exhaust it.
    firsts: Arc<Semaphore>,
    first: usize,
    /// For the bytes after them.
    rest: Arc<Semaphore>,
    in_use: Gauge,
}

/// The budget has not enough bytes left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl ByteBudget {
    /// So many bytes for all bodies together, beyond the first bytes of each.
    pub(crate) fn new(rest: ByteSize, first: ByteSize, connections: Cap, in_use: Gauge) -> Self {
        let of = |bytes: usize| Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS)));
        let firsts = first.get().saturating_mul(connections.get() as usize);
        Self { firsts: of(firsts), first: first.get(), rest: of(rest.get()), in_use }
    }

    /// A permit for no bytes yet.
    pub(crate) fn permit(&self) -> BytePermit {
        BytePermit { budget: self.clone(), first: None, rest: None }
    }
}

/// A part of the budget, returned on drop.
pub(crate) struct BytePermit {
    budget: ByteBudget,
    first: Option<OwnedSemaphorePermit>,
    rest: Option<OwnedSemaphorePermit>,
}

impl BytePermit {
    /// Acquires so many bytes more, or none: a request that waited here while holding a part could deadlock with others.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let small = self.budget.first.saturating_sub(held(self.first.as_ref())).min(bytes);
        let first = try_acquire(&self.budget.firsts, small).ok_or(Exhausted)?;
        let rest = try_acquire(&self.budget.rest, bytes - small).ok_or(Exhausted)?;
        self.budget.in_use.inc_by(gauge_value(bytes));
        merge(&mut self.first, first);
        merge(&mut self.rest, rest);
        Ok(())
    }
}

impl Drop for BytePermit {
    fn drop(&mut self) {
        self.budget.in_use.dec_by(gauge_value(held(self.first.as_ref()) + held(self.rest.as_ref())));
    }
}

fn try_acquire(budget: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    let bytes = u32::try_from(bytes).ok()?;
    Arc::clone(budget).try_acquire_many_owned(bytes).ok()
}

fn held(permit: Option<&OwnedSemaphorePermit>) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(rest: usize, first: usize) -> ByteBudget {
        ByteBudget::new(ByteSize::bytes(rest), ByteSize::bytes(first), Cap::at_most(2), Gauge::default())
    }

    #[test]
    fn a_permit_returns_all_bytes_on_drop() {
        let budget = budget(10, 0);
        let mut held = budget.permit();
        assert_eq!((held.grow(3), held.grow(4)), (Ok(()), Ok(())));
        assert_eq!(budget.in_use.get(), 7);
        assert_eq!(budget.permit().grow(4), Err(Exhausted));
        drop(held);
        assert_eq!(budget.in_use.get(), 0);
        assert_eq!(budget.permit().grow(10), Ok(()));
    }

    #[test]
    fn large_bodies_leave_the_first_bytes_to_small_ones() {
        let budget = budget(10, 5);
        let mut large = budget.permit();
        assert_eq!((large.grow(4), large.grow(11)), (Ok(()), Ok(())));
        assert_eq!(budget.in_use.get(), 15);
        assert_eq!(budget.permit().grow(6), Err(Exhausted), "nothing is left beyond the first bytes");
        assert_eq!(budget.permit().grow(5), Ok(()));
        drop(large);
        assert_eq!(budget.permit().grow(15), Ok(()));
    }
}
