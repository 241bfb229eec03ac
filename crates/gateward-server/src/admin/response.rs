//! HTTP responses of an admin listener.

use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode, request};

use super::endpoint::{AdminEndpoint, AdminRequest, AdminResponse};

/// A response before it is written.
pub(super) type HttpResponse = Response<Vec<u8>>;

/// Checks path and method, for every caller; an error is the response.
pub(super) fn check(head: &request::Parts, endpoint: &impl AdminEndpoint) -> Result<(), Box<HttpResponse>> {
    if !endpoint.serves(head.uri.path()) {
        return Err(Box::new(not_found()));
    }
    if !matches!(head.method, Method::GET | Method::HEAD) {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "use GET\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Err(Box::new(response));
    }
    Ok(())
}

/// The endpoint's response.
pub(super) fn respond(head: &request::Parts, endpoint: &impl AdminEndpoint) -> HttpResponse {
    let accept = head.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let request = AdminRequest { path: head.uri.path(), query: head.uri.query(), accept };
    endpoint.respond(&request).map_or_else(not_found, http_response)
}

/// A response of one sentence.
pub(super) fn text(status: StatusCode, body: &str) -> HttpResponse {
    let content_type = "text/plain; charset=utf-8";
    http_response(AdminResponse { status: status.as_u16(), content_type, body: body.to_owned() })
}

fn not_found() -> HttpResponse {
    text(StatusCode::NOT_FOUND, "not found\n")
}

fn http_response(response: AdminResponse) -> HttpResponse {
    let mut http = Response::new(response.body.into_bytes());
    *http.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    http.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(response.content_type));
    http
}
