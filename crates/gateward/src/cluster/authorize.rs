//! Who may read the metrics: as the API server says.

use gateward_cluster::{Access, AccessReview};
use gateward_server::{Authorize, Permission};

/// Has the API server decide.
pub(super) struct ByApiServer(pub(super) AccessReview);

impl Authorize for ByApiServer {
    async fn may_read(&self, path: &str, token: Option<&str>) -> Permission {
        match self.0.may_read(path, token).await {
            Access::Granted => Permission::Granted,
            Access::Unauthenticated => Permission::Unauthenticated,
            Access::Forbidden => Permission::Forbidden,
            Access::Unknown(why) => {
                tracing::warn!(why, "metrics authorization check failed");
                Permission::Unknown
            }
        }
    }
}
