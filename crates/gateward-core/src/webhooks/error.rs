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
    #[error(
        "the path {path:?} of {kind} must begin with a slash, and the API server takes only lower-case letters, digits, \
         '-' and '.' between slashes"
    )]
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
    #[error(
        "{first} and {second} are the same kind; declare it once, with `.spoke` for each further version and `.entry` for \
         each further entry of the configuration"
    )]
    KindTwice {
        /// The hub that was declared first.
        first: String,
        /// The hub that was declared second.
        second: String,
    },
    /// A kind that is given at run time is none.
    #[error("{kind}: {problem}")]
    BadKind {
        /// Group, version and kind.
        kind: String,
        /// What is wrong, and what would be right.
        problem: &'static str,
    },
    /// Two further entries of a kind have the same name.
    #[error("two entries of {kind} are called {entry:?}; give one of them another name")]
    EntryTwice {
        /// Group, version and kind of the hub.
        kind: String,
        /// The name.
        entry: &'static str,
    },
    /// A further entry says what is the kind's to say.
    #[error("the entry {entry:?} of {kind} has {what} of its own; say that of the kind, before `.entry`")]
    MisplacedInEntry {
        /// Group, version and kind of the hub.
        kind: String,
        /// The entry.
        entry: &'static str,
        /// What it has.
        what: &'static str,
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
    /// A handler judges nothing.
    #[error(
        "a handler of {kind} to {review} judges no operation; write `#[handler]` above its `impl`, which says by the methods \
         `create`, `update`, `delete` and `connect` what it judges"
    )]
    NoOperation {
        /// Group, version and kind of the hub.
        kind: String,
        /// `validate` or `mutate`.
        review: &'static str,
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
    /// The API server would refuse a webhook's name.
    #[error(
        "the webhook of {kind} is called {name:?}; the API server takes a domain name of at least three parts, such as \
         validate.otter.example.org"
    )]
    BadName {
        /// The name.
        name: String,
        /// The kind.
        kind: String,
    },
    /// Two webhooks of one configuration have the same name.
    #[error("two webhooks are called {name:?}; give one of them another name with `Endpoint::name`")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// A webhook lists a version that isn't declared.
    #[error("the webhook of {kind} lists {version}, which is none of its versions; they are {declared}")]
    UnknownVersion {
        /// Group, version and kind of the hub.
        kind: String,
        /// The version that is listed.
        version: String,
        /// Those that are declared.
        declared: String,
    },
    /// The plural or the scope of a version differ from the hub's.
    #[error("{version} and {hub} are versions of one kind, and have one plural and one scope")]
    OtherResource {
        /// The hub.
        hub: String,
        /// The version that differs.
        version: String,
    },
    /// Objects of a version would be stored without the defaults that those of the hub get.
    #[error(
        "objects of {hub} in version {version} would get no defaults; give that version a defaulter of its own with \
         `.defaulter_for`, leave it out of the mutating webhook's versions, so that API servers convert them first, or say \
         `.no_defaults_for`"
    )]
    Undefaulted {
        /// The hub.
        hub: String,
        /// The version without defaults.
        version: String,
    },
    /// Two rules have the same id.
    #[error("two rules are called {id:?}; a rule's id is how users and dashboards know it")]
    RuleTwice {
        /// The id.
        id: &'static str,
    },
    /// A rule is listed for an operation that the webhooks of its kind aren't registered for.
    #[error(
        "the rule {rule} of {kind} is for {operation}, on which no webhook of that kind is called; write the method `{}` of \
         a handler, name {operation} in `.on`, or take it out of the rule's `operations`",
        operation.verb()
    )]
    RuleNeverRuns {
        /// Group, version and kind of the hub.
        kind: String,
        /// The rule.
        rule: &'static str,
        /// The operation.
        operation: Operation,
    },
    /// Nothing is declared.
    #[error("no kind is registered; add one with `Webhooks::register`")]
    NoKinds,
    /// Changes of the subresource `scale` would pass unjudged.
    #[error("{kind}: `.scale` has its scale judged by the hub's rules on updates, and there are none; add a validator")]
    UnjudgedScale {
        /// Group, version and kind of the hub.
        kind: String,
    },
    /// A CRD has the subresource `scale`, and nothing says what judges its changes.
    #[error(
        "the CRD of {kind} has the subresource scale, and `kubectl scale` would pass what the rules on updates refuse; say \
         `.scale(|object, replicas| …)`, which writes {path}, register a webhook on `Scale` with `.subresource_of`, or say \
         `.scale_passes()`"
    )]
    SilentScale {
        /// Group, version and kind of the hub.
        kind: String,
        /// Where the number of replicas is.
        path: String,
    },
    /// `.scale` writes the number of replicas to another place than the API server.
    #[error("{kind}: `.scale` doesn't write {path}, where the CRD has the number of replicas; write it there")]
    ScaleElsewhere {
        /// Group, version and kind of the hub.
        kind: String,
        /// Where the number of replicas is.
        path: String,
    },
    /// `.scale` is said of a kind that can't be scaled.
    #[error(
        "{kind} says `.scale`, and its CRD has no subresource scale in that version; add it, or leave `.scale` out"
    )]
    ScaleOfNothing {
        /// Group, version and kind of the hub.
        kind: String,
    },
    /// A webhook has a path, a name or versions of its own, and nothing that answers.
    #[error(
        "{kind} says where its {review} webhook is registered, and has no handler for it; add one, or leave it out"
    )]
    PathWithoutHandler {
        /// Group, version and kind of the hub.
        kind: String,
        /// `validate` or `mutate`.
        review: &'static str,
    },
    /// No annotation can begin with what all of the operator's are to begin with.
    #[error(
        "the prefix {prefix:?} of annotations and labels {problem}; give another with `Webhooks::with_annotation_prefix`, \
         such as otter.example.org"
    )]
    BadAnnotationPrefix {
        /// The prefix.
        prefix: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The annotations of conversion would have the prefix of somebody else's group.
    #[error(
        "{kind} is converted, and no registered kind is of a group of the operator's own, which the keys of annotations could \
         begin with; give a prefix with `Webhooks::with_annotation_prefix`"
    )]
    NoAnnotationPrefix {
        /// Group, version and kind of the hub.
        kind: String,
    },
    /// A conversion of the operator's keeps something where conversion itself does.
    #[error(
        "the conversion of {kind} keeps something in {annotation}, as conversion itself does; give that `Stash` another key"
    )]
    AnnotationTaken {
        /// Group, version and kind of the hub.
        kind: String,
        /// The annotation.
        annotation: String,
    },
    /// What was given as the CRD of a kind can't be written.
    #[error("the CRD of {kind} can't be written as YAML: {why}; give it as text or as `T::crd()`")]
    UnwritableCrd {
        /// Group, version and kind.
        kind: String,
        /// What is wrong with it.
        why: String,
    },
}
