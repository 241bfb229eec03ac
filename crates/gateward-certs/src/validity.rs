//! The validity of a certificate, and when it is renewed.

use std::time::{Duration, SystemTime};

use rustls_pki_types::CertificateDer;
use time::OffsetDateTime;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Ten years of 365 days: the lifetime that users are promised for CA and serving certificate.
pub const TEN_YEARS: Duration = Duration::from_hours(10 * 365 * 24);

/// How far a certificate's start is dated back, so that a peer whose clock is behind accepts it.
pub const CLOCK_SKEW: Duration = Duration::from_hours(1);

/// How long before its end a certificate is replaced, if it lives long enough for that.
pub const RENEW_BEFORE: Duration = Duration::from_hours(90 * 24);

/// The last second that X.509 can name: the end of the year 9999.
const END_OF_TIME: Duration = Duration::from_secs(253_402_300_799);

/// A span of time in whole seconds, both ends included, between the years 1970 and 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    not_before: Duration,
    not_after: Duration,
}

impl Validity {
    /// From one moment to another; parts of a second are dropped.
    pub fn between(not_before: SystemTime, not_after: SystemTime) -> Result<Self, ValidityError> {
        let validity = Self { not_before: since_epoch(not_before)?, not_after: since_epoch(not_after)? };
        if validity.not_before < validity.not_after { Ok(validity) } else { Err(ValidityError::Empty) }
    }

    /// From `now`, dated back by [`CLOCK_SKEW`], for `lifetime`.
    pub fn starting(now: SystemTime, lifetime: Duration) -> Result<Self, ValidityError> {
        let not_before = now.checked_sub(CLOCK_SKEW).ok_or(ValidityError::OutOfRange)?;
        let not_after = now.checked_add(lifetime).ok_or(ValidityError::OutOfRange)?;
        Self::between(not_before, not_after)
    }

    /// The validity of a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, ValidityError> {
        let (rest, certificate) = X509Certificate::from_der(certificate).map_err(|_| ValidityError::Unreadable)?;
        if !rest.is_empty() {
            return Err(ValidityError::Unreadable);
        }
        let dates = certificate.validity();
        Ok(Self { not_before: seconds(dates.not_before)?, not_after: seconds(dates.not_after)? })
    }

    /// The first valid moment.
    pub fn not_before(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.not_before
    }

    /// The last valid moment.
    pub fn not_after(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.not_after
    }

    /// Whether a moment lies within.
    pub fn contains(&self, moment: SystemTime) -> bool {
        since_epoch(moment).is_ok_and(|moment| (self.not_before..=self.not_after).contains(&moment))
    }

    /// Whether another span lies wholly within this one.
    pub fn covers(&self, other: &Self) -> bool {
        self.not_before <= other.not_before && other.not_after <= self.not_after
    }

    /// The part of this span that lies within another one, if any.
    pub fn within(&self, other: &Self) -> Option<Self> {
        let not_before = self.not_before.max(other.not_before);
        let not_after = self.not_after.min(other.not_after);
        (not_before < not_after).then_some(Self { not_before, not_after })
    }

    /// When the certificate is to be replaced: [`RENEW_BEFORE`], or after two thirds of a shorter life.
    ///
    /// The hour by which a certificate is dated back is no part of its life, or one of a few minutes would be due at
    /// once.
    pub fn renewal_time(&self) -> SystemTime {
        let span = self.not_after.saturating_sub(self.not_before);
        let life = span.checked_sub(CLOCK_SKEW).filter(|life| !life.is_zero()).unwrap_or(span);
        self.not_after() - RENEW_BEFORE.min(life / 3)
    }

    pub(crate) fn dates(&self) -> Result<(OffsetDateTime, OffsetDateTime), ValidityError> {
        Ok((date(self.not_before)?, date(self.not_after)?))
    }
}

/// For how long certificates are made: from one minute to a hundred years.
///
/// ```
/// use std::time::Duration;
/// use gateward_certs::{Lifetime, TEN_YEARS};
///
/// assert_eq!(Lifetime::default().duration(), TEN_YEARS);
/// assert!(Lifetime::new(Duration::from_secs(59)).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lifetime(Duration);

impl Lifetime {
    /// The shortest: less leaves no time for a certificate to reach every replica and API server.
    pub const SHORTEST: Duration = Duration::from_mins(1);
    /// The longest: any moment of the coming millennia plus this can still be named in a certificate.
    pub const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);

    /// Checks the limits.
    pub fn new(duration: Duration) -> Result<Self, LifetimeError> {
        let allowed = (Self::SHORTEST..=Self::LONGEST).contains(&duration);
        if allowed { Ok(Self(duration)) } else { Err(LifetimeError { duration }) }
    }

    /// The time as such.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl Default for Lifetime {
    /// [`TEN_YEARS`].
    fn default() -> Self {
        Self(TEN_YEARS)
    }
}

/// A lifetime that no certificate is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a certificate lives from one minute to 100 years, not {} seconds", duration.as_secs())]
pub struct LifetimeError {
    /// What was asked for.
    pub duration: Duration,
}

/// For how long CAs and serving certificates are made: ten years each, unless set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lifetimes {
    /// The CA's.
    pub ca: Lifetime,
    /// The serving certificate's. It ends with its CA at the latest.
    pub serving: Lifetime,
}

/// Why a span of time is none for a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidityError {
    /// The end is not after the start.
    #[error("the end of the validity is not after its start")]
    Empty,
    /// An end lies before 1970 or after 9999.
    #[error("the validity reaches beyond the years 1970 to 9999")]
    OutOfRange,
    /// The certificate cannot be read.
    #[error("the certificate is not readable X.509")]
    Unreadable,
}

fn since_epoch(moment: SystemTime) -> Result<Duration, ValidityError> {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH).map_err(|_| ValidityError::OutOfRange)?;
    if since > END_OF_TIME { Err(ValidityError::OutOfRange) } else { Ok(Duration::from_secs(since.as_secs())) }
}

fn seconds(time: x509_parser::time::ASN1Time) -> Result<Duration, ValidityError> {
    u64::try_from(time.timestamp()).map(Duration::from_secs).map_err(|_| ValidityError::OutOfRange)
}

fn date(since_epoch: Duration) -> Result<OffsetDateTime, ValidityError> {
    i64::try_from(since_epoch.as_secs())
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
        .ok_or(ValidityError::OutOfRange)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn starts_an_hour_before_now() {
        let validity = Validity::starting(at(1_000_000), Duration::from_mins(1)).unwrap();
        assert_eq!(validity.not_before(), at(996_400));
        assert_eq!(validity.not_after(), at(1_000_060));
    }

    #[test]
    fn includes_both_ends() {
        let validity = Validity::between(at(10), at(20)).unwrap();
        assert!(validity.contains(at(10)) && validity.contains(at(20)));
        assert!(!validity.contains(at(9)) && !validity.contains(at(21)));
    }

    #[test]
    fn refuses_an_empty_span() {
        assert_eq!(Validity::between(at(10), at(10)), Err(ValidityError::Empty));
    }

    #[test]
    fn refuses_moments_that_x509_cannot_name() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(Validity::between(before, at(10)), Err(ValidityError::OutOfRange));
        assert_eq!(Validity::starting(at(10_000), END_OF_TIME), Err(ValidityError::OutOfRange));
        assert_eq!(Validity::starting(at(10_000), Duration::MAX), Err(ValidityError::OutOfRange));
    }

    const DAY: Duration = Duration::from_hours(24);

    fn life(duration: Duration) -> Validity {
        Validity::starting(at(1_800_000_000), duration).unwrap()
    }

    #[test]
    fn a_long_life_is_renewed_90_days_before_its_end() {
        let validity = life(TEN_YEARS);
        assert_eq!(validity.renewal_time(), validity.not_after() - 90 * DAY);
        assert_eq!(life(271 * DAY).renewal_time(), life(271 * DAY).not_after() - 90 * DAY);
    }

    #[test]
    fn a_short_life_is_renewed_at_two_thirds() {
        assert_eq!(life(269 * DAY).renewal_time(), at(1_800_000_000) + (269 * DAY) * 2 / 3);
        assert_eq!(life(3 * DAY).renewal_time(), at(1_800_000_000) + 2 * DAY);
        assert_eq!(life(Duration::from_mins(3)).renewal_time(), at(1_800_000_000) + Duration::from_mins(2));
    }

    #[test]
    fn a_life_that_was_not_dated_back_is_renewed_before_its_end_too() {
        let hour = Validity::between(at(0), at(3_600)).unwrap();
        assert_eq!(hour.renewal_time(), at(2_400));
        let second = Validity::between(at(10), at(11)).unwrap();
        assert!(second.renewal_time() < second.not_after());
    }

    #[test]
    fn two_spans_share_what_lies_within_both() {
        let (early, late) = (Validity::between(at(0), at(20)).unwrap(), Validity::between(at(10), at(30)).unwrap());
        assert_eq!(early.within(&late), Some(Validity::between(at(10), at(20)).unwrap()));
        assert_eq!(early.within(&late), late.within(&early));
        assert_eq!(early.within(&Validity::between(at(20), at(30)).unwrap()), None);
    }

    #[test]
    fn bytes_that_are_no_certificate_have_no_validity() {
        assert_eq!(Validity::of(&CertificateDer::from(vec![1, 2, 3])), Err(ValidityError::Unreadable));
    }
}
