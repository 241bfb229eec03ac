//! What a load has counted.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::load::outcome::Outcome;

/// Texts of one sort that are kept; of the others only the number.
const KEPT: usize = 10;

/// What came of a load's requests.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Answered with yes, where yes was right.
    pub granted: usize,
    /// Denied by a webhook, where no was right.
    pub denied: usize,
    /// Requests for which the API server could not ask a webhook. All of them, in the order of their answers.
    pub failures: Vec<Failure>,
    /// Granted though a webhook had to deny them.
    pub failed_open: Counted,
    /// The API server itself wasn't there: connections that broke or were refused, and a server that starts.
    pub not_served: Counted,
    /// Answered in yet another way, such as a denial of what is right.
    pub astray: Counted,
    /// How long it was.
    pub lasted: Duration,
    /// The latencies of the writes that were answered as they should be.
    latencies: Vec<Duration>,
}

/// A failed admission.
#[derive(Debug, Clone)]
pub struct Failure {
    /// When the request was sent, since the load's beginning.
    pub sent: Duration,
    /// How long the answer took.
    pub took: Duration,
    /// How long after the answer the same request, sent again and again, was answered as it should be; `None` where
    /// that didn't happen.
    pub mended: Option<Duration>,
    /// What the API server said.
    pub text: String,
}

/// A number of texts, of which the first are known.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// How many.
    pub number: usize,
    /// The first of them.
    pub first: Vec<String>,
}

/// Whether a request changes anything, and so has to be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Write,
    Other,
}

/// What was measured of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) sent: Duration,
    pub(super) took: Duration,
    pub(super) mended: Option<Duration>,
}

impl Tally {
    /// All requests, but for those that were sent again.
    pub fn requests(&self) -> usize {
        self.answered() + self.not_served.number
    }

    /// Requests that the API server answered, in whatever way.
    pub fn answered(&self) -> usize {
        self.granted + self.denied + self.failures.len() + self.failed_open.number + self.astray.number
    }

    /// The latency that so many percent of the writes don't exceed; a write that failed has none.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        // The nearest rank: the smallest that at least so many are not above.
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// Every request was answered as it should be.
    pub fn assert_no_failures(&self) {
        assert_eq!(self.not_served.number, 0, "{self}");
        self.assert_no_failures_of_admission();
    }

    /// Every request that the API server answered was answered as it should be.
    pub fn assert_no_failures_of_admission(&self) {
        assert!(self.failures.is_empty() && self.failed_open.number == 0 && self.astray.number == 0, "{self}");
        assert!(self.granted > 0 && self.denied > 0, "{self}");
    }

    /// Whatever was refused, nothing passed unjudged.
    pub fn assert_none_admitted_by_mistake(&self) {
        assert_eq!(self.failed_open.number, 0, "{self}");
        assert!(self.granted > 0 && self.denied > 0, "{self}");
    }

    pub(super) fn count(&mut self, sort: Sort, outcome: Outcome, times: Times) {
        match outcome {
            Outcome::Granted => self.granted += 1,
            Outcome::Denied => self.denied += 1,
            Outcome::FailedOpen(text) => self.failed_open.add(text),
            Outcome::NotServed(text) => return self.not_served.add(text),
            Outcome::Astray(text) => return self.astray.add(text),
            Outcome::AdmissionFailed(text) => {
                let Times { sent, took, mended } = times;
                return self.failures.push(Failure { sent, took, mended, text });
            }
        }
        if sort == Sort::Write {
            self.latencies.push(times.took);
        }
    }
}

impl Counted {
    fn add(&mut self, text: String) {
        self.number += 1;
        if self.first.len() < KEPT {
            self.first.push(text);
        }
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (requests, seconds) = (self.requests(), self.lasted.as_secs_f64());
        write!(f, "load: {requests} requests in {seconds:.1} s, {} failed admissions", self.failures.len())?;
        write!(f, ", p50 {:.1?}, p99 {:.1?}", self.percentile(50), self.percentile(99))?;
        write!(f, " ({} granted, {} denied", self.granted, self.denied)?;
        write!(f, ", {} admitted by mistake", self.failed_open.number)?;
        write!(f, ", {} not served, {} astray)", self.not_served.number, self.astray.number)?;
        for Failure { sent, took, mended, text } in self.failures.iter().take(KEPT) {
            write!(
                f,
                "\n  failed: sent after {sent:.3?}, answered after {took:.1?}, mended after {mended:.1?}: {text}"
            )?;
        }
        let kinds = [("by mistake", &self.failed_open), ("not served", &self.not_served), ("astray", &self.astray)];
        for (name, counted) in kinds {
            counted.first.iter().try_for_each(|text| write!(f, "\n  {name}: {text}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(milliseconds: impl Iterator<Item = u64>) -> Tally {
        let mut tally = Tally::default();
        for time in milliseconds {
            let times = Times { sent: Duration::ZERO, took: Duration::from_millis(time), mended: None };
            tally.count(Sort::Write, Outcome::Granted, times);
        }
        tally
    }

    #[test]
    fn a_percentile_is_the_latency_that_so_many_do_not_exceed() {
        let tally = tally((1..=200).rev());
        assert_eq!(tally.percentile(50), Duration::from_millis(100));
        assert_eq!(tally.percentile(99), Duration::from_millis(198));
        assert_eq!(tally.percentile(100), Duration::from_millis(200));
    }

    #[test]
    fn a_percentile_of_few_is_one_of_them() {
        assert_eq!(tally([7].into_iter()).percentile(50), Duration::from_millis(7));
        assert_eq!(tally([7, 9].into_iter()).percentile(99), Duration::from_millis(9));
        assert_eq!(tally([].into_iter()).percentile(99), Duration::ZERO);
    }
}
