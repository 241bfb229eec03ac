//! What is refused for its head alone, before a byte of the body is read.

use gateward_core::{Review, Undecided};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, TRANSFER_ENCODING};
use http::{Method, request};

use crate::limits::Limits;

/// How much of a path an answer repeats.
const SHOWN_PATH: usize = 200;

/// A request whose body will be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What its path is served for.
    pub review: Review,
    /// How many bytes its body may have.
    pub limit: usize,
}

impl Entry {
    /// Judges the head of a request; `length` is what it says about the body.
    pub(crate) fn of(
        head: &request::Parts,
        length: Option<u64>,
        route: impl Fn(&str) -> Option<Review>,
        limits: &Limits,
    ) -> Result<Self, Undecided> {
        let path = head.uri.path();
        let review = route(path).ok_or_else(|| Undecided::UnknownPath(path.chars().take(SHOWN_PATH).collect()))?;
        if head.method != Method::POST {
            return Err(Undecided::MethodNotAllowed);
        }
        plain_json(&head.headers)?;
        let limit = size_limit(review, limits);
        if length.is_some_and(|length| length > limit as u64) {
            return Err(Undecided::TooLarge { limit });
        }
        Ok(Self { review, limit })
    }
}

fn size_limit(review: Review, limits: &Limits) -> usize {
    match review {
        Review::Validate | Review::Mutate => limits.admission_size.get(),
        Review::Convert => limits.conversion_size.get(),
    }
}

/// The body must be JSON as it stands: what is packed may unpack to anything.
fn plain_json(headers: &HeaderMap) -> Result<(), Undecided> {
    if !all(headers, &CONTENT_ENCODING, "identity") {
        return Err(unsupported("a compressed body is not accepted; send it without Content-Encoding"));
    }
    if !all(headers, &TRANSFER_ENCODING, "chunked") {
        return Err(unsupported("no Transfer-Encoding but chunked is accepted"));
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    match (types.next(), types.next()) {
        (Some(only), None) if is_json(only.as_bytes()) => Ok(()),
        _ => Err(unsupported("Content-Type must be application/json")),
    }
}

/// Whether every value of a header is the one that is harmless.
fn all(headers: &HeaderMap, name: &HeaderName, harmless: &str) -> bool {
    headers.get_all(name).iter().all(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(harmless.as_bytes()))
}

/// `application/json`, whatever its parameters: JSON is always UTF-8, and what is not is found when it is read.
fn is_json(value: &[u8]) -> bool {
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

fn unsupported(why: &str) -> Undecided {
    Undecided::UnsupportedMediaType(why.into())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn judge(build: impl FnOnce(request::Builder) -> request::Builder, length: Option<u64>) -> Result<Entry, u16> {
        let post = Request::post("/validate?timeout=10s");
        let (head, ()) = build(post).body(()).unwrap().into_parts();
        let route = |path: &str| match path {
            "/validate" => Some(Review::Validate),
            "/convert" => Some(Review::Convert),
            _ => None,
        };
        Entry::of(&head, length, route, &Limits::default()).map_err(|why| why.status())
    }

    fn json(builder: request::Builder) -> request::Builder {
        builder.header(CONTENT_TYPE, "application/json")
    }

    #[test]
    fn lets_json_within_the_limit_of_its_review_pass() {
        let limit = 7 * 1024 * 1024;
        assert_eq!(judge(json, Some(limit)), Ok(Entry { review: Review::Validate, limit: 7 << 20 }));
        assert_eq!(judge(json, None).map(|entry| entry.limit), Ok(7 << 20));
        assert_eq!(judge(|b| json(b.uri("/convert")), Some(limit + 1)).map(|entry| entry.limit), Ok(128 << 20));
    }

    #[test]
    fn refuses_a_body_that_says_it_is_too_large() {
        assert_eq!(judge(json, Some(7 * 1024 * 1024 + 1)), Err(413));
        assert_eq!(judge(json, Some(u64::MAX)), Err(413));
    }

    #[test]
    fn refuses_other_paths_and_methods() {
        assert_eq!(judge(|b| json(b.uri("/other")), None), Err(404));
        assert_eq!(judge(|b| json(b.uri("/validate/")), None), Err(404));
        for method in ["GET", "PUT", "OPTIONS", "post"] {
            assert_eq!(judge(|b| json(b.method(method)), None), Err(405), "{method}");
        }
    }

    #[test]
    fn refuses_what_is_not_called_json() {
        assert_eq!(judge(|b| b, None), Err(415));
        for wrong in ["text/plain", "application/yaml", "application/json+x", "application/jsonx", ""] {
            assert_eq!(judge(|b| b.header(CONTENT_TYPE, wrong), None), Err(415), "{wrong}");
        }
    }

    #[test]
    fn accepts_parameters_of_the_type() {
        for right in ["application/json; charset=utf-8", "Application/JSON", " application/json ;x"] {
            assert!(judge(|b| b.header(CONTENT_TYPE, right), None).is_ok(), "{right}");
        }
    }

    #[test]
    fn refuses_a_type_that_is_given_twice() {
        assert_eq!(judge(|b| json(json(b)), None), Err(415));
    }

    #[test]
    fn refuses_packed_bodies() {
        for packed in ["gzip", "deflate", "br", "identity, gzip"] {
            assert_eq!(judge(|b| json(b).header(CONTENT_ENCODING, packed), None), Err(415), "{packed}");
        }
        assert_eq!(judge(|b| json(b).header(TRANSFER_ENCODING, "gzip, chunked"), None), Err(415));
        assert!(judge(|b| json(b).header(CONTENT_ENCODING, "identity"), None).is_ok());
    }
}
