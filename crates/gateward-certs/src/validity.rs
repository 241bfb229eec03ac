//! From when to when a certificate is valid.

use std::time::{Duration, SystemTime};

use rustls_pki_types::CertificateDer;
use time::OffsetDateTime;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Ten years of 365 days: the lifetime that users are promised for authority and server certificate.
pub const TEN_YEARS: Duration = Duration::from_hours(10 * 365 * 24);

/// How far a certificate's start is dated back, so that a peer whose clock is behind accepts it.
pub const CLOCK_SKEW: Duration = Duration::from_hours(1);

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

    /// What stands in a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, ValidityError> {
        let (_, certificate) = X509Certificate::from_der(certificate).map_err(|_| ValidityError::Unreadable)?;
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

    pub(crate) fn dates(&self) -> Result<(OffsetDateTime, OffsetDateTime), ValidityError> {
        Ok((date(self.not_before)?, date(self.not_after)?))
    }
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

    #[test]
    fn bytes_that_are_no_certificate_have_no_validity() {
        assert_eq!(Validity::of(&CertificateDer::from(vec![1, 2, 3])), Err(ValidityError::Unreadable));
    }
}
