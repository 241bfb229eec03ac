//! What is demanded of an object, and what is filled in where its user left it out.

use gateward::prelude::*;

use crate::v1::__kind__ as V1;
use crate::v2::{__kind__ as V2, __kind__Spec as V2Spec};

/// The text.
pub const TEXT: Rule = Rule {
    id: "__RULE__-01",
    summary: "a text has 1 to 100 characters",
    help: "write what is to be said, such as \"Good morning\"",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The replicas.
pub const REPLICAS: Rule = Rule {
    id: "__RULE__-02",
    summary: "a text is said at most ten times",
    help: "write a number from 0 to 10",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The language.
pub const LANGUAGE_STAYS: Rule = Rule {
    id: "__RULE__-03",
    summary: "a text keeps its language",
    help: "delete the object and create it anew",
    ..Rule::on(UPDATE)
};

/// The most replicas.
pub const MOST_REPLICAS: i32 = 10;

/// All of them.
pub const ALL: [&Rule; 3] = [&TEXT, &REPLICAS, &LANGUAGE_STAYS];

/// The rules on objects of both versions: those of v1 are converted first.
pub struct Rules;

#[handler]
impl Validator<V2> for Rules {
    async fn create(&self, new: &V2, _: &Request) -> Issues {
        found_in(&new.spec)
    }

    async fn update(&self, old: &V2, new: &V2, _: &Request) -> Issues {
        let mut issues = found_in(&new.spec);
        if old.spec.language != new.spec.language {
            let language = new.spec.language.as_deref();
            issues.add(LANGUAGE_STAYS.invalid(spec() / "language", language).message("never changes"));
        }
        issues
    }
}

fn spec() -> FieldPath {
    FieldPath::field("spec")
}

fn found_in(written: &V2Spec) -> Issues {
    let mut issues = Issues::new();
    if !(1..=100).contains(&written.text.chars().count()) {
        issues.add(TEXT.invalid(spec() / "text", written.text.as_str()).message("must have 1 to 100 characters"));
    }
    if written.replicas.is_some_and(|replicas| !(0..=MOST_REPLICAS).contains(&replicas)) {
        issues.add(REPLICAS.invalid(spec() / "replicas", written.replicas).message("must be from 0 to 10"));
    }
    issues
}

/// One replica, unless the user says another number.
pub fn one_replica(mut new: V2, _: &Request) -> V2 {
    new.spec.replicas.get_or_insert(1);
    new
}

/// The same in v1, as its user writes it.
pub fn one_replica_in_v1(mut new: V1, _: &Request) -> V1 {
    new.spec.size.get_or_insert(1);
    new
}
