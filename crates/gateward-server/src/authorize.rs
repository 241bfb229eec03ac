//! Who may read a page.

use std::future::Future;

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

use crate::pages::{Answered, text};

/// What is asked before a page is shown. Nothing is shown but what was granted.
///
/// It is asked for every request, up to 64 times at once, and anyone can make tokens up. Whoever asks others in turn
/// remembers their answers and keeps a flood from them.
#[diagnostic::on_unimplemented(message = "`{Self}` can't say who may read pages", note = "implement `Authorize`")]
pub trait Authorize: Send + Sync + 'static {
    /// Whether someone may `get` a path, who shows a bearer token or none. The future is dropped when it takes too long,
    /// which is then [`Permission::Unknown`]. The token is a secret: it belongs in no log and in no error.
    fn may_read(&self, path: &str, token: Option<&str>) -> impl Future<Output = Permission> + Send;
}

/// Whether a page may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// It may be.
    Granted,
    /// Nobody knows who asks: 401.
    Unauthenticated,
    /// It is known who asks, and that he may not: 403.
    Forbidden,
    /// It can't be found out at the moment: 503.
    Unknown,
}

/// The answer without a page; `None` where the page may be read.
pub(crate) fn refusal(permission: Permission) -> Option<Answered> {
    match permission {
        Permission::Granted => None,
        Permission::Unauthenticated => Some(unauthenticated()),
        Permission::Forbidden => Some(text(StatusCode::FORBIDDEN, "you may not read this page\n")),
        Permission::Unknown => {
            Some(text(StatusCode::SERVICE_UNAVAILABLE, "whether you may read this page can't be found out now\n"))
        }
    }
}

fn unauthenticated() -> Answered {
    let mut response: Response<_> = text(StatusCode::UNAUTHORIZED, "a valid bearer token is needed\n");
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// The token of `Authorization: Bearer`. What is given twice, or in another way, is no token.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
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
    fn a_bearer_token_is_found_however_its_scheme_is_spelled() {
        for given in ["Bearer abc", "bearer abc", "BEARER  abc ", "Bearer abc"] {
            assert_eq!(bearer(&headers(&[given])), Some("abc"), "{given}");
        }
    }

    #[test]
    fn what_is_no_single_bearer_token_is_none() {
        for given in ["", "Bearer", "Bearer ", "Basic abc", "abc", "Bearer abc def", "Bearer\u{e9} abc"] {
            assert_eq!(bearer(&headers(&[given])), None, "{given}");
        }
        assert_eq!(bearer(&headers(&[])), None);
        assert_eq!(bearer(&headers(&["Bearer abc", "Bearer def"])), None, "nobody guesses which is meant");
    }

    #[test]
    fn each_permission_but_one_has_its_status() {
        let status = |permission| refusal(permission).map(|answer| answer.status().as_u16());
        assert_eq!(status(Permission::Granted), None);
        assert_eq!(status(Permission::Unauthenticated), Some(401));
        assert_eq!(status(Permission::Forbidden), Some(403));
        assert_eq!(status(Permission::Unknown), Some(503));
    }
}
