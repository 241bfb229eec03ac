//! The same words for handlers that wait for something, in tests that run in a runtime.
//!
//! ```
//! # use gateward_core::{Request, Verdict, resource};
//! # #[derive(serde::Serialize, serde::Deserialize)]
//! # struct Otter { name: String }
//! # resource!(Otter, "example.org/v1", "Otter", "otters");
//! use gateward_core::testing::asynchronous::{accepted, rejected};
//!
//! async fn rules(otter: &Otter, _: &Request) -> Verdict {
//!     # let sleep = std::future::ready;
//!     sleep(()).await; // that of tokio, say
//!     if otter.name.is_empty() { Verdict::deny("an otter has a name") } else { Verdict::allow() }
//! }
//!
//! # async fn test() {
//! rejected(rules, &Otter { name: String::new() }).await;
//! accepted(rules, &Otter { name: "Otto".into() }).await;
//! # }
//! # gateward_core::testing::block_on(test());
//! ```

use std::panic::Location;

use super::created::created;
use super::findings::Findings;
use crate::rule::into_handler::IntoValidator;
use crate::rule::resource::Resource;

/// Creates `object` before `validator` and demands a denial.
#[track_caller]
pub fn rejected<K: Resource, M>(
    validator: impl IntoValidator<K, M>,
    object: &K,
) -> impl Future<Output = Findings> + Send {
    demanded(created(validator, object), Findings::is_denied, Location::caller())
}

/// Creates `object` before `validator` and demands that it passes.
#[track_caller]
pub fn accepted<K: Resource, M>(
    validator: impl IntoValidator<K, M>,
    object: &K,
) -> impl Future<Output = Findings> + Send {
    demanded(created(validator, object), Findings::is_allowed, Location::caller())
}

/// The findings, if they are as demanded. A future has no caller, so that the place of the call is said.
#[allow(clippy::panic, reason = "an assertion of tests")]
async fn demanded(
    findings: impl Future<Output = Findings> + Send,
    demand: fn(&Findings) -> Result<(), String>,
    place: &'static Location<'static>,
) -> Findings {
    let findings = findings.await;
    if let Err(why) = demand(&findings) {
        panic!("{place}: {why}");
    }
    findings
}
