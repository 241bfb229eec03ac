//! Limits the rate of writes to an object that another client keeps changing back.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The burst of writes to one object.
const AT_ONCE: u32 = 30;
/// The period of further writes.
const THEN_EVERY: Duration = Duration::from_secs(5);
/// The limiter is idle after this time without a deferred write.
const IDLE_AFTER: Duration = Duration::from_mins(1);

/// A token bucket for each object. Two clients that undo each other's writes would otherwise overload the API server.
#[derive(Debug, Default)]
pub(crate) struct WriteRateLimiter {
    buckets: Mutex<HashMap<String, Bucket>>,
    /// When a write was deferred last.
    last: Mutex<Option<Instant>>,
}

impl WriteRateLimiter {
    /// Takes a token for an object; the error is the time until the next one.
    pub(crate) fn may_write(&self, object: &str, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let granted = buckets.entry(object.to_owned()).or_insert_with(|| Bucket::full(now)).take(now);
        if granted.is_err() {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        granted
    }

    /// Whether no write was deferred recently.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|last| now.saturating_duration_since(last) >= IDLE_AFTER)
    }
}

/// The tokens of an object, and when they were counted last.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    writes: u32,
    at: Instant,
}

impl Bucket {
    fn full(now: Instant) -> Self {
        Self { writes: AT_ONCE, at: now }
    }

    fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.at);
        let gained = u32::try_from(passed.as_millis() / THEN_EVERY.as_millis()).unwrap_or(u32::MAX);
        if gained >= AT_ONCE - self.writes {
            *self = Self::full(now);
        } else {
            self.writes += gained;
            self.at += gained * THEN_EVERY;
        }
        if self.writes == 0 {
            return Err((self.at + THEN_EVERY).saturating_duration_since(now));
        }
        self.writes -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_occasional_write_is_never_deferred() {
        let (rate_limiter, start) = (WriteRateLimiter::default(), Instant::now());
        for second in 0..1_000 {
            assert_eq!(rate_limiter.may_write("otter", start + second * THEN_EVERY), Ok(()));
        }
    }

    #[test]
    fn repeated_writes_are_limited_to_the_period() {
        let (rate_limiter, start) = (WriteRateLimiter::default(), Instant::now());
        let granted = |rate_limiter: &WriteRateLimiter, at| {
            (0..100).filter(|_| rate_limiter.may_write("otter", at).is_ok()).count()
        };
        assert_eq!(granted(&rate_limiter, start), AT_ONCE as usize);
        assert_eq!(rate_limiter.may_write("otter", start + Duration::from_secs(1)), Err(Duration::from_secs(4)));
        assert_eq!(granted(&rate_limiter, start + 3 * THEN_EVERY), 3);
        assert_eq!(granted(&rate_limiter, start + 3 * THEN_EVERY), 0);
        assert_eq!(granted(&rate_limiter, start + 200 * THEN_EVERY), AT_ONCE as usize);
    }

    #[test]
    fn each_object_is_counted_for_itself() {
        let (rate_limiter, start) = (WriteRateLimiter::default(), Instant::now());
        while rate_limiter.may_write("otter", start).is_ok() {}
        assert_eq!(rate_limiter.may_write("badger", start), Ok(()));
    }

    #[test]
    fn the_limiter_is_idle_after_a_minute_without_a_deferred_write() {
        let (rate_limiter, start) = (WriteRateLimiter::default(), Instant::now());
        assert!(rate_limiter.is_idle(start));
        while rate_limiter.may_write("otter", start).is_ok() {}
        assert!(!rate_limiter.is_idle(start + Duration::from_secs(59)));
        assert!(rate_limiter.is_idle(start + IDLE_AFTER));
    }
}
