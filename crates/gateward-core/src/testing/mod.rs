//! The vocabulary of rule tests.
//!
//! ```
//! use gateward_core::testing::{accepted, rejected};
//! use gateward_core::{CREATE, FieldPath, Issues, Request, Rule, Verdict, resource};
//!
//! # #[derive(serde::Serialize, serde::Deserialize)]
//! # struct Otter { name: String }
//! # resource!(Otter, "example.org/v1", "Otter", "otters");
//! const NAMED: Rule = Rule { id: "OTTER-01", ..Rule::on(CREATE) };
//!
//! fn rules(otter: &Otter, _: &Request) -> Verdict {
//!     let mut issues = Issues::new();
//!     if otter.name.is_empty() {
//!         issues.add(NAMED.required(FieldPath::field("name")).message("an otter has a name"));
//!     }
//!     issues.into()
//! }
//!
//! rejected(rules, &Otter { name: String::new() }).by(&NAMED).at("name").saying("has a name");
//! accepted(rules, &Otter { name: "Otto".into() });
//! ```

#![allow(clippy::missing_panics_doc, reason = "assertions panic; that is what they are for")]

pub mod asynchronous;
mod block_on;
mod created;
mod findings;
mod request;
mod selector;
mod stored;

pub use self::block_on::block_on;
pub use self::findings::{Claim, Findings};
pub use self::request::{AsyncTestRequest, TestRequest};
pub use self::stored::Stored;
use crate::rule::into_handler::IntoValidator;
use crate::rule::resource::Resource;

/// Creates `object` before `validator` and demands a denial.
#[track_caller]
pub fn rejected<K: Resource, M>(validator: impl IntoValidator<K, M>, object: &K) -> Findings {
    let findings = block_on(created::created(validator, object));
    findings.assert_denied();
    findings
}

/// Creates `object` before `validator` and demands that it passes.
#[track_caller]
pub fn accepted<K: Resource, M>(validator: impl IntoValidator<K, M>, object: &K) -> Findings {
    let findings = block_on(created::created(validator, object));
    findings.assert_allowed();
    findings
}
