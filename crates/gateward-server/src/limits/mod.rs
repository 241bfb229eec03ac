//! The limits of one peer, and of all peers together.

pub(crate) mod byte_budget;
pub(crate) mod connection_limit;
pub(crate) mod open_files;

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// The idle timeout of the API server's webhook client: the default of Go's `http.Transport`.
pub const API_SERVER_IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// The smallest buffer that the HTTP library works with.
const SMALLEST_HEAD: ByteSize = ByteSize::kibibytes(8);

/// The cost of a review beside its body, in bytes of bodies: a twelfth of the 16 MiB that it may take beside twelve times
/// the body, and half as much again.
const REVIEW_COST: usize = (24 << 20) / 12;

/// An amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(usize);

impl ByteSize {
    /// So many bytes.
    pub const fn bytes(count: usize) -> Self {
        Self(count)
    }

    /// So many times 1024 bytes.
    pub const fn kibibytes(count: usize) -> Self {
        Self(count * 1024)
    }

    /// So many times 1024 × 1024 bytes.
    pub const fn mebibytes(count: usize) -> Self {
        Self(count * 1024 * 1024)
    }

    /// The amount in bytes.
    pub const fn get(self) -> usize {
        self.0
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

/// A maximum number of concurrent things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cap(NonZeroU32);

impl Cap {
    /// At most so many; zero becomes one.
    pub const fn at_most(count: u32) -> Self {
        match NonZeroU32::new(count) {
            Some(count) => Self(count),
            None => Self(NonZeroU32::MIN),
        }
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// Every limit of the listener. [`crate::manual`] names the attack that each is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How many connections are open at a time, those in a handshake included. A further one evicts the oldest in a
    /// handshake, the oldest without a complete request, the one that has been idle for longest, or the one whose response
    /// has been unwritten for longest and for more than a second; where there is none of them, it is refused.
    /// Default 512: some HTTP/1.1 connections from each of several API servers, below the usual limit of 1024 open files,
    /// and some 15 MiB of buffers at worst.
    pub connections: Cap,
    /// How long a TLS handshake may take. Default 5 s: an API server in the same cluster needs milliseconds.
    pub handshake: Duration,
    /// How long a connection may be idle between two requests. Default 120 s: longer than [`API_SERVER_IDLE_TIMEOUT`], so
    /// that the API server closes first and never sends a request on a connection that the server is closing.
    pub idle: Duration,
    /// The maximum age of a connection: an older one closes with its next response, so that new replicas get their share
    /// of the load. None is aborted for its age. The ages differ by up to a tenth. Default 5 min: the load is balanced
    /// soon after a rollout, and a handshake every few minutes costs little. `Duration::MAX` means unlimited.
    pub age: Duration,
    /// How long a request's head may take, from its first byte. Default 5 s.
    pub head: Duration,
    /// How large a request's head may be. Default 32 KiB: the API server's has about one, with tokens and trace context.
    /// At least 8 KiB.
    pub head_size: ByteSize,
    /// How long a request's body may take, from the end of its head. Default 10 s.
    pub body: Duration,
    /// How large the body of an AdmissionReview may be. Default 7 MiB: `object` and `oldObject`, each of at most the 3 MiB
    /// that the API server accepts in a request, and the envelope.
    pub admission_size: ByteSize,
    /// How large the body of a ConversionReview may be. Default 128 MiB: the API server converts whole lists in one
    /// call.
    pub conversion_size: ByteSize,
    /// How much memory all bodies and responses together may take, of each request the longer of the two until the response
    /// is written, beyond the first `inline_size`. Default 256 MiB: two of the largest conversions at a time. With the first
    /// 16 KiB of all connections that is 264 MiB.
    pub bodies_in_flight: ByteSize,
    /// How many reviews up to `inline_size` are handled at a time. Default 256: handling takes well below a millisecond, so
    /// more of them mean that handlers wait for something that is stuck.
    pub concurrency: Cap,
    /// Up to this size a body is handled on the thread that received it, and a larger one on threads beside those that do
    /// I/O. Default 16 KiB: at 2 ms and 150 ms a MB such a review takes less than 5 ms, so that it delays no other by more.
    pub inline_size: ByteSize,
    /// How many larger reviews run at a time. Abandoned work keeps its thread until it ends. Default: one for each
    /// processor, and at least two, so that one review alone never blocks all larger ones.
    pub work_threads: Cap,
    /// How many larger reviews run or wait for a thread, abandoned work included. Default 128: with `concurrency` well
    /// below `connections`, so that there is always a connection to evict, or will be within a second.
    pub work_queue: Cap,
    /// The cost of all larger reviews that are handled at a time, those that wait for something included, in bytes of
    /// bodies. Handling takes memory of up to twelve times the body and 16 MiB, so a review counts as its body and 2 MiB;
    /// one above the limit is handled alone. Default 128 MiB: together they take at most 1.5 GiB, beside
    /// `bodies_in_flight`.
    pub work_bytes: ByteSize,
    /// How long a review may take, unless `?timeout=` of the caller is shorter. Default 30 s: the longest `timeoutSeconds`
    /// that Kubernetes accepts.
    pub deadline: Duration,
    /// How long a peer may take to read a part of its response. Default 10 s.
    pub write: Duration,
    /// How long a connection that closes in the middle of a request's body discards the rest of it, so that the response
    /// reaches the peer before the reset does. Default 1 s.
    pub linger: Duration,
    /// The `Retry-After` of a response for overload. Default 1 s: the API server's client retries by itself, within its own
    /// timeout.
    pub retry_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: Cap::at_most(512),
            handshake: Duration::from_secs(5),
            idle: Duration::from_mins(2),
            age: Duration::from_mins(5),
            head: Duration::from_secs(5),
            head_size: ByteSize::kibibytes(32),
            body: Duration::from_secs(10),
            admission_size: ByteSize::mebibytes(7),
            conversion_size: ByteSize::mebibytes(128),
            bodies_in_flight: ByteSize::mebibytes(256),
            concurrency: Cap::at_most(256),
            inline_size: ByteSize::kibibytes(16),
            work_threads: processors(),
            work_queue: Cap::at_most(128),
            work_bytes: ByteSize::mebibytes(128),
            deadline: Duration::from_secs(30),
            write: Duration::from_secs(10),
            linger: Duration::from_secs(1),
            retry_after: Duration::from_secs(1),
        }
    }
}

/// One for each processor, and at least two.
fn processors() -> Cap {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Cap::at_most(u32::try_from(processors).unwrap_or(u32::MAX).max(2))
}

/// The part of [`Limits::work_bytes`] that a review of so many bytes takes.
pub(crate) const fn work_cost(bytes: usize) -> usize {
    bytes.saturating_add(REVIEW_COST)
}

impl Limits {
    /// Checks that the limits don't contradict each other.
    pub fn check(&self) -> Result<(), LimitsError> {
        if self.head_size < SMALLEST_HEAD {
            return Err(LimitsError::HeadTooSmall { least: SMALLEST_HEAD });
        }
        let largest = self.admission_size.max(self.conversion_size);
        if self.bodies_in_flight < largest {
            return Err(LimitsError::BodyNeverFits { largest, in_flight: self.bodies_in_flight });
        }
        Ok(())
    }
}

/// Limits that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// No head of a request would fit.
    #[error("the limit for the head of a request is below {least}")]
    HeadTooSmall {
        /// The smallest limit that works.
        least: ByteSize,
    },
    /// A body within its own limit would never fit.
    #[error("a body may have {largest}, but all bodies together only {in_flight}")]
    BodyNeverFits {
        /// The size limit of a body.
        largest: ByteSize,
        /// The limit of all bodies together.
        in_flight: ByteSize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_mix_of_reviews_fits_the_memory_limit_of_the_chart() {
        const MEBIBYTE: usize = 1 << 20;
        // As the tests of dynamo-webhooks measure it; `bodies` counts the body itself.
        let cost = |bytes: usize| 11 * bytes + 24 * MEBIBYTE;
        let limits = Limits::default();
        let bodies = limits.bodies_in_flight.get() + limits.inline_size.get() * limits.connections.get() as usize;
        let (most, inline) = (limits.work_bytes.get(), limits.inline_size.get());
        // As many as fit of each size, from just above `inline_size` to one alone.
        let sizes = [inline, MEBIBYTE, limits.admission_size.get(), most / 2, limits.conversion_size.get()];
        let handled = sizes.map(|bytes| {
            let count = (most / work_cost(bytes)).clamp(1, limits.work_queue.get() as usize);
            count * cost(bytes)
        });
        let (idle, threads) = (32 * MEBIBYTE, 8);
        let worst = idle + bodies + threads * cost(inline) + handled.into_iter().max().unwrap_or_default();
        assert!(worst <= 2048 * MEBIBYTE, "{} MiB", worst / MEBIBYTE);
    }

    #[test]
    fn the_defaults_are_consistent() {
        assert_eq!(Limits::default().check(), Ok(()));
    }

    #[test]
    fn reviews_in_flight_never_take_all_connections() {
        let Limits { connections, concurrency, work_queue, .. } = Limits::default();
        assert!(concurrency.get() + work_queue.get() < connections.get());
    }

    #[test]
    fn the_idle_timeout_is_longer_than_the_api_servers() {
        assert!(Limits::default().idle > API_SERVER_IDLE_TIMEOUT);
    }

    #[test]
    fn a_body_that_never_fits_is_an_error() {
        let limits = Limits { bodies_in_flight: ByteSize::mebibytes(1), ..Limits::default() };
        assert!(matches!(limits.check(), Err(LimitsError::BodyNeverFits { .. })));
    }

    #[test]
    fn a_head_below_the_smallest_buffer_is_an_error() {
        let limits = Limits { head_size: ByteSize::bytes(8191), ..Limits::default() };
        assert!(matches!(limits.check(), Err(LimitsError::HeadTooSmall { .. })));
    }
}
