//! What an operator author writes: validators and defaulters, typed by kind.

use std::future::{Future, ready};

use crate::rule::answer::{Defaulted, IntoDefaulted, IntoVerdict};
use crate::wire::request::Request;

/// Judges objects of `K`.
///
/// The attribute [`#[handler]`](crate::handler) stands above each implementation: it registers the webhook for those
/// operations whose methods are written, and lets each method answer what suits it ([`IntoVerdict`]): a [`Verdict`],
/// [`Issues`], a `Result` that is used with `?`, or nothing, which allows.
///
/// ```
/// use gateward_core::{Request, Validator, Verdict, handler};
///
/// struct Graph { nodes: usize }
/// struct Rules;
///
/// #[handler]
/// impl Validator<Graph> for Rules {
///     async fn create(&self, new: &Graph, _: &Request) -> Result<(), Verdict> {
///         if new.nodes == 0 {
///             return Err(Verdict::deny("a graph needs a node"));
///         }
///         Ok(())
///     }
/// }
/// assert_eq!(<Rules as Validator<Graph>>::OPERATIONS, ["CREATE"]);
/// ```
///
/// A function is a validator too: see [`Webhook::validator`](crate::Webhook::validator).
///
/// [`Verdict`]: crate::Verdict
/// [`Issues`]: crate::Issues
pub trait Validator<K>: Send + Sync + 'static {
    /// The operations that are judged, by the names that a webhook configuration has for them. `#[handler]` writes it.
    const OPERATIONS: &'static [&'static str];

    /// Judges a new object.
    fn create(&self, new: &K, request: &Request) -> impl Future<Output = impl IntoVerdict> + Send {
        let _ = (new, request);
        ready(())
    }

    /// Judges a change.
    fn update(&self, old: &K, new: &K, request: &Request) -> impl Future<Output = impl IntoVerdict> + Send {
        let _ = (old, new, request);
        ready(())
    }

    /// Judges a removal.
    fn delete(&self, old: &K, request: &Request) -> impl Future<Output = impl IntoVerdict> + Send {
        let _ = (old, request);
        ready(())
    }

    /// Judges a connection, for example by `kubectl exec`: `K` is then the kind of its options.
    fn connect(&self, options: &K, request: &Request) -> impl Future<Output = impl IntoVerdict> + Send {
        let _ = (options, request);
        ready(())
    }
}

/// Fills in what the user left out: typed in, typed out. The patch that the API server gets is the difference, so
/// fields that `K` doesn't know stay as they are.
///
/// As for a [`Validator`], the attribute [`#[handler]`](crate::handler) stands above each implementation. A method
/// answers the object, [`Defaulted`] or a `Result` with one of them. It must change nothing when it is applied to its
/// own result.
///
/// ```
/// use gateward_core::{Defaulter, Request, Verdict, handler};
///
/// struct Graph { nodes: Option<usize> }
/// struct Defaults;
///
/// #[handler]
/// impl Defaulter<Graph> for Defaults {
///     async fn create(&self, mut new: Graph, _: &Request) -> Graph {
///         new.nodes.get_or_insert(1);
///         new
///     }
///
///     async fn update(&self, old: &Graph, mut new: Graph, _: &Request) -> Result<Graph, Verdict> {
///         new.nodes = new.nodes.or(old.nodes);
///         if new.nodes.is_none() { Err(Verdict::deny("how many nodes?")) } else { Ok(new) }
///     }
/// }
/// ```
///
/// A function is a defaulter too: see [`Webhook::defaulter`](crate::Webhook::defaulter).
pub trait Defaulter<K: Send>: Send + Sync + 'static {
    /// The operations on which there are defaults, `CREATE`, `UPDATE` or both. `#[handler]` writes it.
    const OPERATIONS: &'static [&'static str];

    /// A new object with its defaults.
    fn create(&self, new: K, request: &Request) -> impl Future<Output = impl IntoDefaulted<K>> + Send {
        let _ = request;
        ready(Defaulted::new(new))
    }

    /// A changed object with its defaults. What can't be read of the stored object is absent from `old`; where nothing
    /// of it can be read, `old` is as `new`.
    fn update(&self, old: &K, new: K, request: &Request) -> impl Future<Output = impl IntoDefaulted<K>> + Send {
        let _ = (old, request);
        ready(Defaulted::new(new))
    }
}
