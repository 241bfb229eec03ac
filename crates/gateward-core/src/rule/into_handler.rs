//! What can be registered as a handler: implementations of the traits, functions and closures, asynchronous ones too.
//!
//! The parameter `M` is never named: by it the compiler tells the forms apart, as with the handlers of a web framework.

use std::future::{Future, ready};
use std::sync::Arc;

use crate::rule::answer::{Defaulted, IntoDefaulted, IntoVerdict};
use crate::rule::handler::{Defaulter, Validator};
use crate::rule::verdict::Verdict;
use crate::webhooks::future::BoxFuture;
use crate::wire::operation::{CREATE_AND_UPDATE, Operation};
use crate::wire::request::Request;

/// What judges objects of `K`: a [`Validator`], or a function of the new object and the request, which judges creates and
/// updates. Both may be asynchronous. A closure names the types of its arguments. `S` is the state of the webhook, which a
/// function may take as its third argument: [`State`](crate::State).
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't judge objects of `{K}`",
    label = "this is no validator of `{K}`",
    note = "implement `Validator<{K}>` for a type of yours, with `#[handler]` above the `impl`",
    note = "or pass a function, or a closure with the types of its arguments: `|new: &{K}, _: &Request| …`, which answers `Verdict`, `Issues`, `()` or a `Result` with one of them",
    note = "where a function takes a `State<T>` as its third argument, `.with_state(…)` above gives a `T`; here that is `{S}`"
)]
pub trait IntoValidator<K, M, S = ()> {
    /// The validator behind a trait object.
    #[doc(hidden)]
    fn into_validator(self, state: &S) -> AnyValidator<K>;
}

/// What fills in objects of `K`: a [`Defaulter`], or a function of the new object and the request, which is asked on
/// creates and updates. Both may be asynchronous. A closure names the types of its arguments. `S` is the state of the
/// webhook, which a function may take as its third argument: [`State`](crate::State).
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't default objects of `{K}`",
    label = "this is no defaulter of `{K}`",
    note = "implement `Defaulter<{K}>` for a type of yours, with `#[handler]` above the `impl`",
    note = "or pass a function, or a closure with the types of its arguments: `|new: {K}, _: &Request| …`, which answers `{K}`, `Defaulted<{K}>` or a `Result` with one of them",
    note = "where a function takes a `State<T>` as its third argument, `.with_state(…)` above gives a `T`; here that is `{S}`"
)]
pub trait IntoDefaulter<K, M, S = ()> {
    /// The defaulter behind a trait object.
    #[doc(hidden)]
    fn into_defaulter(self, state: &S) -> AnyDefaulter<K>;
}

/// A validator whose type is forgotten, and the operations that it judges.
pub struct AnyValidator<K> {
    pub(crate) operations: Operations,
    pub(crate) validator: Arc<dyn DynValidator<K>>,
}

/// A defaulter whose type is forgotten, and the operations on which it is asked.
pub struct AnyDefaulter<K> {
    pub(crate) operations: Operations,
    pub(crate) defaulter: Arc<dyn DynDefaulter<K>>,
}

/// Operations, or the first name that is none.
pub(crate) type Operations = Result<Vec<Operation>, &'static str>;

fn named(names: &'static [&'static str]) -> Operations {
    names.iter().map(|&name| Operation::named(name).ok_or(name)).collect()
}

/// A validator behind a trait object. A function judges the new object, be it created or changed.
pub(crate) trait DynValidator<K>: Send + Sync {
    fn create<'a>(&'a self, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict>;

    fn update<'a>(&'a self, _: &'a K, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        self.create(new, request)
    }

    fn delete<'a>(&'a self, _: &'a K, _: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(ready(Verdict::allow()))
    }

    fn connect<'a>(&'a self, _: &'a K, _: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(ready(Verdict::allow()))
    }
}

/// A defaulter behind a trait object.
pub(crate) trait DynDefaulter<K>: Send + Sync {
    /// Whether the stored object has to be read for it.
    fn compares(&self) -> bool {
        false
    }

    /// `old` is the stored object on an update, if it was read.
    fn default<'a>(&'a self, old: Option<&'a K>, new: K, request: &'a Request) -> BoxFuture<'a, Defaulted<K>>
    where
        K: 'a;
}

/// The forms in which a handler can be written.
pub mod form {
    use std::marker::PhantomData;

    /// An implementation of the trait.
    pub struct Implementation;
    /// A function that answers `R`.
    pub struct Function<R>(PhantomData<R>);
    /// An asynchronous function that answers `R`.
    pub struct AsyncFunction<R>(PhantomData<R>);
    /// A function that takes the state and answers `R`.
    pub struct Stateful<R>(PhantomData<R>);
    /// An asynchronous function that takes the state and answers `R`.
    pub struct AsyncStateful<R>(PhantomData<R>);
}

struct Implemented<H>(H);
struct Function<F>(F);
pub(super) struct AsyncFunction<F>(pub(super) F);

impl<K: Sync + 'static, V: Validator<K>, S> IntoValidator<K, form::Implementation, S> for V {
    fn into_validator(self, _: &S) -> AnyValidator<K> {
        AnyValidator { operations: named(V::OPERATIONS), validator: Arc::new(Implemented(self)) }
    }
}

impl<K: Sync, V: Validator<K>> DynValidator<K> for Implemented<V> {
    fn create<'a>(&'a self, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(async { self.0.create(new, request).await.into_verdict() })
    }

    fn update<'a>(&'a self, old: &'a K, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(async { self.0.update(old, new, request).await.into_verdict() })
    }

    fn delete<'a>(&'a self, old: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(async { self.0.delete(old, request).await.into_verdict() })
    }

    fn connect<'a>(&'a self, options: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(async { self.0.connect(options, request).await.into_verdict() })
    }
}

impl<K: Send + Sync + 'static, D: Defaulter<K>, S> IntoDefaulter<K, form::Implementation, S> for D {
    fn into_defaulter(self, _: &S) -> AnyDefaulter<K> {
        AnyDefaulter { operations: named(D::OPERATIONS), defaulter: Arc::new(Implemented(self)) }
    }
}

impl<K: Send + Sync, D: Defaulter<K>> DynDefaulter<K> for Implemented<D> {
    fn compares(&self) -> bool {
        D::OPERATIONS.contains(&Operation::Update.as_str())
    }

    fn default<'a>(&'a self, old: Option<&'a K>, new: K, request: &'a Request) -> BoxFuture<'a, Defaulted<K>>
    where
        K: 'a,
    {
        Box::pin(async move {
            match old {
                Some(old) => self.0.update(old, new, request).await.into_defaulted(),
                None => self.0.create(new, request).await.into_defaulted(),
            }
        })
    }
}

impl<K, F, R, S> IntoValidator<K, form::Function<R>, S> for F
where
    F: Fn(&K, &Request) -> R + Send + Sync + 'static,
    R: IntoVerdict,
{
    fn into_validator(self, _: &S) -> AnyValidator<K> {
        AnyValidator { operations: Ok(CREATE_AND_UPDATE.to_vec()), validator: Arc::new(Function(self)) }
    }
}

impl<K, F, R> DynValidator<K> for Function<F>
where
    F: Fn(&K, &Request) -> R + Send + Sync,
    R: IntoVerdict,
{
    fn create<'a>(&'a self, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        Box::pin(ready((self.0)(new, request).into_verdict()))
    }
}

impl<K, F, R, S> IntoDefaulter<K, form::Function<R>, S> for F
where
    K: Send,
    F: Fn(K, &Request) -> R + Send + Sync + 'static,
    R: IntoDefaulted<K>,
{
    fn into_defaulter(self, _: &S) -> AnyDefaulter<K> {
        AnyDefaulter { operations: Ok(CREATE_AND_UPDATE.to_vec()), defaulter: Arc::new(Function(self)) }
    }
}

impl<K, F, R> DynDefaulter<K> for Function<F>
where
    K: Send,
    F: Fn(K, &Request) -> R + Send + Sync,
    R: IntoDefaulted<K>,
{
    fn default<'a>(&'a self, _: Option<&'a K>, new: K, request: &'a Request) -> BoxFuture<'a, Defaulted<K>>
    where
        K: 'a,
    {
        Box::pin(ready((self.0)(new, request).into_defaulted()))
    }
}

/// A function whose future borrows its arguments. The bound on a closure can't say that the future is `Send`; this can.
pub trait AsyncCall<'a, O> {
    /// What the future gives.
    type Answer;

    /// Calls it.
    #[doc(hidden)]
    fn call(&self, object: O, request: &'a Request) -> impl Future<Output = Self::Answer> + Send + 'a;
}

impl<'a, O, F, T> AsyncCall<'a, O> for F
where
    F: Fn(O, &'a Request) -> T,
    T: Future + Send + 'a,
{
    type Answer = T::Output;

    fn call(&self, object: O, request: &'a Request) -> impl Future<Output = T::Output> + Send + 'a {
        self(object, request)
    }
}

impl<K, F, R, S> IntoValidator<K, form::AsyncFunction<R>, S> for F
where
    K: Sync + 'static,
    F: for<'a> AsyncCall<'a, &'a K, Answer = R> + Send + Sync + 'static,
    R: IntoVerdict,
{
    fn into_validator(self, _: &S) -> AnyValidator<K> {
        AnyValidator { operations: Ok(CREATE_AND_UPDATE.to_vec()), validator: Arc::new(AsyncFunction(self)) }
    }
}

impl<K, F, R> DynValidator<K> for AsyncFunction<F>
where
    K: Sync + 'static,
    F: for<'a> AsyncCall<'a, &'a K, Answer = R> + Send + Sync,
    R: IntoVerdict,
{
    fn create<'a>(&'a self, new: &'a K, request: &'a Request) -> BoxFuture<'a, Verdict> {
        let answer = self.0.call(new, request);
        Box::pin(async { answer.await.into_verdict() })
    }
}

impl<K, F, R, S> IntoDefaulter<K, form::AsyncFunction<R>, S> for F
where
    K: Send + 'static,
    F: for<'a> AsyncCall<'a, K, Answer = R> + Send + Sync + 'static,
    R: IntoDefaulted<K>,
{
    fn into_defaulter(self, _: &S) -> AnyDefaulter<K> {
        AnyDefaulter { operations: Ok(CREATE_AND_UPDATE.to_vec()), defaulter: Arc::new(AsyncFunction(self)) }
    }
}

impl<K, F, R> DynDefaulter<K> for AsyncFunction<F>
where
    K: Send + 'static,
    F: for<'a> AsyncCall<'a, K, Answer = R> + Send + Sync,
    R: IntoDefaulted<K>,
{
    fn default<'a>(&'a self, _: Option<&'a K>, new: K, request: &'a Request) -> BoxFuture<'a, Defaulted<K>>
    where
        K: 'a,
    {
        let answer = self.0.call(new, request);
        Box::pin(async { answer.await.into_defaulted() })
    }
}
