//! That an object comes back from another version as it was.

#![allow(clippy::missing_panics_doc, clippy::panic, reason = "assertions panic; that is what they are for")]

use gateward_core::Webhooks;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use serde_json::Value;

use super::meaning::{JsonDifference, differences};
use super::objects::{CrdDocument, Objects};

/// The round trips of a kind: of every version through every other, on arbitrary objects that the CRD admits.
///
/// ```no_run
/// # use gateward::prelude::*;
/// # fn webhooks() -> Webhooks { Webhooks::new() }
/// # const CRD: &str = "";
/// gateward::testing::round_trips(&webhooks(), CRD).cases(10_000).hold();
/// ```
#[track_caller]
pub fn round_trips<'r>(webhooks: &'r Webhooks, crd: &str) -> RoundTrips<'r> {
    let crd = CrdDocument::read(crd);
    let versions = crd.versions();
    let others = |from: &String| versions.iter().filter(move |through| *through != from).cloned().collect::<Vec<_>>();
    let ways = versions.iter().flat_map(|from| others(from).into_iter().map(move |through| (from.clone(), through)));
    RoundTrips {
        webhooks,
        ways: ways.collect(),
        crd,
        cases: None,
        drawn: Box::new(|objects| objects),
        meant: Box::new(|_, _| ()),
        strangers: Strangers::None,
    }
}

/// Whether objects hold what no type knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strangers {
    None,
    Some,
}

type Drawing<'r> = dyn Fn(Objects) -> Objects + 'r;
type Meaning<'r> = dyn Fn(&str, &mut Value) + 'r;

/// Round trips to be tested; made by [`round_trips`].
pub struct RoundTrips<'r> {
    webhooks: &'r Webhooks,
    crd: CrdDocument,
    ways: Vec<(String, String)>,
    cases: Option<u32>,
    drawn: Box<Drawing<'r>>,
    meant: Box<Meaning<'r>>,
    strangers: Strangers,
}

impl<'r> RoundTrips<'r> {
    /// Only of version `from` through version `through`.
    pub fn only(mut self, from: &str, through: &str) -> Self {
        self.ways.retain(|way| way == &(from.to_owned(), through.to_owned()));
        assert!(!self.ways.is_empty(), "the CRD doesn't have the versions {from} and {through}");
        self
    }

    /// On so many objects each way; `PROPTEST_CASES` overrides it.
    pub fn cases(mut self, cases: u32) -> Self {
        self.cases = Some(cases);
        self
    }

    /// On objects with a vocabulary of their own.
    pub fn drawing(mut self, drawn: impl Fn(Objects) -> Objects + 'r) -> Self {
        self.drawn = Box::new(drawn);
        self
    }

    /// Both objects are rewritten so before they are compared. This is the place for what is known to change.
    pub fn meaning(mut self, meant: impl Fn(&str, &mut Value) + 'r) -> Self {
        self.meant = Box::new(meant);
        self
    }

    /// Objects hold members that the types don't know, at every level, some with names that the other version knows.
    /// All of them must come back, and none may count as a field of the other version.
    pub fn with_unknown_fields(mut self) -> Self {
        self.strangers = Strangers::Some;
        self
    }

    /// Demands that every object comes back as it was. Annotations that it didn't have are the conversion's own.
    #[track_caller]
    pub fn hold(&self) {
        for (from, through) in &self.ways {
            self.way(from, through);
        }
    }

    #[track_caller]
    fn way(&self, from: &str, through: &str) {
        let objects = self.objects(from, through);
        let other = (self.drawn)(self.crd.objects(through)).ready();
        let test = |object: Value| {
            let there = self.comes_back(&object, from, through)?;
            if self.strangers == Strangers::Some {
                self.strangers_stay_strangers(&object, &there, &objects, &other)
            } else {
                Ok(())
            }
        };
        if let Err(error) = TestRunner::new(self.config()).run(&objects, test) {
            panic!("{from} through {through}: {error}");
        }
    }

    fn objects(&self, from: &str, through: &str) -> Objects {
        let objects = (self.drawn)(self.crd.objects(from)).ready();
        match self.strangers {
            Strangers::None => objects,
            Strangers::Some => {
                let own = self.crd.names(from);
                objects.with_unknown_fields(self.crd.names(through).into_iter().filter(|name| !own.contains(name)))
            }
        }
    }

    fn config(&self) -> Config {
        let asked = std::env::var_os("PROPTEST_CASES").is_some();
        let cases = self.cases.filter(|_| !asked).unwrap_or_else(|| Config::default().cases);
        let rng_seed = match Config::default().rng_seed {
            // The same objects every time, so that a failure is found again.
            RngSeed::Random => RngSeed::Fixed(7),
            seed @ RngSeed::Fixed(_) => seed,
        };
        Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 4096, ..Config::default() }
    }

    /// Converts there and back, and returns what was there.
    fn comes_back(&self, object: &Value, from: &str, through: &str) -> Result<Value, TestCaseError> {
        let there = self.convert(object, through)?;
        let mut back = self.convert(&there, from)?;
        let mut object = object.clone();
        (self.meant)(from, &mut object);
        (self.meant)(from, &mut back);
        without_new_annotations(&mut back, &object);
        let lost = differences(&object, &back);
        let listed: String = lost.iter().map(|difference| format!("  {difference}\n")).collect();
        if lost.is_empty() {
            Ok(there)
        } else {
            Err(TestCaseError::fail(format!("not as it was:\n{listed}  by {there}")))
        }
    }

    fn convert(&self, object: &Value, version: &str) -> Result<Value, TestCaseError> {
        let version = format!("{}/{version}", self.crd.group());
        let fail = |error: &dyn std::fmt::Display| TestCaseError::fail(format!("to {version}: {error} of {object}"));
        let converted = self.webhooks.convert(&object.to_string(), &version).map_err(|error| fail(&error))?;
        serde_json::from_str(&converted.json).map_err(|error| fail(&error))
    }

    /// What the other version knows of the object is the same without the strangers.
    fn strangers_stay_strangers(
        &self,
        object: &Value,
        there: &Value,
        own: &Objects,
        other: &Objects,
    ) -> Result<(), TestCaseError> {
        let mut known = object.clone();
        own.prune(&mut known);
        let version = there["apiVersion"].as_str().unwrap_or_default();
        let mut expected = self.convert(&known, version.rsplit('/').next().unwrap_or_default())?;
        let mut found = there.clone();
        for document in [&mut expected, &mut found] {
            other.prune(document);
            document["metadata"] = Value::Null;
        }
        // An object may have come into being to hold a stranger, and a list to hold the object. What stands nowhere
        // went along with a stranger; that nothing is lost has been seen.
        let came_alive = |difference: &JsonDifference| match &difference.found {
            None => false,
            Some(Value::Object(_) | Value::Array(_)) => difference.expected.is_some(),
            Some(_) => true,
        };
        let found: Vec<JsonDifference> = differences(&expected, &found).into_iter().filter(came_alive).collect();
        let listed: String = found.iter().map(|difference| format!("  {difference}\n")).collect();
        if found.is_empty() {
            Ok(())
        } else {
            Err(TestCaseError::fail(format!("unknown fields became known:\n{listed}")))
        }
    }
}

fn without_new_annotations(back: &mut Value, object: &Value) {
    let Some(metadata) = back.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.retain(|name, _| object["metadata"]["annotations"].get(name).is_some());
        if annotations.is_empty() && object["metadata"].get("annotations").is_none() {
            metadata.remove("annotations");
        }
    }
    if metadata.is_empty() && object.get("metadata").is_none() {
        back.as_object_mut().and_then(|members| members.remove("metadata"));
    }
}
