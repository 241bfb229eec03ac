//! All objects of a kind, a page at a time.

use std::time::Duration;

use gateward_core::ListQuery;
use kube::Client;
use kube::api::{ListParams, Request};
use serde_json::value::RawValue;

use super::{List, location};
use crate::failure::{RequestError, with_timeout};

/// How many objects an answer has. Each may have 1.5 MiB.
const PAGE: u32 = 50;
const TIMEOUT: Duration = Duration::from_secs(30);

/// All objects of a kind in their order by namespace and name, a page at a time, however many there are.
pub struct ObjectPages {
    client: Client,
    /// `None` where no objects can be.
    collection: Option<String>,
    /// `None` after the last page.
    next: Option<ListParams>,
}

/// Why the objects of a kind can't be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectPagesError {
    /// There is no such kind, or it has no such version.
    #[error("the API server doesn't serve this kind in this version")]
    NotServed,
    /// The API server refused the request, or wasn't reached.
    #[error("{0}")]
    Refused(String),
}

impl ObjectPages {
    /// Those that a query asks for, with the rights of the client. Nothing is sent yet.
    pub fn of(client: Client, query: &ListQuery) -> Self {
        let first = ListParams::default().labels(&query.label_selector).limit(PAGE);
        Self { client, collection: location::of_list(query), next: Some(first) }
    }

    /// The next page, of which each object is a text of JSON; `None` after the last.
    ///
    /// # Errors
    ///
    /// The API server doesn't answer with a list. The same page is asked for the next time.
    pub async fn next_page(&mut self) -> Result<Option<Vec<Box<RawValue>>>, ObjectPagesError> {
        let Some(page) = &self.next else { return Ok(None) };
        let refused = |why: &str| ObjectPagesError::Refused(why.to_owned());
        let collection = self.collection.as_ref().ok_or_else(|| refused("no collection of objects has this name"))?;
        let request = Request::new(collection).list(page).map_err(|why| refused(&why.to_string()))?;
        let List { metadata, items } =
            with_timeout(TIMEOUT, self.client.request(request)).await.map_err(ObjectPagesError::from)?;
        let token = Some(metadata.next).filter(|token| !token.is_empty());
        self.next = token.map(|token| ListParams { continue_token: Some(token), ..page.clone() });
        Ok(Some(items))
    }
}

impl From<RequestError> for ObjectPagesError {
    fn from(why: RequestError) -> Self {
        if why.code() == Some(404) { Self::NotServed } else { Self::Refused(why.to_string()) }
    }
}
