//! What a rule may look up in the cluster. A file of facts implements it offline, the API server's client in a cluster.

use std::fmt::Debug;

use serde_json::Value;

use crate::rule::context::ReviewSubject;
use crate::webhooks::future::BoxFuture;

/// Whether an API group, or one resource of it, is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupServed {
    /// It is.
    Served,
    /// It isn't.
    Absent,
    /// It can't be learned at the moment, with the reason.
    Unreadable(String),
}

/// The result of reading one object by name.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup {
    /// The object.
    Found(Value),
    /// There is no object of this name.
    Absent,
    /// It can't be read at the moment, with the reason.
    Unreadable(String),
}

/// Which object to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub plural: String,
    /// The namespace; `None` for a cluster-wide object.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// Reads from the cluster, within the deadline of the request that asks.
pub trait ClusterReader: Debug + Send + Sync + 'static {
    /// Whether the API group is served.
    fn group<'a>(&'a self, group: &'a str) -> BoxFuture<'a, GroupServed>;

    /// Whether a version of an API group serves a resource: for groups that several operators share.
    fn resource<'a>(&'a self, group: &'a str, version: &'a str, plural: &'a str) -> BoxFuture<'a, GroupServed>;

    /// One object by name.
    fn get<'a>(&'a self, object: &'a ObjectName) -> BoxFuture<'a, Lookup>;

    /// Whether an operator of one namespace has claimed what a review is about, as was seen last.
    fn claims(&self, subject: &ReviewSubject<'_>) -> bool {
        let _ = subject;
        false
    }
}
