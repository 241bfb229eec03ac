//! Whether what is declared of the subresource `scale` goes with the CRDs.

use gateward_core::{Declaration, Operation, Review, Webhooks, WebhooksError};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};

use crate::crds;
use crate::operator::Operator;

/// A CRD, as far as scaling goes. Its schemas are most of it: `S` is [`IgnoredAny`] where they aren't needed.
#[derive(Deserialize)]
struct ScalableCrd<S> {
    spec: ScalableSpec<S>,
}

#[derive(Deserialize)]
struct ScalableSpec<S> {
    #[serde(default)]
    group: String,
    names: ScalableNames,
    #[serde(default = "Vec::new")]
    versions: Vec<ScalableVersion<S>>,
}

#[derive(Deserialize)]
struct ScalableNames {
    kind: String,
}

#[derive(Deserialize)]
struct ScalableVersion<S> {
    name: String,
    #[serde(default)]
    served: bool,
    #[serde(default)]
    subresources: Value,
    schema: Option<S>,
}

impl<S> ScalableVersion<S> {
    /// Where the API server writes the number of replicas.
    fn replicas_path(&self) -> Option<&str> {
        self.subresources.pointer("/scale/specReplicasPath").and_then(Value::as_str)
    }
}

/// What becomes of each kind's scale is said where its CRD has one, and `.scale` writes what the API server does.
pub(crate) fn check(operator: &impl Operator) -> Result<(), WebhooksError> {
    let mut of_kinds = operator
        .webhooks()
        .declarations()
        .filter(|declared| declared.entry.is_none() && declared.subresource.is_none());
    of_kinds.find_map(|declared| problem(operator, declared)).map_or(Ok(()), Err)
}

fn problem(operator: &impl Operator, declared: &Declaration) -> Option<WebhooksError> {
    let webhooks = operator.webhooks();
    let is_silent = declared.leaves_scale_open() && judges_updates(webhooks, declared);
    if !is_silent && !declared.judges_scale() {
        return None;
    }
    let kind = declared.hub.to_string();
    let mut versions = versions_of::<IgnoredAny>(operator, declared);
    versions.retain(|version| version.served);
    let is_hub = |version: &&ScalableVersion<_>| version.name == declared.hub.version;
    let of_hub = versions.iter().find(is_hub).and_then(ScalableVersion::replicas_path);
    if is_silent {
        // What is scaled in one version is the object of all.
        let path = of_hub.or_else(|| versions.iter().find_map(ScalableVersion::replicas_path))?;
        let judged = webhooks.declarations().filter_map(|other| other.subresource.as_ref());
        let is_judged = judged.filter(|part| part.name == "scale").any(|part| part.of.same_kind(&declared.hub));
        return (!is_judged).then(|| WebhooksError::SilentScale { kind, path: path.into() });
    }
    let Some(path) = of_hub else {
        let is_scaled = versions.is_empty() || versions.iter().any(|version| version.replicas_path().is_some());
        return (!is_scaled).then_some(WebhooksError::ScaleOfNothing { kind });
    };
    let mut schemas = versions_of::<Value>(operator, declared).into_iter();
    let schema = schemas.find(|version| version.name == declared.hub.version)?.schema?;
    let is_elsewhere = writes(webhooks, declared, &schema, path) == Some(false);
    is_elsewhere.then(|| WebhooksError::ScaleElsewhere { kind, path: path.into() })
}

fn judges_updates(webhooks: &Webhooks, declared: &Declaration) -> bool {
    let is_entry = |other: &&Declaration| other.subresource.is_none() && other.hub.same_kind(&declared.hub);
    let mut entries = webhooks.declarations().filter(is_entry);
    entries.any(|entry| entry.operations(Review::Validate).contains(&Operation::Update))
}

/// The versions of a kind, by the CRD that is given with it or by one of the operator's; none where it has none.
fn versions_of<S: DeserializeOwned>(operator: &impl Operator, declared: &Declaration) -> Vec<ScalableVersion<S>> {
    let crds = declared.crd.clone().map_or_else(|| operator.crds(), |crd| vec![crd]);
    let crds = crds.iter().flat_map(|crd| crds::read::<ScalableCrd<S>>(crd).unwrap_or_default());
    let is_of_kind = |spec: &ScalableSpec<S>| spec.group == declared.hub.group && spec.names.kind == declared.hub.kind;
    crds.map(|crd| crd.spec).find(is_of_kind).map(|spec| spec.versions).unwrap_or_default()
}

/// Whether `.scale` writes the number at `path`; `None` where no object is known that its type reads.
fn writes(webhooks: &Webhooks, declared: &Declaration, schema: &Value, path: &str) -> Option<bool> {
    let names: Vec<&str> = path.split('.').filter(|name| !name.is_empty()).collect();
    let mut object = Some(least(&schema["openAPIV3Schema"], &names)).filter(Value::is_object)?;
    object["apiVersion"] = declared.hub.api_version().into();
    object["kind"] = declared.hub.kind.clone().into();
    object["metadata"] = json!({"name": "sample"});
    let pointer = format!("/{}", names.join("/"));
    let written = |replicas: i32| {
        let scaled = webhooks.scaled(&declared.hub, &object, replicas)?;
        Some(scaled.pointer(&pointer).and_then(Value::as_i64) == Some(replicas.into()))
    };
    // One of the two may stand there by default.
    Some(written(1)? && written(2)?)
}

/// The least that a schema admits as far as its types go, with the member at `path`.
fn least(schema: &Value, path: &[&str]) -> Value {
    let given = [&schema["default"], &schema["enum"][0], &schema["minimum"]].into_iter().find(|value| !value.is_null());
    match (schema["type"].as_str(), given) {
        (Some("object"), _) => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let member = |name: &str| {
                let rest = path.split_first().filter(|(first, _)| **first == name).map_or(&[][..], |(_, rest)| rest);
                (name.to_owned(), least(&schema["properties"][name], rest))
            };
            Value::Object(required.chain(path.first().copied()).map(member).collect())
        }
        (_, Some(given)) => given.clone(),
        (Some("array"), None) => json!([]),
        (Some("boolean"), None) => json!(false),
        (Some("integer" | "number"), None) => json!(0),
        _ => json!(""),
    }
}

#[cfg(test)]
mod tests {
    use gateward_core::{Crd, Request, Verdict, Webhook, resource};

    use super::*;

    #[derive(serde::Serialize, Deserialize)]
    struct OtterSpec {
        river: String,
        fish: i32,
        cubs: Option<i32>,
    }

    #[derive(serde::Serialize, Deserialize)]
    struct Otter {
        spec: OtterSpec,
    }

    resource!(Otter, "example.org/v1", "Otter", "otters");

    #[derive(serde::Serialize, Deserialize)]
    struct Scale {}

    resource!(Scale, "autoscaling/v1", "Scale", "scales");

    const CRD: &str = "
spec:
  group: example.org
  names: {kind: Otter}
  versions:
  - name: v1
    served: true
    subresources: {scale: {specReplicasPath: .spec.cubs}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [river, fish]
            properties:
              river: {type: string, enum: [wye, usk]}
              fish: {type: integer, minimum: 1}
              cubs: {type: integer, default: 1}
";

    fn otters() -> Webhook<Otter> {
        Webhook::new().validator(|_: &Otter, _: &Request| Verdict::allow()).crd(CRD)
    }

    fn found(kind: Webhook<Otter>) -> Result<(), WebhooksError> {
        check(&Webhooks::new().register(kind))
    }

    fn otter() -> String {
        "example.org/v1 Otter".into()
    }

    #[test]
    fn a_scale_that_nothing_is_said_of_is_an_error_with_the_ways_out() {
        let error = found(otters()).unwrap_err();
        assert_eq!(error, WebhooksError::SilentScale { kind: otter(), path: ".spec.cubs".into() });
        for way in [".scale(|object, replicas| …)`, which writes .spec.cubs", "`.subresource_of`", "`.scale_passes()`"]
        {
            assert!(error.to_string().contains(way), "{error}");
        }
        assert_eq!(found(otters().scale(|otter, replicas| otter.spec.cubs = Some(replicas))), Ok(()));
        assert_eq!(found(otters().scale_passes()), Ok(()));
        let of_scales = Webhook::<Scale>::new().subresource_of::<Otter>("scale").validator(|_: &Scale, _: &Request| ());
        assert_eq!(check(&Webhooks::new().register(of_scales).register(otters())), Ok(()));
    }

    #[test]
    fn a_kind_whose_updates_nobody_judges_need_not_say_anything() {
        assert_eq!(found(otters().on([Operation::Create])), Ok(()));
        assert_eq!(found(Webhook::new().defaulter(|new: Otter, _: &Request| new).crd(CRD)), Ok(()));
        let judged_by_an_entry =
            Webhook::new().crd(CRD).entry("rules", Webhook::new().validator(|_: &Otter, _: &Request| ()));
        assert!(matches!(found(judged_by_an_entry), Err(WebhooksError::SilentScale { .. })));
    }

    #[test]
    fn a_scale_that_writes_elsewhere_than_the_api_server_is_an_error() {
        let elsewhere = WebhooksError::ScaleElsewhere { kind: otter(), path: ".spec.cubs".into() };
        assert_eq!(found(otters().scale(|otter, replicas| otter.spec.fish = replicas)), Err(elsewhere.clone()));
        // It stands there by default, which is not to be taken for written.
        assert_eq!(found(otters().scale(|_, _| ())), Err(elsewhere));
    }

    #[test]
    fn nothing_is_said_of_a_scale_where_the_crd_has_no_schema() {
        let (without_schema, _) = CRD.split_once("    schema:").unwrap();
        for schema in ["", "    schema: {}\n"] {
            let otters = otters().crd(format!("{without_schema}{schema}"));
            assert_eq!(found(otters.scale(|_, _| ())), Ok(()));
        }
    }

    /// An operator whose CRDs aren't given with its kinds.
    struct Zoo(Webhooks);

    impl Operator for Zoo {
        fn webhooks(&self) -> &Webhooks {
            &self.0
        }

        fn crds(&self) -> Vec<Crd> {
            let of_another = CRD.replace("Otter", "Beaver").replace(".spec.cubs", ".spec.kits");
            vec![of_another.into(), CRD.into()]
        }
    }

    #[test]
    fn a_crd_that_the_operator_gives_apart_counts_too() {
        let otters = || Webhook::new().validator(|_: &Otter, _: &Request| Verdict::allow());
        let found = |kind| check(&Zoo(Webhooks::new().register(kind)));
        let path = || ".spec.cubs".into();
        assert_eq!(found(otters()), Err(WebhooksError::SilentScale { kind: otter(), path: path() }));
        assert_eq!(found(otters().scale(|otter, replicas| otter.spec.cubs = Some(replicas))), Ok(()));
        let elsewhere = otters().scale(|otter, replicas| otter.spec.fish = replicas);
        assert_eq!(found(elsewhere), Err(WebhooksError::ScaleElsewhere { kind: otter(), path: path() }));
    }

    #[test]
    fn a_scale_of_another_version_is_one_of_the_same_object() {
        let old = "  - {name: v1, served: true, schema: {}}\n  - name: v0\n";
        let crd = CRD.replace("  - name: v1\n", old);
        let otters = || otters().crd(crd.clone());
        assert_eq!(found(otters()), Err(WebhooksError::SilentScale { kind: otter(), path: ".spec.cubs".into() }));
        assert_eq!(found(otters().scale(|otter, replicas| otter.spec.cubs = Some(replicas))), Ok(()));
    }

    #[test]
    fn a_scale_of_what_can_not_be_scaled_is_an_error() {
        let crd = CRD.replace("subresources: {scale: {specReplicasPath: .spec.cubs}}", "subresources: {status: {}}");
        let otters = || otters().crd(crd.clone());
        assert_eq!(found(otters()), Ok(()));
        let scaled = otters().scale(|otter, replicas| otter.spec.cubs = Some(replicas));
        assert_eq!(found(scaled), Err(WebhooksError::ScaleOfNothing { kind: otter() }));
    }
}
