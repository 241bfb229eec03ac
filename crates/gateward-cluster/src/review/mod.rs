//! Who may read the metrics: the API server says whose a token is, and what its owner may do.

mod access;
mod remembered;

use std::sync::Arc;
use std::time::Duration;

use gateward_certs::Fingerprint;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::Semaphore;

use crate::failure::{RequestError, with_timeout};
use crate::subject_access::is_granted;
pub use access::Access;
use remembered::Remembered;

/// How long one of the two questions may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How many tokens are reviewed at once: made-up tokens must not load the API server.
const AT_ONCE: usize = 4;
/// How long a request waits for its turn.
const A_TURN: Duration = Duration::from_secs(2);
/// No token is longer, and the API server need not be asked about it.
const LONGEST_TOKEN: usize = 64 * 1024;

/// Asks the API server about the readers of paths that are no resources, and remembers its answers for a minute.
#[derive(Clone)]
pub struct AccessReview {
    client: Client,
    remembered: Arc<Remembered>,
    turns: Arc<Semaphore>,
}

impl AccessReview {
    /// Through a client that may create `TokenReview`s and `SubjectAccessReview`s.
    pub fn new(client: Client) -> Self {
        Self { client, remembered: Arc::default(), turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Whether the owner of a bearer token may `get` a path.
    pub async fn may_read(&self, path: &str, token: Option<&str>) -> Access {
        let Some(token) = token.filter(|token| !token.is_empty() && token.len() <= LONGEST_TOKEN) else {
            return Access::Unauthenticated;
        };
        let owner = Fingerprint::of(token.as_bytes());
        if let Some(access) = self.remembered.access(owner, path) {
            return access;
        }
        let Ok(Ok(_turn)) = tokio::time::timeout(A_TURN, self.turns.acquire()).await else {
            return Access::Unknown("too many tokens are being asked about; try again".into());
        };
        let access = self.ask(path, token).await.unwrap_or_else(|why| Access::Unknown(why.to_string()));
        self.remembered.remember(owner, path, &access);
        access
    }

    async fn ask(&self, path: &str, token: &str) -> Result<Access, RequestError> {
        let Some(user) = self.owner(token).await? else { return Ok(Access::Unauthenticated) };
        let is_granted = is_granted(&self.client, TIMEOUT, may_get(path, user)).await?;
        Ok(if is_granted { Access::Granted } else { Access::Forbidden })
    }

    /// Whose a token is; `None` if it isn't authenticated.
    async fn owner(&self, token: &str) -> Result<Option<UserInfo>, RequestError> {
        let spec = TokenReviewSpec { token: token.to_owned().into(), ..TokenReviewSpec::default() };
        let review = TokenReview { spec, ..TokenReview::default() };
        let api = Api::<TokenReview>::all(self.client.clone());
        let answer = with_timeout(TIMEOUT, api.create(&PostParams::default(), &review)).await?;
        let authenticated = answer.status.filter(|status| status.authenticated == Some(true));
        Ok(authenticated.and_then(|status| status.user))
    }
}

fn may_get(path: &str, user: UserInfo) -> SubjectAccessReviewSpec {
    SubjectAccessReviewSpec {
        user: user.username,
        uid: user.uid,
        groups: user.groups,
        extra: user.extra,
        non_resource_attributes: Some(NonResourceAttributes { path: Some(path.into()), verb: Some("get".into()) }),
        ..SubjectAccessReviewSpec::default()
    }
}

impl std::fmt::Debug for AccessReview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessReview").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
