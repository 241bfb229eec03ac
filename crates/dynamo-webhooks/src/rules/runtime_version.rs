//! Which version of the Dynamo runtime an image holds.

use gateward::{BadValue, Issue};
use semver::Version;

use crate::rules::placeholder::Placeholder;

/// A version of the runtime: of a pre-release only the release that it leads to counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RuntimeVersion {
    major: u64,
    minor: u64,
    patch: u64,
}

impl RuntimeVersion {
    /// The first release whose endpoint picker is configured by the operator alone.
    pub(crate) const OPERATED_PICKER: Self = Self { major: 1, minor: 5, patch: 0 };

    /// The version that `text` states where it isn't empty, else that of the tag of `image`.
    pub(crate) fn of(image: &str, text: &str) -> Option<Self> {
        if text.is_empty() { Self::of_image(image) } else { Self::parse(text) }
    }

    /// The version in the tag of an image reference.
    pub(crate) fn of_image(image: &str) -> Option<Self> {
        let tag = tag(image)?;
        Self::parse(tag.strip_prefix(['v', 'V']).unwrap_or(tag))
    }

    fn parse(text: &str) -> Option<Self> {
        let Version { major, minor, patch, .. } = Version::parse(text).ok()?;
        Some(Self { major, minor, patch })
    }
}

/// The issue with a message and a help that say why this image has no version.
pub(crate) fn unversioned(issue: Issue, image: &str) -> Issue {
    let quoted = BadValue::from(image);
    let message = match tag(image).filter(|tag| !tag.is_empty()) {
        Some(tag) => format!("{}, the tag of the image {quoted}, is not a version", BadValue::from(tag)),
        None => format!("the image {quoted} has no tag that is a version"),
    };
    issue.message(message).help(match Placeholder::of(image) {
        Some(Placeholder::Template) => "render the template first, and check what it makes",
        Some(Placeholder::Blank) => "fill in the placeholder: an image with a tag such as 1.4.2",
        None => "set the version of the runtime, or an image with a tag such as 1.4.2",
    })
}

/// The tag of an image reference; a colon before the last slash belongs to the registry's port.
fn tag(image: &str) -> Option<&str> {
    let (named, _digest) = image.split_once('@').unwrap_or((image, ""));
    let name = named.rsplit('/').next()?;
    let (_, tag) = name.rsplit_once(':')?;
    Some(tag.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(image: &str) -> Option<(u64, u64, u64)> {
        RuntimeVersion::of_image(image).map(|version| (version.major, version.minor, version.patch))
    }

    #[test]
    fn a_tag_of_three_numbers_is_a_version() {
        for image in [
            "engine:1.4.2",
            "depot.example.net/fen/engine:v1.4.2",
            "depot.example.net:5000/fen/engine:V1.4.2-rc1+cu13",
            "  depot.example.net/fen/engine:1.4.2 ",
            "depot.example.net/fen/engine: 1.4.2",
            "depot.example.net/fen/engine:1.4.2@sha256:0000",
        ] {
            assert_eq!(version(image), Some((1, 4, 2)), "{image}");
        }
    }

    #[test]
    fn everything_else_is_none() {
        for image in [
            "",
            "   ",
            "engine",
            "engine:",
            "engine:latest",
            "engine:1.5",
            "engine:1.5.0.1",
            "engine:01.5.0",
            "engine:1.05.0",
            "engine:vv1.5.0",
            "engine:1.5.0-",
            "engine:99999999999999999999.0.0",
            "host:5000/engine",
            "host:1.4.2/engine",
            "engine@sha256:0000",
            "engine@sha256:1.4.2",
        ] {
            assert_eq!(version(image), None, "{image}");
        }
    }

    #[test]
    fn a_pre_release_counts_as_its_release() {
        let version = RuntimeVersion::of_image("picker:1.5.0-rc1");
        assert_eq!(version, Some(RuntimeVersion::OPERATED_PICKER));
    }

    #[test]
    fn a_stated_version_beats_the_tag() {
        let older = RuntimeVersion::of("picker:1.5.0", "1.4.0");
        assert!(older < Some(RuntimeVersion::OPERATED_PICKER));
        assert_eq!(RuntimeVersion::of("picker:1.5.0", "v1.4.0"), None, "a stated version is strict");
    }
}
