//! Moments as people and annotations read them: RFC 3339, in whole seconds of UTC.

use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A moment as [RFC 3339] writes it, in whole seconds of UTC: `2027-01-15T08:00:00Z`.
///
/// What is less than a second is cut off, as in certificates. A moment before 1970 or after the year 9999, which no
/// certificate here can name, is `a moment out of range`.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// let moment = SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_007);
/// assert_eq!(gateward_certs::rfc3339(moment), "2027-01-15T08:00:00Z");
/// ```
///
/// [RFC 3339]: https://www.rfc-editor.org/rfc/rfc3339
pub fn rfc3339(moment: SystemTime) -> String {
    let seconds = moment.duration_since(SystemTime::UNIX_EPOCH).ok().and_then(|since| since.as_secs().try_into().ok());
    seconds
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok())
        .unwrap_or_else(|| "a moment out of range".to_owned())
}

/// Reads what [`rfc3339`] wrote.
pub(crate) fn read(text: &str) -> Option<SystemTime> {
    let seconds = OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp();
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.try_into().ok()?);
    (rfc3339(moment) == text).then_some(moment)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_moment_is_written_as_rfc_3339() {
        assert_eq!(rfc3339(SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)), "2027-01-15T08:00:00Z");
        assert_eq!(rfc3339(SystemTime::UNIX_EPOCH + Duration::from_nanos(999_999_999)), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(SystemTime::UNIX_EPOCH + Duration::from_hours(70_389_528)), "a moment out of range");
        assert_eq!(rfc3339(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), "a moment out of range");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(seconds in 0..253_402_300_800_u64) {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            prop_assert_eq!(read(&rfc3339(moment)), Some(moment));
        }

        #[test]
        fn any_other_text_is_refused(text in "\\PC{0,24}|[-0-9TZ:+]{18,22}") {
            prop_assert!(read(&text).is_none_or(|moment| rfc3339(moment) == text));
        }
    }
}
