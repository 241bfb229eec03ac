//! The kind `Otter`, whose field `mood` selects what its handlers do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gateward_core::{
    CREATE, ConversionError, Convert, Endpoint, FieldPath, Issues, Provenance, Request, Rule, Stash, Validator,
    Verdict, Webhook, Webhooks, handler, resource,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

pub const VALIDATE: &str = "/validate-zoo-dev-v1-otter";
pub const MUTATE: &str = "/mutate-zoo-dev-v1-otter";

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

resource!(Otter, "zoo.dev/v1", "Otter", "otters");

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

resource!(OldOtter, "zoo.dev/v1alpha1", "Otter", "otters");

/// What a forgetful otter kept.
const REST: Stash = Stash::new("zoo.dev/rest");

/// Converts otters, except drowned ones; an angry one bites.
struct Streams;

impl Convert<OldOtter, Otter> for Streams {
    fn to_hub(&self, old: &OldOtter, _: &mut Provenance, issues: &mut Issues) -> Result<Otter, ConversionError> {
        assert!(old.spec.mood != "angry", "{} bites", old.spec.mood);
        if old.spec.mood == "forgetful" {
            REST.note_damage(issues);
        }
        if old.spec.mood == "drowned" {
            return Err(ConversionError { path: FieldPath::field("spec") / "mood", message: "too late".into() });
        }
        Ok(Otter { spec: Spec { mood: old.spec.mood.clone(), river: old.spec.stream.clone() } })
    }

    fn from_hub(&self, new: &Otter, _: &mut Issues) -> Result<OldOtter, ConversionError> {
        Ok(OldOtter { spec: OldSpec { mood: new.spec.mood.clone(), stream: new.spec.river.clone() } })
    }
}

const MOOD: Rule = Rule { id: "OTTER-01", summary: "an otter's mood can be printed", ..Rule::on(CREATE) };

/// Blocks the handler of a sleeping otter until a test releases it.
#[derive(Clone, Default)]
pub struct Blocker(Arc<Shared>);

struct Shared {
    released: Semaphore,
    blocked: AtomicUsize,
}

impl Default for Shared {
    fn default() -> Self {
        Self { released: Semaphore::new(0), blocked: AtomicUsize::new(0) }
    }
}

/// A blocked handler, until it is released or dropped.
struct Blocked<'a>(&'a Shared);

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        self.0.blocked.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Blocker {
    /// How many handlers are blocked.
    pub fn blocked(&self) -> usize {
        self.0.blocked.load(Ordering::SeqCst)
    }

    /// Releases so many handlers.
    pub fn release(&self, handlers: usize) {
        self.0.released.add_permits(handlers);
    }

    async fn block(&self) {
        self.0.blocked.fetch_add(1, Ordering::SeqCst);
        let _blocked = Blocked(&self.0);
        if let Ok(permit) = self.0.released.acquire().await {
            permit.forget();
        }
    }
}

struct Rules(Blocker);

#[handler]
impl Validator<Otter> for Rules {
    async fn create(&self, new: &Otter, _: &Request) -> Verdict {
        match new.spec.mood.as_str() {
            "asleep" => self.0.block().await,
            "talkative" => {
                tracing::info!("before a pause");
                tokio::task::yield_now().await;
                tracing::info!("after a pause");
            }
            "angry" => panic!("{} bites", new.spec.mood),
            "unprintable" => return unprintable(&new.spec.mood),
            _ => {}
        }
        Verdict::allow()
    }
}

fn unprintable(mood: &str) -> Verdict {
    let mut issues = Issues::new();
    issues.add(MOOD.invalid(FieldPath::field("spec") / "mood", mood).message("this mood is never printed"));
    issues.into()
}

fn default(mut otter: Otter, _: &Request) -> Otter {
    otter.spec.river.get_or_insert_with(|| "Spey".into());
    otter
}

pub fn webhooks(blocker: &Blocker) -> Webhooks {
    let kind = Webhook::<Otter>::new()
        .spoke::<OldOtter>(Streams)
        .validator(Rules(blocker.clone()))
        .defaulter(default)
        .validating_at(Endpoint::new().path(VALIDATE))
        .mutating_at(Endpoint::new().path(MUTATE));
    Webhooks::new().register(kind)
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
