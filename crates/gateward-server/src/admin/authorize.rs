//! Who may read an admin endpoint.

use std::future::Future;

use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};

use super::response::{HttpResponse, text};

/// Decides whether a caller may read an admin endpoint.
///
/// It is called for every request, up to 64 times at once, and anyone can invent tokens. An authorizer that calls another
/// service caches its results and limits its calls.
#[diagnostic::on_unimplemented(message = "`{Self}` can't authorize requests", note = "implement `Authorizer`")]
pub trait Authorizer: Send + Sync + 'static {
    /// Whether the bearer of a token, or a caller without one, may `get` a path. The future is dropped on a timeout, which
    /// counts as [`Authorization::Unknown`]. The token is a secret: it must not appear in a log or an error.
    fn authorize(&self, path: &str, token: Option<&str>) -> impl Future<Output = Authorization> + Send;
}

/// Whether a caller may read an admin endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorization {
    /// The caller is authorized.
    Allowed,
    /// The token is missing or invalid: 401.
    Unauthenticated,
    /// The caller is authenticated and not authorized: 403.
    Forbidden,
    /// The check failed: 503.
    Unknown,
}

/// The error response; `None` where the caller is authorized.
pub(super) fn refusal(authorization: Authorization) -> Option<HttpResponse> {
    match authorization {
        Authorization::Allowed => None,
        Authorization::Unauthenticated => Some(unauthenticated()),
        Authorization::Forbidden => Some(text(StatusCode::FORBIDDEN, "forbidden\n")),
        Authorization::Unknown => Some(text(StatusCode::SERVICE_UNAVAILABLE, "authorization check failed\n")),
    }
}

fn unauthenticated() -> HttpResponse {
    let mut response = text(StatusCode::UNAUTHORIZED, "a valid bearer token is required\n");
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// The token of `Authorization: Bearer`; `None` for another scheme and for a repeated header.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = only.to_str().ok()?.trim().split_once(' ')?;
    let token = token.trim_start();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && !token.contains(' ')).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[&str]) -> HeaderMap {
        given.iter().map(|value| (AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap())).collect()
    }

    #[test]
    fn the_scheme_is_case_insensitive() {
        for given in ["Bearer abc", "bearer abc", "BEARER  abc ", "Bearer abc"] {
            assert_eq!(bearer(&headers(&[given])), Some("abc"), "{given}");
        }
    }

    #[test]
    fn anything_but_one_bearer_token_is_none() {
        for given in ["", "Bearer", "Bearer ", "Basic abc", "abc", "Bearer abc def", "Bearer\u{e9} abc"] {
            assert_eq!(bearer(&headers(&[given])), None, "{given}");
        }
        assert_eq!(bearer(&headers(&[])), None);
        assert_eq!(bearer(&headers(&["Bearer abc", "Bearer def"])), None, "two tokens are ambiguous");
    }

    #[test]
    fn each_authorization_but_allowed_has_its_status() {
        let status = |authorization| refusal(authorization).map(|response| response.status().as_u16());
        assert_eq!(status(Authorization::Allowed), None);
        assert_eq!(status(Authorization::Unauthenticated), Some(401));
        assert_eq!(status(Authorization::Forbidden), Some(403));
        assert_eq!(status(Authorization::Unknown), Some(503));
    }
}
