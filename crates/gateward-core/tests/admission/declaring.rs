//! What follows from a declaration: paths, manifests, the catalogue; and which declarations are refused.

use std::collections::BTreeMap;

use gateward_core::manifest::{FailurePolicy, Installation, webhook_configuration, yaml};
use gateward_core::{
    CREATE, ConversionError, Convert, Defaulted, Defaulter, Endpoint, Issues, Kind, Operation, Provenance, Registry,
    RegistryError, Request, Resource, Review, Rule, Scope, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::zoo::{MUTATE, OldOtter, Otter, OtterConversion, OtterSpec, VALIDATE, ask, created, otter};

fn rules(_: &Otter, _: &Request) -> Verdict {
    Verdict::deny("no otters here")
}

struct Nothing;

impl<K: Send + 'static> Defaulter<K> for Nothing {
    async fn default(&self, object: K, _: &Request) -> Defaulted<K> {
        object.into()
    }
}

fn otters() -> Kind<Otter> {
    Kind::new().validate(rules)
}

/// A keeper lives nowhere in particular.
#[derive(Serialize, Deserialize)]
struct Keeper {}

impl Resource for Keeper {
    const GROUP: &'static str = "";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "Keeper";
    const PLURAL: &'static str = "keepers";
    const SCOPE: Scope = Scope::Cluster;
}

#[test]
fn paths_follow_from_group_version_and_kind() {
    let registry = Registry::new().kind(otters().default(Nothing)).kind(Kind::<Keeper>::new().default(Nothing));
    let paths: Vec<(&str, Review)> = registry.paths().collect();
    let keepers = "/mutate--v1-keeper";
    assert_eq!(paths, [(keepers, Review::Mutate), (MUTATE, Review::Mutate), (VALIDATE, Review::Validate)]);
}

#[test]
fn an_alias_is_served_but_not_registered() {
    let endpoint = Endpoint::new().path("/otters").alias("/old/otters");
    let registry = Registry::new().kind(otters().validating_at(endpoint));
    for path in ["/otters", "/old/otters"] {
        assert!(!ask(&registry, path, &created(otter(json!({})))).is_allowed());
    }
    assert_eq!(registry.route(VALIDATE), None);
    assert_eq!(registry.path_of(Review::Validate, &Otter::gvk()).as_deref(), Some("/otters"));
}

fn refused(registry: &Registry) -> RegistryError {
    registry.check().unwrap_err()
}

#[test]
fn two_webhooks_can_not_share_a_path() {
    let keepers = Kind::<Keeper>::new().default(Nothing).mutating_at(Endpoint::new().path(VALIDATE));
    let taken = RegistryError::PathTaken { path: VALIDATE.into(), first: "Otter".into(), second: "Keeper".into() };
    assert_eq!(refused(&Registry::new().kind(otters()).kind(keepers)), taken);
    let own = otters().validating_at(Endpoint::new().path("/otters").alias("/otters"));
    let taken = RegistryError::PathTaken { path: "/otters".into(), first: "Otter".into(), second: "Otter".into() };
    assert_eq!(refused(&Registry::new().kind(own)), taken);
}

#[test]
fn a_path_begins_with_a_slash() {
    let registry = Registry::new().kind(otters().validating_at(Endpoint::new().path("otters")));
    assert_eq!(refused(&registry), RegistryError::BadPath { path: "otters".into(), kind: "Otter".into() });
}

#[test]
fn the_hub_and_other_kinds_are_no_spokes() {
    let own = refused(&Registry::new().kind(otters().default_as_written::<Otter>(Nothing)));
    assert_eq!(
        own.to_string(),
        "zoo.example.org/v1 Otter is declared as another version of zoo.example.org/v1 Otter; it must be of the same \
         group and kind in another version"
    );
    let foreign = refused(&Registry::new().kind(otters().default_as_written::<Keeper>(Nothing)));
    assert!(matches!(foreign, RegistryError::NoOtherVersion { version, .. } if version == "v1 Keeper"));
}

/// An otter of which nothing is known yet.
#[derive(Serialize, Deserialize)]
struct NewOtter {}

impl Resource for NewOtter {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v2";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

/// Calls itself the old version of an otter.
#[derive(Serialize, Deserialize)]
struct Impostor {}

impl Resource for Impostor {
    const GROUP: &'static str = "zoo.example.org";
    const VERSION: &'static str = "v1alpha1";
    const KIND: &'static str = "Otter";
    const PLURAL: &'static str = "otters";
    const SCOPE: Scope = Scope::Namespaced;
}

#[test]
fn one_version_is_one_type() {
    let kind =
        otters().spoke(OtterConversion).default_as_written::<OldOtter>(Nothing).default_as_written::<Impostor>(Nothing);
    let version = "zoo.example.org/v1alpha1 Otter".into();
    assert_eq!(refused(&Registry::new().kind(kind)), RegistryError::TwoTypes { version });
}

struct Imposture;

impl Convert<Impostor, Otter> for Imposture {
    fn lift(&self, _: &Impostor, _: &mut Provenance, _: &mut Issues) -> Result<Otter, ConversionError> {
        Ok(Otter { spec: OtterSpec::default() })
    }

    fn lower(&self, _: &Otter, _: &mut Issues) -> Result<Impostor, ConversionError> {
        Ok(Impostor {})
    }
}

#[test]
fn a_conversion_and_a_handler_of_one_version_are_of_one_type() {
    let refusal = RegistryError::TwoTypes { version: "zoo.example.org/v1alpha1 Otter".into() };
    let handled = otters().spoke(OtterConversion).default_as_written::<Impostor>(Nothing);
    let converted = otters().default_as_written::<OldOtter>(Nothing).spoke(Imposture);
    for kind in [handled, converted] {
        assert_eq!(refused(&Registry::new().kind(kind)), refusal);
    }
}

#[test]
fn a_version_has_one_conversion() {
    let kind = otters().spoke(OtterConversion).spoke(OtterConversion);
    let error = refused(&Registry::new().kind(kind));
    assert_eq!(error, RegistryError::TwoConversions { version: "zoo.example.org/v1alpha1 Otter".into() });
}

#[test]
fn the_hub_is_no_spoke_of_itself() {
    struct Same;
    impl Convert<Otter, Otter> for Same {
        fn lift(&self, otter: &Otter, _: &mut Provenance, _: &mut Issues) -> Result<Otter, ConversionError> {
            Ok(otter.clone())
        }

        fn lower(&self, otter: &Otter, _: &mut Issues) -> Result<Otter, ConversionError> {
            Ok(otter.clone())
        }
    }
    let error = refused(&Registry::new().kind(otters().spoke::<Otter>(Same)));
    assert!(matches!(error, RegistryError::NoOtherVersion { hub, version } if hub == version));
}

#[test]
fn a_gap_between_versions_is_refused_with_their_names() {
    let half = otters().spoke(OtterConversion).default_as_written::<NewOtter>(Nothing);
    let error = refused(
        &Registry::new().kind(half.validate_as_written::<NewOtter>(|_: &NewOtter, _: &Request| Verdict::allow())),
    );
    assert_eq!(error, RegistryError::NoConversion { hub: Otter::gvk().to_string(), version: "v2" });
    assert!(error.to_string().contains("zoo.example.org/v1 Otter") && error.to_string().contains("v2"), "{error}");
}

#[test]
fn a_kind_is_declared_once() {
    let second = Kind::<OldOtter>::new().default(Nothing);
    let error = refused(&Registry::new().kind(otters()).kind(second));
    let (first, second) = (Otter::gvk().to_string(), OldOtter::gvk().to_string());
    assert_eq!(error, RegistryError::KindTwice { first, second });
}

#[test]
fn a_version_that_no_rule_reaches_is_refused_unless_it_is_not_sent() {
    let half = || otters().default_as_written::<OldOtter>(Nothing);
    let unjudged = RegistryError::Unjudged { hub: Otter::gvk().to_string(), version: "v1alpha1" };
    assert_eq!(refused(&Registry::new().kind(half())), unjudged);
    let declared = half().validating_at(Endpoint::new().versions(["v1"]).exact());
    assert_eq!(Registry::new().kind(declared).check(), Ok(()));
}

static FIRST: Rule = Rule { id: "OTTER-01", ..Rule::on(CREATE) };
static SECOND: Rule = Rule { id: "OTTER-02", ..Rule::on(CREATE) };

#[test]
fn the_catalogue_holds_each_rule_once_and_that_of_core() {
    let keepers = Kind::<Keeper>::new().rules([&SECOND, &FIRST]);
    let registry = Registry::new().kind(otters().rules([&FIRST, &SECOND])).kind(keepers);
    let ids: Vec<&str> = registry.rules().iter().map(|rule| rule.id).collect();
    assert_eq!(ids, ["DECODE", "OTTER-01", "OTTER-02"]);
}

fn installation() -> Installation {
    Installation {
        validating_name: "zoo-validating".into(),
        mutating_name: "zoo-mutating".into(),
        service: "zoo-webhook".into(),
        namespace: "zoo-system".into(),
        port: 443,
        failure_policy: FailurePolicy::Fail,
        timeout_seconds: 10,
        labels: BTreeMap::from([("app".into(), "zoo".into())]),
        namespace_selector: Some(json!({"matchLabels": {"zoo": "open"}})),
        object_selector: None,
    }
}

fn rendered(registry: &Registry, review: Review) -> String {
    let configuration = webhook_configuration(registry, review, &installation()).unwrap();
    yaml::document(&serde_json::to_value(configuration).unwrap())
}

fn zoo() -> Registry {
    let all = [Operation::Create, Operation::Update, Operation::Delete];
    let otters =
        otters().spoke(OtterConversion).default(Nothing).on(all).mutating_at(
            Endpoint::new().name("motter.example.org").path("/otters").alias("/old").versions(["v1"]).exact(),
        );
    Registry::new().kind(otters).kind(Kind::<Keeper>::new().default(Nothing).on([Operation::Create]))
}

#[test]
fn the_validating_configuration_lists_all_versions_and_operations() {
    insta::assert_snapshot!(rendered(&zoo(), Review::Validate), @r#"
    apiVersion: admissionregistration.k8s.io/v1
    kind: ValidatingWebhookConfiguration
    metadata:
      labels:
        app: zoo
      name: zoo-validating
    webhooks:
    - admissionReviewVersions:
      - v1
      clientConfig:
        service:
          name: zoo-webhook
          namespace: zoo-system
          path: /validate-zoo-example-org-v1-otter
          port: 443
      failurePolicy: Fail
      matchPolicy: Equivalent
      name: validate.otter.zoo.example.org
      namespaceSelector:
        matchLabels:
          zoo: open
      rules:
      - apiGroups:
        - zoo.example.org
        apiVersions:
        - v1alpha1
        - v1
        operations:
        - CREATE
        - UPDATE
        - DELETE
        resources:
        - otters
        scope: Namespaced
      sideEffects: None
      timeoutSeconds: 10
    "#);
}

#[test]
fn the_mutating_configuration_lists_no_removals() {
    insta::assert_snapshot!(rendered(&zoo(), Review::Mutate), @r#"
    apiVersion: admissionregistration.k8s.io/v1
    kind: MutatingWebhookConfiguration
    metadata:
      labels:
        app: zoo
      name: zoo-mutating
    webhooks:
    - admissionReviewVersions:
      - v1
      clientConfig:
        service:
          name: zoo-webhook
          namespace: zoo-system
          path: /otters
          port: 443
      failurePolicy: Fail
      matchPolicy: Exact
      name: motter.example.org
      namespaceSelector:
        matchLabels:
          zoo: open
      rules:
      - apiGroups:
        - zoo.example.org
        apiVersions:
        - v1
        operations:
        - CREATE
        - UPDATE
        resources:
        - otters
        scope: Namespaced
      sideEffects: None
      timeoutSeconds: 10
    - admissionReviewVersions:
      - v1
      clientConfig:
        service:
          name: zoo-webhook
          namespace: zoo-system
          path: /mutate--v1-keeper
          port: 443
      failurePolicy: Fail
      matchPolicy: Equivalent
      name: mutate.keeper.core
      namespaceSelector:
        matchLabels:
          zoo: open
      rules:
      - apiGroups:
        - ""
        apiVersions:
        - v1
        operations:
        - CREATE
        resources:
        - keepers
        scope: Cluster
      sideEffects: None
      timeoutSeconds: 10
    "#);
}

#[test]
fn there_is_no_configuration_where_no_kind_needs_one() {
    let registry = Registry::new().kind(otters());
    assert!(webhook_configuration(&registry, Review::Mutate, &installation()).is_none());
    assert!(webhook_configuration(&registry, Review::Convert, &installation()).is_none());
    let removals = Registry::new().kind(Kind::<Keeper>::new().default(Nothing).on([Operation::Delete]));
    assert!(webhook_configuration(&removals, Review::Mutate, &installation()).is_none());
}

#[test]
fn no_configuration_renders_a_ca_bundle() {
    // Whoever owns the certificates writes it; a rendered one would be put back at every upgrade.
    let text = format!("{}{}", rendered(&zoo(), Review::Validate), rendered(&zoo(), Review::Mutate));
    assert!(!text.contains("caBundle"));
}

#[test]
fn the_conversion_stanza_names_the_path_that_was_given_by_hand() {
    let registry = zoo().convert_at("/crdconvert");
    let stanzas: Vec<_> = registry
        .declarations()
        .map(|declared| gateward_core::manifest::conversion(&registry, declared, &installation()))
        .map(|stanza| serde_json::to_value(stanza).unwrap())
        .collect();
    assert_eq!(stanzas[0]["webhook"]["clientConfig"]["service"]["path"], "/crdconvert");
    assert_eq!(stanzas[0]["webhook"]["conversionReviewVersions"], serde_json::json!(["v1"]));
    assert!(stanzas[1].is_null(), "a kind of one version is not converted");
    assert_eq!(zoo().conversion_path(), "/convert");
}
