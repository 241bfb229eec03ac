//! The kind that is judged. An otter's mood says what its judge does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gateward_core::{
    CREATE, ConversionError, Convert, Defaulted, Defaulter, Endpoint, FieldPath, Issues, Kind, Provenance, Registry,
    Request, Resource, Rule, Scope, Stash, Validator, Verdict,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::{MUTATE, VALIDATE};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Otter {
    spec: Spec,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Spec {
    mood: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    river: Option<String>,
}

impl Resource for Otter {
    const GROUP: &'static str = "zoo.dev";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

/// The older version: a river was a stream then.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OldOtter {
    spec: OldSpec,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct OldSpec {
    mood: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stream: Option<String>,
}

impl Resource for OldOtter {
    const GROUP: &'static str = "zoo.dev";
    const VERSION: &'static str = "v1alpha1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

/// What a forgetful otter kept.
const REST: Stash = Stash::new("zoo.dev/rest");

/// Converts otters, except drowned ones; an angry one bites.
struct Streams;

impl Convert<OldOtter, Otter> for Streams {
    fn lift(&self, old: &OldOtter, _: &mut Provenance, issues: &mut Issues) -> Result<Otter, ConversionError> {
        assert!(old.spec.mood != "angry", "{} bites", old.spec.mood);
        if old.spec.mood == "forgetful" {
            REST.note_damage(issues);
        }
        if old.spec.mood == "drowned" {
            return Err(ConversionError { path: FieldPath::field("spec") / "mood", message: "too late".into() });
        }
        Ok(Otter { spec: Spec { mood: old.spec.mood.clone(), river: old.spec.stream.clone() } })
    }

    fn lower(&self, new: &Otter, _: &mut Issues) -> Result<OldOtter, ConversionError> {
        Ok(OldOtter { spec: OldSpec { mood: new.spec.mood.clone(), stream: new.spec.river.clone() } })
    }
}

const MOOD: Rule = Rule { id: "OTTER-01", summary: "an otter's mood can be printed", ..Rule::on(CREATE) };

/// Where sleeping otters lie until they are woken.
#[derive(Clone, Default)]
pub struct Lodge(Arc<Beds>);

struct Beds {
    wake: Semaphore,
    asleep: AtomicUsize,
}

impl Default for Beds {
    fn default() -> Self {
        Self { wake: Semaphore::new(0), asleep: AtomicUsize::new(0) }
    }
}

/// An otter in its bed; it leaves when woken, and also when its judge is dropped.
struct Bed<'a>(&'a Beds);

impl Drop for Bed<'_> {
    fn drop(&mut self) {
        self.0.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Lodge {
    /// How many judges wait for an otter to wake.
    pub fn asleep(&self) -> usize {
        self.0.asleep.load(Ordering::SeqCst)
    }

    /// Lets so many judges go on.
    pub fn wake(&self, otters: usize) {
        self.0.wake.add_permits(otters);
    }

    async fn sleep(&self) {
        self.0.asleep.fetch_add(1, Ordering::SeqCst);
        let _bed = Bed(&self.0);
        if let Ok(permit) = self.0.wake.acquire().await {
            permit.forget();
        }
    }
}

struct Rules(Lodge);

impl Validator<Otter> for Rules {
    async fn create(&self, new: &Otter, _: &Request) -> Verdict {
        match new.spec.mood.as_str() {
            "asleep" => self.0.sleep().await,
            "angry" => panic!("{} bites", new.spec.mood),
            "unprintable" => return unprintable(&new.spec.mood),
            _ => {}
        }
        Verdict::allow()
    }
}

fn unprintable(mood: &str) -> Verdict {
    let mut issues = Issues::new();
    issues.add(MOOD.invalid(FieldPath::field("spec") / "mood", mood).message("nobody says that"));
    issues.into()
}

struct Defaults;

impl Defaulter<Otter> for Defaults {
    async fn default(&self, mut otter: Otter, _: &Request) -> Defaulted<Otter> {
        otter.spec.river.get_or_insert_with(|| "Spey".into());
        otter.into()
    }
}

pub fn registry(lodge: &Lodge) -> Registry {
    let kind = Kind::<Otter>::new()
        .spoke::<OldOtter>(Streams)
        .validate(Rules(lodge.clone()))
        .default(Defaults)
        .validating_at(Endpoint::new().path(VALIDATE))
        .mutating_at(Endpoint::new().path(MUTATE));
    Registry::new().kind(kind)
}

/// A review of an otter in some mood.
pub fn review(mood: &str) -> Vec<u8> {
    review_of(&format!(r#"{{"mood":"{mood}"}}"#))
}

/// A review of an otter with some spec, which need not be JSON.
pub fn review_of(spec: &str) -> Vec<u8> {
    format!(
        concat!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"705ab4f5","#,
            r#""kind":{{"group":"zoo.dev","version":"v1","kind":"Otter"}},"#,
            r#""resource":{{"group":"zoo.dev","version":"v1","resource":"otters"}},"#,
            r#""name":"ottilie","namespace":"river","operation":"CREATE","userInfo":{{"username":"keeper"}},"#,
            r#""object":{{"apiVersion":"zoo.dev/v1","kind":"Otter","metadata":{{"name":"ottilie"}},"spec":{}}}}}}}"#,
        ),
        spec
    )
    .into_bytes()
}

/// A review of so many old otters in some mood, to become new ones.
pub fn conversion(mood: &str, otters: usize) -> Vec<u8> {
    let otter = format!(
        r#"{{"apiVersion":"zoo.dev/v1alpha1","kind":"Otter","metadata":{{"name":"ottilie"}},"spec":{{"mood":"{mood}","stream":"Spey"}}}}"#
    );
    let objects = vec![otter; otters].join(",");
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"705ab4f5","desiredAPIVersion":"zoo.dev/v1","objects":[{objects}]}}}}"#
    )
    .into_bytes()
}
