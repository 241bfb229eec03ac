//! What an operator author writes: validators and defaulters, typed by kind.

use std::future::{Future, ready};

use crate::rule::verdict::Verdict;
use crate::webhooks::future::BoxFuture;
use crate::wire::request::Request;

/// Judges objects of `K`. What isn't overridden allows.
///
/// A plain `fn(&K, &Request) -> Verdict` is a validator too: it judges creates and updates alike. A closure must name
/// what it takes: `|new: &Graph, _: &Request| …`.
///
/// ```
/// use gateward_core::{Request, Validator, Verdict};
///
/// struct Graph { nodes: usize }
/// struct Rules;
///
/// impl Validator<Graph> for Rules {
///     async fn create(&self, new: &Graph, _: &Request) -> Verdict {
///         if new.nodes == 0 { Verdict::deny("a graph needs a node") } else { Verdict::allow() }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't judge objects of `{K}`",
    label = "this is no validator of `{K}`",
    note = "implement `Validator<{K}> for {Self}`, or pass a `fn(&{K}, &Request) -> Verdict`"
)]
pub trait Validator<K>: Send + Sync + 'static {
    /// Judges a new object.
    fn create(&self, new: &K, request: &Request) -> impl Future<Output = Verdict> + Send {
        let _ = (new, request);
        ready(Verdict::allow())
    }

    /// Judges a change.
    fn update(&self, old: &K, new: &K, request: &Request) -> impl Future<Output = Verdict> + Send {
        let _ = (old, new, request);
        ready(Verdict::allow())
    }

    /// Judges a removal.
    fn delete(&self, old: &K, request: &Request) -> impl Future<Output = Verdict> + Send {
        let _ = (old, request);
        ready(Verdict::allow())
    }
}

impl<K, F> Validator<K> for F
where
    F: Fn(&K, &Request) -> Verdict + Send + Sync + 'static,
{
    fn create(&self, new: &K, request: &Request) -> impl Future<Output = Verdict> + Send {
        ready(self(new, request))
    }

    fn update(&self, _: &K, new: &K, request: &Request) -> impl Future<Output = Verdict> + Send {
        ready(self(new, request))
    }
}

/// What a defaulter answers: the object with its defaults, or a verdict that denies.
#[derive(Debug)]
pub struct Defaulted<K> {
    pub(crate) outcome: Result<K, Verdict>,
    pub(crate) warnings: Vec<String>,
}

impl<K> Defaulted<K> {
    /// The object as it shall be.
    pub const fn new(object: K) -> Self {
        Self { outcome: Ok(object), warnings: Vec::new() }
    }

    /// Refuses the object, or says that nothing can be decided.
    pub const fn refuse(verdict: Verdict) -> Self {
        Self { outcome: Err(verdict), warnings: Vec::new() }
    }

    /// Adds a warning, which the user sees.
    pub fn warning(mut self, text: impl Into<String>) -> Self {
        self.warnings.push(text.into());
        self
    }
}

impl<K> From<K> for Defaulted<K> {
    fn from(object: K) -> Self {
        Self::new(object)
    }
}

/// Fills in what the user left out: typed in, typed out. The patch that the API server gets is the difference, so
/// fields that `K` doesn't know stay as they are.
///
/// Called on creates and on updates that the kind is registered for; `request.operation` says which. It must change
/// nothing when it is applied to its own result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't default objects of `{K}`",
    label = "this is no defaulter of `{K}`",
    note = "implement `Defaulter<{K}> for {Self}`"
)]
pub trait Defaulter<K>: Send + Sync + 'static {
    /// The object with its defaults.
    fn default(&self, object: K, request: &Request) -> impl Future<Output = Defaulted<K>> + Send;
}

/// A validator behind a trait object.
pub(crate) trait DynValidator<K>: Send + Sync {
    fn create<'a>(&'a self, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict>;
    fn update<'a>(&'a self, old: &'a K, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict>;
    fn delete<'a>(&'a self, old: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict>;
}

impl<K: Sync, V: Validator<K>> DynValidator<K> for V {
    fn create<'a>(&'a self, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(Validator::create(self, new, request))
    }

    fn update<'a>(&'a self, old: &'a K, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(Validator::update(self, old, new, request))
    }

    fn delete<'a>(&'a self, old: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(Validator::delete(self, old, request))
    }
}

/// A defaulter behind a trait object.
pub(crate) trait DynDefaulter<K>: Send + Sync {
    fn default<'a>(&'a self, object: K, request: &'a Request) -> BoxFuture<'a, Defaulted<K>>
    where
        K: 'a;
}

impl<K: Send, D: Defaulter<K>> DynDefaulter<K> for D {
    fn default<'a>(&'a self, object: K, request: &'a Request) -> BoxFuture<'a, Defaulted<K>>
    where
        K: 'a,
    {
        Box::pin(Defaulter::default(self, object, request))
    }
}
