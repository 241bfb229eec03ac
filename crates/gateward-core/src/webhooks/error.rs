//! Declarations that contradict each other.

use crate::wire::operation::Operation;

/// A declaration that contradicts another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebhooksError {
    /// Two webhooks want the same path.
    #[error("the path {path} is declared for {first} and for {second}; give one of them another path")]
    PathTaken {
        /// The path.
        path: String,
        /// The kind that was declared first.
        first: String,
        /// The kind that was declared second.
        second: String,
    },
    /// A path that no URL can have.
    #[error("the path {path:?} of {kind} must begin with a slash")]
    BadPath {
        /// The path.
        path: String,
        /// The kind.
        kind: String,
    },
    /// A type was declared as a further version of a kind, and is something else.
    #[error(
        "{version} is declared as another version of {hub}; it must be of the same group and kind in another version"
    )]
    NoOtherVersion {
        /// The hub.
        hub: String,
        /// What was declared.
        version: String,
    },
    /// Two types claim to be the same version of a kind.
    #[error("{version} is declared for two Rust types; one version is one type")]
    TwoTypes {
        /// Group, version and kind of both.
        version: String,
    },
    /// A version has two conversions.
    #[error("{version} has two conversions; one version has one way to the hub")]
    TwoConversions {
        /// Group, version and kind.
        version: String,
    },
    /// A kind was declared twice.
    #[error("{first} and {second} are the same kind; declare it once, with `.spoke` for each further version")]
    KindTwice {
        /// The hub that was declared first.
        first: String,
        /// The hub that was declared second.
        second: String,
    },
    /// Objects of a version would pass without being judged, while those of the hub are.
    #[error(
        "objects of {hub} in version {version} would pass unjudged; give that version a conversion or a validator of its \
         own, or leave it out of the webhook's versions"
    )]
    Unjudged {
        /// The hub.
        hub: String,
        /// The version without a judge.
        version: String,
    },
    /// Objects of some versions can be converted, of another they can't.
    #[error(
        "{hub} is converted to other versions, but not to {version}; give that version a conversion with `.spoke`, so \
         that each version reaches every other"
    )]
    NoConversion {
        /// The hub.
        hub: String,
        /// The version that nothing leads to.
        version: String,
    },
    /// Nothing would be done with objects of a kind.
    #[error("{kind} has no handler and no conversion; give it one with `.validator`, `.defaulter` or `.spoke`")]
    NoHandler {
        /// Group, version and kind of the hub.
        kind: String,
    },
    /// A webhook shall be registered for an operation that none of its handlers judges.
    #[error(
        "{kind}: `.on` names {operation}, which no handler judges; write the method `{}` of a handler, or leave it out",
        operation.verb()
    )]
    UnjudgedOperation {
        /// Group, version and kind of the hub.
        kind: String,
        /// The operation.
        operation: Operation,
    },
    /// A handler claims to judge what is no operation.
    #[error("a handler of {kind} judges {name:?}, which is no operation; write `#[handler]` above its `impl`")]
    UnknownOperation {
        /// Group, version and kind of the hub.
        kind: String,
        /// What it says.
        name: String,
    },
    /// The API server would refuse the configuration.
    #[error("{kind}: {problem}")]
    Registration {
        /// Group, version and kind of the hub.
        kind: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}
