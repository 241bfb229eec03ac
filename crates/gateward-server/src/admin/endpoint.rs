//! What an admin listener serves.

/// A request to an admin listener.
#[derive(Debug, Clone, Copy)]
pub struct AdminRequest<'a> {
    /// The path.
    pub path: &'a str,
    /// The query, without the question mark.
    pub query: Option<&'a str>,
    /// The header `Accept`.
    pub accept: Option<&'a str>,
}

/// The response of an admin listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminResponse {
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub content_type: &'static str,
    /// The text.
    pub body: String,
}

/// What an admin listener serves: [`Readiness`](crate::Readiness) and [`Metrics`](crate::Metrics) are endpoints.
pub trait AdminEndpoint: Send + Sync + 'static {
    /// Whether there is something at a path. This is called before the caller is authorized, so it must be cheap.
    fn serves(&self, path: &str) -> bool;

    /// The response to a request; `None` becomes a 404.
    fn respond(&self, request: &AdminRequest<'_>) -> Option<AdminResponse>;
}
