//! Versions of the operator as builds and users spell them.

use semver::Version;

/// The release of the Dynamo Operator whose rules, defaults and conversions these are: the version of the operator
/// wherever none is given.
///
/// It is Dynamo's version, never Gateward's: the controllers go by the version that new graphs are stamped with, and
/// requests without an image get the planner's of this version, so a release of that name has to exist.
pub const OPERATOR_VERSION: &str = "1.5.0";

/// The version that is noted on the CRDs: they are those of this release of the Dynamo Operator, whose own `crd-apply`
/// notes its version there too. The build orders releases of ours.
pub(crate) const CRDS_VERSION: &str = concat!("1.5.0+gateward.", env!("CARGO_PKG_VERSION"));

/// Reads a version of the operator: a `v` may lead, minor and patch may be missing, and count as 0 then.
pub(crate) fn lenient(text: &str) -> Option<Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, extension) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let mut numbers = numbers.split('.').map(number);
    let major = numbers.next()??;
    let (minor, patch) = (numbers.next().unwrap_or(Some(0))?, numbers.next().unwrap_or(Some(0))?);
    if numbers.next().is_some() {
        return None;
    }
    Version::parse(&format!("{major}.{minor}.{patch}{extension}")).ok()
}

/// Digits only: the standard parser would take a sign too.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crds_are_those_of_the_release_that_is_implemented() {
        let [crds, operator] = [CRDS_VERSION, OPERATOR_VERSION].map(|text| Version::parse(text).unwrap());
        assert!(crds.cmp_precedence(&operator).is_eq() && crds.build.starts_with("gateward."));
    }

    #[test]
    fn fills_in_what_is_missing() {
        for (text, canonical) in [
            ("1.6.0", "1.6.0"),
            ("v1.6", "1.6.0"),
            ("1", "1.0.0"),
            ("v2.0.1-rc.1+b7", "2.0.1-rc.1+b7"),
            ("1.6-dev", "1.6.0-dev"),
            ("1+2", "1.0.0+2"),
        ] {
            assert_eq!(lenient(text).map(|version| version.to_string()).as_deref(), Some(canonical), "{text}");
        }
    }

    #[test]
    fn refuses_words_and_other_counts_of_numbers() {
        for text in [
            "",
            "v",
            "vv1",
            "unknown",
            "main-3f2a",
            "1.2.3.4",
            "1.",
            ".1",
            "1..2",
            "+1",
            "-1",
            " 1.2",
            "1.2.3-",
            "1.2.3-01",
            "1.2.3-a_b",
            "99999999999999999999.0.0",
        ] {
            assert_eq!(lenient(text), None, "{text}");
        }
    }
}
