//! Functions that take what the operator has given its webhooks.

use std::sync::Arc;

use crate::rule::answer::{IntoDefaulted, IntoVerdict};
use crate::rule::into_handler::{
    AnyDefaulter, AnyValidator, AsyncCall, AsyncFunction, IntoDefaulter, IntoValidator, form,
};
use crate::wire::operation::CREATE_AND_UPDATE;
use crate::wire::request::Request;

/// The third argument of a function or closure that judges or defaults: the state of its webhook, which
/// [`Webhook::with_state`](crate::Webhook::with_state) gives. Each request gets a clone; what is large is in an `Arc`.
///
/// ```
/// use gateward_core::{Request, State, Verdict, Webhook};
/// # use gateward_core::resource;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct Otter { weight: u32 }
/// # resource!(Otter, "example.org/v1", "Otter", "otters");
///
/// #[derive(Clone)]
/// struct Limits {
///     weight: u32,
/// }
///
/// async fn not_too_heavy(new: &Otter, _: &Request, State(limits): State<Limits>) -> Result<(), Verdict> {
///     if new.weight > limits.weight { Err(Verdict::deny("that one is too heavy")) } else { Ok(()) }
/// }
///
/// let kind = Webhook::<Otter>::new().with_state(Limits { weight: 12 }).validator(not_too_heavy);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct State<S>(pub S);

/// An asynchronous function with the state that it takes.
pub struct WithState<F, S> {
    function: F,
    state: S,
}

impl<'a, O, F, S, T> AsyncCall<'a, O> for WithState<F, S>
where
    F: Fn(O, &'a Request, State<S>) -> T,
    S: Clone,
    T: Future + Send + 'a,
{
    type Answer = T::Output;

    fn call(&self, object: O, request: &'a Request) -> impl Future<Output = T::Output> + Send + 'a {
        (self.function)(object, request, State(self.state.clone()))
    }
}

impl<K, F, R, S> IntoValidator<K, form::Stateful<R>, S> for F
where
    F: Fn(&K, &Request, State<S>) -> R + Send + Sync + 'static,
    R: IntoVerdict,
    S: Clone + Send + Sync + 'static,
{
    fn into_validator(self, state: &S) -> AnyValidator<K> {
        let state = state.clone();
        let stateless = move |new: &K, request: &Request| self(new, request, State(state.clone()));
        IntoValidator::<K, form::Function<R>>::into_validator(stateless, &())
    }
}

impl<K, F, R, S> IntoDefaulter<K, form::Stateful<R>, S> for F
where
    K: Send,
    F: Fn(K, &Request, State<S>) -> R + Send + Sync + 'static,
    R: IntoDefaulted<K>,
    S: Clone + Send + Sync + 'static,
{
    fn into_defaulter(self, state: &S) -> AnyDefaulter<K> {
        let state = state.clone();
        let stateless = move |new: K, request: &Request| self(new, request, State(state.clone()));
        IntoDefaulter::<K, form::Function<R>>::into_defaulter(stateless, &())
    }
}

impl<K, F, R, S> IntoValidator<K, form::AsyncStateful<R>, S> for F
where
    K: Sync + 'static,
    F: Send + Sync + 'static,
    WithState<F, S>: for<'a> AsyncCall<'a, &'a K, Answer = R>,
    R: IntoVerdict,
    S: Clone + Send + Sync + 'static,
{
    fn into_validator(self, state: &S) -> AnyValidator<K> {
        let validator = AsyncFunction(WithState { function: self, state: state.clone() });
        AnyValidator { operations: Ok(CREATE_AND_UPDATE.to_vec()), validator: Arc::new(validator) }
    }
}

impl<K, F, R, S> IntoDefaulter<K, form::AsyncStateful<R>, S> for F
where
    K: Send + 'static,
    F: Send + Sync + 'static,
    WithState<F, S>: for<'a> AsyncCall<'a, K, Answer = R>,
    R: IntoDefaulted<K>,
    S: Clone + Send + Sync + 'static,
{
    fn into_defaulter(self, state: &S) -> AnyDefaulter<K> {
        let defaulter = AsyncFunction(WithState { function: self, state: state.clone() });
        AnyDefaulter { operations: Ok(CREATE_AND_UPDATE.to_vec()), defaulter: Arc::new(defaulter) }
    }
}
