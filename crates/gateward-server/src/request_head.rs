//! The checks of a request's head, before a byte of the body is read.

use gateward_core::{Review, WebhookError};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, TRANSFER_ENCODING};
use http::{Method, request};

use crate::limits::Limits;

/// How many characters of a path a response repeats.
const SHOWN_PATH: usize = 200;

/// A request that passed the checks of its head: its body will be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestHead<R> {
    /// What serves its path.
    pub route: R,
    /// The size limit of its body.
    pub limit: usize,
}

impl<R: Copy + Into<Review>> RequestHead<R> {
    /// Checks the head of a request; `length` is its `Content-Length`, `route` what serves its path.
    pub(crate) fn check(
        head: &request::Parts,
        length: Option<u64>,
        route: Option<R>,
        limits: &Limits,
    ) -> Result<Self, WebhookError> {
        let unknown = || WebhookError::UnknownPath(head.uri.path().chars().take(SHOWN_PATH).collect());
        let route = route.ok_or_else(unknown)?;
        if head.method != Method::POST {
            return Err(WebhookError::MethodNotAllowed);
        }
        check_json(&head.headers)?;
        let limit = size_limit(route.into(), limits);
        if length.is_some_and(|length| length > limit as u64) {
            return Err(WebhookError::TooLarge { limit });
        }
        Ok(Self { route, limit })
    }
}

fn size_limit(review: Review, limits: &Limits) -> usize {
    match review {
        Review::Validate | Review::Mutate => limits.admission_size.get(),
        Review::Convert => limits.conversion_size.get(),
    }
}

/// The body must be uncompressed JSON: a compressed one may decompress to any size.
fn check_json(headers: &HeaderMap) -> Result<(), WebhookError> {
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

/// Whether every value of a header is the accepted one.
fn all(headers: &HeaderMap, name: &HeaderName, accepted: &str) -> bool {
    headers.get_all(name).iter().all(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(accepted.as_bytes()))
}

/// `application/json` with any parameters: JSON is always UTF-8, and the parser finds what isn't.
fn is_json(value: &[u8]) -> bool {
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

fn unsupported(why: &str) -> WebhookError {
    WebhookError::UnsupportedMediaType(why.into())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn check(
        build: impl FnOnce(request::Builder) -> request::Builder,
        length: Option<u64>,
    ) -> Result<RequestHead<Review>, u16> {
        let post = Request::post("/validate?timeout=10s");
        let (head, ()) = build(post).body(()).unwrap().into_parts();
        let route = match head.uri.path() {
            "/validate" => Some(Review::Validate),
            "/convert" => Some(Review::Convert),
            _ => None,
        };
        RequestHead::check(&head, length, route, &Limits::default()).map_err(|why| why.status())
    }

    fn json(builder: request::Builder) -> request::Builder {
        builder.header(CONTENT_TYPE, "application/json")
    }

    #[test]
    fn accepts_json_within_the_limit_of_its_review() {
        let limit = 7 * 1024 * 1024;
        assert_eq!(check(json, Some(limit)), Ok(RequestHead { route: Review::Validate, limit: 7 << 20 }));
        assert_eq!(check(json, None).map(|head| head.limit), Ok(7 << 20));
        assert_eq!(check(|b| json(b.uri("/convert")), Some(limit + 1)).map(|head| head.limit), Ok(128 << 20));
    }

    #[test]
    fn refuses_a_content_length_above_the_limit() {
        assert_eq!(check(json, Some(7 * 1024 * 1024 + 1)), Err(413));
        assert_eq!(check(json, Some(u64::MAX)), Err(413));
    }

    #[test]
    fn refuses_other_paths_and_methods() {
        assert_eq!(check(|b| json(b.uri("/other")), None), Err(404));
        assert_eq!(check(|b| json(b.uri("/validate/")), None), Err(404));
        for method in ["GET", "PUT", "OPTIONS", "post"] {
            assert_eq!(check(|b| json(b.method(method)), None), Err(405), "{method}");
        }
    }

    #[test]
    fn refuses_other_content_types() {
        assert_eq!(check(|b| b, None), Err(415));
        for wrong in ["text/plain", "application/yaml", "application/json+x", "application/jsonx", ""] {
            assert_eq!(check(|b| b.header(CONTENT_TYPE, wrong), None), Err(415), "{wrong}");
        }
    }

    #[test]
    fn accepts_parameters_of_the_content_type() {
        for right in ["application/json; charset=utf-8", "Application/JSON", " application/json ;x"] {
            assert!(check(|b| b.header(CONTENT_TYPE, right), None).is_ok(), "{right}");
        }
    }

    #[test]
    fn refuses_two_content_types() {
        assert_eq!(check(|b| json(json(b)), None), Err(415));
    }

    #[test]
    fn refuses_compressed_bodies() {
        for encoding in ["gzip", "deflate", "br", "identity, gzip"] {
            assert_eq!(check(|b| json(b).header(CONTENT_ENCODING, encoding), None), Err(415), "{encoding}");
        }
        assert_eq!(check(|b| json(b).header(TRANSFER_ENCODING, "gzip, chunked"), None), Err(415));
        assert!(check(|b| json(b).header(CONTENT_ENCODING, "identity"), None).is_ok());
    }
}
