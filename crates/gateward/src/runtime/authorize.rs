//! Who may read the metrics: as the API server says.

use gateward_cluster::{Access, AccessReview};
use gateward_server::{Authorization, Authorizer};

/// Has the API server decide.
pub(super) struct ByApiServer(pub(super) AccessReview);

impl Authorizer for ByApiServer {
    async fn authorize(&self, path: &str, token: Option<&str>) -> Authorization {
        match self.0.may_read(path, token).await {
            Access::Granted => Authorization::Allowed,
            Access::Unauthenticated => Authorization::Unauthenticated,
            Access::Forbidden => Authorization::Forbidden,
            Access::Unknown(why) => {
                tracing::warn!(why, "metrics authorization check failed");
                Authorization::Unknown
            }
        }
    }
}
