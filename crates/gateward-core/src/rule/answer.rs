//! What handlers answer.

use crate::rule::issue::Issues;
use crate::rule::verdict::Verdict;

/// What a validator may answer.
///
/// ```
/// use gateward_core::{IntoVerdict, Verdict, WebhookError};
///
/// assert!(().into_verdict().is_allowed());
/// assert!(!Err::<(), _>(Verdict::deny("no")).into_verdict().is_allowed());
/// // What a look-up couldn't learn is no denial: `failurePolicy` decides.
/// let unknown: Result<Verdict, WebhookError> = Err(WebhookError::Unavailable("the store doesn't answer".into()));
/// assert!(!unknown.into_verdict().is_allowed());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no verdict",
    label = "a validator can't answer this",
    note = "answer `Verdict`, `Issues`, `()` or a `Result` with one of them, whose error becomes a `Verdict`"
)]
pub trait IntoVerdict: Send {
    /// The verdict that it stands for.
    fn into_verdict(self) -> Verdict;
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> Verdict {
        self
    }
}

/// Denies where one of them is an error.
impl IntoVerdict for Issues {
    fn into_verdict(self) -> Verdict {
        self.into()
    }
}

/// Allows.
impl IntoVerdict for () {
    fn into_verdict(self) -> Verdict {
        Verdict::allow()
    }
}

impl<T: IntoVerdict, E: Into<Verdict> + Send> IntoVerdict for Result<T, E> {
    fn into_verdict(self) -> Verdict {
        self.map_or_else(Into::into, IntoVerdict::into_verdict)
    }
}

/// What a defaulter may answer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `{K}` with its defaults",
    label = "a defaulter of `{K}` can't answer this",
    note = "answer `{K}`, `Defaulted<{K}>` or a `Result` with one of them, whose error becomes a `Verdict`"
)]
pub trait IntoDefaulted<K>: Send {
    /// The object with its defaults, or why there is none.
    fn into_defaulted(self) -> Defaulted<K>;
}

impl<K: Send> IntoDefaulted<K> for K {
    fn into_defaulted(self) -> Defaulted<K> {
        Defaulted::new(self)
    }
}

impl<K: Send> IntoDefaulted<K> for Defaulted<K> {
    fn into_defaulted(self) -> Self {
        self
    }
}

impl<K: Send, E: Into<Verdict> + Send> IntoDefaulted<K> for Result<K, E> {
    fn into_defaulted(self) -> Defaulted<K> {
        self.map_or_else(|why| Defaulted::refuse(why.into()), Defaulted::new)
    }
}

impl<K: Send, E: Into<Verdict> + Send> IntoDefaulted<K> for Result<Defaulted<K>, E> {
    fn into_defaulted(self) -> Defaulted<K> {
        self.unwrap_or_else(|why| Defaulted::refuse(why.into()))
    }
}

/// The object with its defaults, or a verdict that denies, and what the user should know beside it.
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
