//! The operator of KubeOps' own tests: an entity with a duration, which stays on the wire as it was written.

use gateward::config::{Config, ConfigError, ConfigSource};
use gateward::prelude::*;
use gateward::{DryRun, Installation, Names, Operator, Release};
use serde::{Deserialize, Deserializer, Serialize};

/// What KubeOps calls `TestEntityWithISODurationTimeSpan`.
#[derive(Serialize, Deserialize)]
pub struct TestEntity {
    #[serde(default)]
    spec: TestEntitySpec,
}

#[derive(Default, Serialize, Deserialize)]
struct TestEntitySpec {
    #[serde(default)]
    value: String,
    #[serde(default)]
    timeout: Iso8601,
}

resource!(TestEntity, "test.kubeops.dev/v1", "TestEntity", "testentitys");

/// A duration in hours, minutes and seconds, such as `PT1H30M`.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Iso8601(String);

impl Default for Iso8601 {
    fn default() -> Self {
        Self("PT0S".into())
    }
}

impl<'de> Deserialize<'de> for Iso8601 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if is_duration(&text) { Ok(Self(text)) } else { Err(serde::de::Error::custom("it is no ISO-8601 duration")) }
    }
}

/// Numbers, each before its unit, the units in their order.
fn is_duration(text: &str) -> bool {
    let Some(mut rest) = text.strip_prefix("PT").filter(|rest| !rest.is_empty()) else { return false };
    for unit in ['H', 'M', 'S'] {
        if let Some((number, behind)) = rest.split_once(unit)
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            rest = behind;
        }
    }
    rest.is_empty()
}

struct Validating;

#[handler]
impl Validator<TestEntity> for Validating {
    async fn create(&self, _: &TestEntity, request: &Request) -> Verdict {
        noted(request)
    }

    async fn update(&self, old: &TestEntity, new: &TestEntity, request: &Request) -> Verdict {
        if request.dry_run == DryRun::No && old.spec.value != new.spec.value {
            return Verdict::deny("value changed");
        }
        noted(request)
    }

    async fn delete(&self, _: &TestEntity, _: &Request) -> Verdict {
        Verdict::allow().warning("delete-validated")
    }
}

fn noted(request: &Request) -> Verdict {
    match request.dry_run {
        DryRun::Yes => Verdict::allow().warning("dry-run"),
        DryRun::No => Verdict::allow(),
    }
}

struct Mutating;

#[handler]
impl Defaulter<TestEntity> for Mutating {
    async fn create(&self, mut new: TestEntity, request: &Request) -> Defaulted<TestEntity> {
        if request.dry_run == DryRun::Yes {
            return Defaulted::new(new).warning("dry-run");
        }
        new.spec = TestEntitySpec { value: "mutated".into(), timeout: Iso8601("PT1H".into()) };
        Defaulted::new(new)
    }

    async fn update(&self, old: &TestEntity, mut new: TestEntity, _: &Request) -> TestEntity {
        new.spec.value = format!("updated-from-{}", old.spec.value);
        new
    }
}

/// The class of KubeOps is called otherwise than version and kind, so the paths are said.
pub fn webhooks() -> Webhooks {
    let kind = Webhook::<TestEntity>::new()
        .validator(Validating)
        .validating_at(Endpoint::new().path("/validate/testentitywithisodurationtimespan"))
        .defaulter(Mutating)
        .mutating_at(Endpoint::new().path("/mutate/testentitywithisodurationtimespan"));
    Webhooks::with_paths(PathStyle::KubeOps).register(kind)
}

/// An operator whose objects are called as KubeOps calls them: `operator`, `validators`, `mutators`.
pub struct KubeOpsNames {
    pub webhooks: Webhooks,
}

impl Operator for KubeOpsNames {
    fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    fn names(&self) -> Names {
        Names::new("testapp", "1.0.0")
    }

    fn installation(&self, release: &Release) -> Installation {
        Installation {
            validating_name: "validators".into(),
            mutating_name: "mutators".into(),
            service: "operator".into(),
            ..Installation::of_release(&release.name, &release.namespace)
        }
    }

    fn config(&self, given: &ConfigSource) -> Result<Config, ConfigError> {
        let mut config = Config::of_release(&given.pod_environment.release(), self.names().command)?;
        config.names.service = "operator".into();
        Ok(config)
    }
}
