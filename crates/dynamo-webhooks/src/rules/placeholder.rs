//! Values that an author has left for somebody to fill in.

/// What a value is in the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// What a template engine makes of it, as `{{ .Values.image }}`.
    Template,
    /// What the user fills in by hand, as `<tag>`, `${TAG}` or `my-tag`.
    Blank,
}

impl Placeholder {
    /// The placeholder in an image reference.
    pub(crate) fn of(image: &str) -> Option<Self> {
        if encloses(image, "{{", "}}") {
            return Some(Self::Template);
        }
        let is_blank =
            encloses(image, "${", "}") || encloses(image, "<", ">") || image.split(['/', ':']).any(is_sample);
        is_blank.then_some(Self::Blank)
    }
}

fn encloses(text: &str, open: &str, close: &str) -> bool {
    text.split_once(open).is_some_and(|(_, rest)| rest.contains(close))
}

/// Whether a part of the reference is the sample of a documentation, such as `my-tag` or `REPLACE_WITH_TAG`.
fn is_sample(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    ["my", "your", "replace"]
        .iter()
        .any(|prefix| part.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['-', '_'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_rendered_or_filled_in_is_a_placeholder() {
        for (image, expected) in [
            ("{{ .Values.image }}:{{ .Values.tag }}", Some(Placeholder::Template)),
            ("nvcr.io/nvidia/vllm-runtime:my-tag", Some(Placeholder::Blank)),
            ("my-registry/vllm-runtime:latest", Some(Placeholder::Blank)),
            ("your-registry.example/engine:nightly", Some(Placeholder::Blank)),
            ("engine:${TAG}", Some(Placeholder::Blank)),
            ("engine:<tag>", Some(Placeholder::Blank)),
            ("REPLACE_WITH_RUNTIME_TAG", Some(Placeholder::Blank)),
            ("replacement/engine:latest", None),
            ("engine:latest", None),
            ("engine:$", None),
            ("engine:>a<", None),
            ("economy/engine:mytag", None),
            ("", None),
        ] {
            assert_eq!(Placeholder::of(image), expected, "{image}");
        }
    }
}
