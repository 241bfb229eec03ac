//! An answer to the API server.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};

/// Its body may take as long as somebody reads it.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// An error with a text.
pub(crate) fn error(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    answer
}
