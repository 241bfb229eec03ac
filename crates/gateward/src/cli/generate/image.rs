//! The parts of an image's name.

/// An image as charts and kustomizations have it: its tag and its digest may be replaced without the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ImageName<'a> {
    pub(super) repository: &'a str,
    pub(super) tag: &'a str,
    pub(super) digest: &'a str,
}

impl<'a> ImageName<'a> {
    pub(super) fn of(image: &'a str) -> Self {
        let (named, digest) = image.split_once('@').unwrap_or((image, ""));
        // A colon before the last slash is that of a registry's port.
        match named.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
            Some((repository, tag)) => Self { repository, tag, digest },
            None => Self { repository: named, tag: "", digest },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_a_tag_a_digest_both_or_none() {
        for (image, repository, tag, digest) in [
            ("otter", "otter", "", ""),
            ("zoo.example:5000/otter", "zoo.example:5000/otter", "", ""),
            ("zoo.example:5000/otter:1.0", "zoo.example:5000/otter", "1.0", ""),
            ("otter@sha256:ab", "otter", "", "sha256:ab"),
            ("otter:1.0@sha256:ab", "otter", "1.0", "sha256:ab"),
        ] {
            assert_eq!(ImageName::of(image), ImageName { repository, tag, digest }, "{image}");
        }
    }
}
