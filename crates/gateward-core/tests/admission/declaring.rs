//! What follows from a declaration: paths, manifests, the catalogue; and which declarations are refused.

use std::collections::BTreeMap;
use std::future::{Ready, ready};
use std::time::Duration;

use gateward_core::manifest::{FailurePolicy, Installation, label, webhook_configuration, yaml};
use gateward_core::{
    CREATE, CREATE_AND_UPDATE, ConversionError, Convert, Declaration, Endpoint, Issues, Operation, Provenance,
    ReinvocationPolicy, Request, Resource, Review, Rule, SideEffects, Validator, Verdict, Webhook, Webhooks,
    WebhooksError, handler, resource,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::zoo::{MUTATE, OldOtter, Otter, OtterConversion, OtterSpec, VALIDATE, ask, created, otter};

fn rules(_: &Otter, _: &Request) -> Verdict {
    Verdict::deny("no otters here")
}

/// A defaulter that changes nothing.
fn nothing<K>(object: K, _: &Request) -> K {
    object
}

/// Judges whatever becomes of an otter, but for connections.
struct Everything;

#[handler]
impl Validator<Otter> for Everything {
    async fn create(&self, _: &Otter, _: &Request) {}
    async fn update(&self, _: &Otter, _: &Otter, _: &Request) {}
    async fn delete(&self, _: &Otter, _: &Request) {}
}

fn otters() -> Webhook<Otter> {
    Webhook::new().validator(rules)
}

/// A keeper lives nowhere in particular.
#[derive(Serialize, Deserialize)]
struct Keeper {}

resource!(Keeper, "v1", "Keeper", "keepers", Cluster);

#[test]
fn paths_follow_from_group_version_and_kind() {
    let webhooks =
        Webhooks::new().register(otters().defaulter(nothing)).register(Webhook::<Keeper>::new().defaulter(nothing));
    let paths: Vec<(&str, Review)> = webhooks.paths().collect();
    let keepers = "/mutate--v1-keeper";
    assert_eq!(paths, [(keepers, Review::Mutate), (MUTATE, Review::Mutate), (VALIDATE, Review::Validate)]);
}

#[test]
fn an_alias_is_served_but_not_registered() {
    let endpoint = Endpoint::new().path("/otters").alias("/old/otters");
    let webhooks = Webhooks::new().register(otters().validating_at(endpoint));
    for path in ["/otters", "/old/otters"] {
        assert!(!ask(&webhooks, path, &created(otter(json!({})))).is_allowed());
    }
    assert_eq!(webhooks.route(VALIDATE), None);
    assert_eq!(webhooks.path_of(Review::Validate, &Otter::gvk()).as_deref(), Some("/otters"));
}

fn refused(webhooks: &Webhooks) -> WebhooksError {
    webhooks.check().unwrap_err()
}

#[test]
fn two_webhooks_can_not_share_a_path() {
    let keepers = Webhook::<Keeper>::new().defaulter(nothing).mutating_at(Endpoint::new().path(VALIDATE));
    let taken = WebhooksError::PathTaken { path: VALIDATE.into(), first: "Otter".into(), second: "Keeper".into() };
    assert_eq!(refused(&Webhooks::new().register(otters()).register(keepers)), taken);
    let own = otters().validating_at(Endpoint::new().path("/otters").alias("/otters"));
    let taken = WebhooksError::PathTaken { path: "/otters".into(), first: "Otter".into(), second: "Otter".into() };
    assert_eq!(refused(&Webhooks::new().register(own)), taken);
}

#[test]
fn a_path_begins_with_a_slash() {
    let webhooks = Webhooks::new().register(otters().validating_at(Endpoint::new().path("otters")));
    assert_eq!(refused(&webhooks), WebhooksError::BadPath { path: "otters".into(), kind: "Otter".into() });
}

#[test]
fn the_hub_and_other_kinds_are_no_spokes() {
    let own = refused(&Webhooks::new().register(otters().defaulter_for(nothing::<Otter>)));
    assert_eq!(
        own.to_string(),
        "zoo.example.org/v1 Otter is declared as another version of zoo.example.org/v1 Otter; it must be of the same \
         group and kind in another version"
    );
    let foreign = refused(&Webhooks::new().register(otters().defaulter_for(nothing::<Keeper>)));
    assert!(matches!(foreign, WebhooksError::NoOtherVersion { version, .. } if version == "v1 Keeper"));
}

/// An otter of which nothing is known yet.
#[derive(Serialize, Deserialize)]
struct NewOtter {}

resource!(NewOtter, "zoo.example.org/v2", "Otter", "otters");

/// Calls itself the old version of an otter.
#[derive(Serialize, Deserialize)]
struct Impostor {}

resource!(Impostor, "zoo.example.org/v1alpha1", "Otter", "otters");

#[test]
fn one_version_is_one_type() {
    let kind = otters().spoke(OtterConversion).defaulter_for(nothing::<OldOtter>).defaulter_for(nothing::<Impostor>);
    let version = "zoo.example.org/v1alpha1 Otter".into();
    assert_eq!(refused(&Webhooks::new().register(kind)), WebhooksError::TwoTypes { version });
}

struct Imposture;

impl Convert<Impostor, Otter> for Imposture {
    fn to_hub(&self, _: &Impostor, _: &mut Provenance, _: &mut Issues) -> Result<Otter, ConversionError> {
        Ok(Otter { spec: OtterSpec::default() })
    }

    fn from_hub(&self, _: &Otter, _: &mut Issues) -> Result<Impostor, ConversionError> {
        Ok(Impostor {})
    }
}

#[test]
fn a_conversion_and_a_handler_of_one_version_are_of_one_type() {
    let refusal = WebhooksError::TwoTypes { version: "zoo.example.org/v1alpha1 Otter".into() };
    let handled = otters().spoke(OtterConversion).defaulter_for(nothing::<Impostor>);
    let converted = otters().defaulter_for(nothing::<OldOtter>).spoke(Imposture);
    for kind in [handled, converted] {
        assert_eq!(refused(&Webhooks::new().register(kind)), refusal);
    }
}

#[test]
fn a_version_has_one_conversion() {
    let kind = otters().spoke(OtterConversion).spoke(OtterConversion);
    let error = refused(&Webhooks::new().register(kind));
    assert_eq!(error, WebhooksError::TwoConversions { version: "zoo.example.org/v1alpha1 Otter".into() });
}

#[test]
fn the_hub_is_no_spoke_of_itself() {
    struct Same;
    impl Convert<Otter, Otter> for Same {
        fn to_hub(&self, otter: &Otter, _: &mut Provenance, _: &mut Issues) -> Result<Otter, ConversionError> {
            Ok(otter.clone())
        }

        fn from_hub(&self, otter: &Otter, _: &mut Issues) -> Result<Otter, ConversionError> {
            Ok(otter.clone())
        }
    }
    let error = refused(&Webhooks::new().register(otters().spoke::<Otter>(Same)));
    assert!(matches!(error, WebhooksError::NoOtherVersion { hub, version } if hub == version));
}

#[test]
fn a_gap_between_versions_is_refused_with_their_names() {
    let half = otters().spoke(OtterConversion).defaulter_for(nothing::<NewOtter>);
    let error = refused(&Webhooks::new().register(half.validator_for(|_: &NewOtter, _: &Request| Verdict::allow())));
    assert_eq!(error, WebhooksError::NoConversion { hub: Otter::gvk().to_string(), version: "v2".into() });
    assert!(error.to_string().contains("zoo.example.org/v1 Otter") && error.to_string().contains("v2"), "{error}");
}

#[test]
fn a_kind_is_declared_once() {
    let second = Webhook::<OldOtter>::new().defaulter(nothing);
    let error = refused(&Webhooks::new().register(otters()).register(second));
    let (first, second) = (Otter::gvk().to_string(), OldOtter::gvk().to_string());
    assert_eq!(error, WebhooksError::KindTwice { first, second });
}

#[test]
fn a_version_that_no_rule_reaches_is_refused_unless_it_is_not_sent() {
    let half = || otters().defaulter_for(nothing::<OldOtter>);
    let unjudged = WebhooksError::Unjudged { hub: Otter::gvk().to_string(), version: "v1alpha1".into() };
    assert_eq!(refused(&Webhooks::new().register(half())), unjudged);
    let declared = half().validating_at(Endpoint::new().versions(["v1"]).exact());
    assert_eq!(Webhooks::new().register(declared).check(), Ok(()));
}

static FIRST: Rule = Rule { id: "OTTER-01", ..Rule::on(CREATE) };
static SECOND: Rule = Rule { id: "OTTER-02", ..Rule::on(CREATE) };

#[test]
fn the_catalogue_holds_each_rule_once_and_that_of_core() {
    let keepers = Webhook::<Keeper>::new().rules([&SECOND, &FIRST]);
    let webhooks = Webhooks::new().register(otters().rules([&FIRST, &SECOND])).register(keepers);
    let ids: Vec<&str> = webhooks.rules().iter().map(|rule| rule.id).collect();
    assert_eq!(ids, ["DECODE", "OTTER-01", "OTTER-02"]);
}

pub fn installation() -> Installation {
    Installation {
        service: "zoo-webhook".into(),
        labels: BTreeMap::from([("app".into(), "zoo".into())]),
        namespace_selector: Some(json!({"matchLabels": {"zoo": "open"}})),
        ..Installation::of_release("zoo", "zoo-system")
    }
}

pub fn rendered(webhooks: &Webhooks, review: Review) -> String {
    let configuration = webhook_configuration(webhooks, review, &installation()).unwrap();
    yaml::document(&serde_json::to_value(configuration).unwrap())
}

fn zoo() -> Webhooks {
    let endpoint = Endpoint::new().name("motter.example.org").path("/otters").alias("/old").versions(["v1"]).exact();
    let otters = Webhook::<Otter>::new().spoke(OtterConversion).validator(Everything).defaulter(nothing);
    let otters = otters.mutating_at(endpoint);
    Webhooks::new().register(otters).register(Webhook::<Keeper>::new().defaulter(nothing).on([Operation::Create]))
}

#[test]
fn operations_follow_from_what_is_written() {
    let operations = |kind, review| {
        let webhooks = Webhooks::new().register(kind);
        assert_eq!(webhooks.check(), Ok(()));
        webhooks.declarations().next().unwrap().operations(review)
    };
    let (create, update, delete) = (Operation::Create, Operation::Update, Operation::Delete);
    let all = || Webhook::<Otter>::new().validator(Everything).defaulter(nothing);
    assert_eq!(operations(all(), Review::Validate), [create, update, delete]);
    assert_eq!(operations(all(), Review::Mutate), [create, update]);
    assert_eq!(operations(all().on([delete, create]), Review::Validate), [create, delete]);
    assert_eq!(operations(all().on([delete, create]), Review::Mutate), [create]);
    assert_eq!(operations(otters(), Review::Validate), [create, update]);
}

#[test]
fn nothing_that_would_never_run_is_silent() {
    let otter = || "zoo.example.org/v1 Otter".to_owned();
    let refusal = |kind| refused(&Webhooks::new().register(kind)).to_string();
    let with_spoke = || otters().spoke(OtterConversion);
    let text = refusal(with_spoke().defaulter(nothing));
    assert!(text.contains("in version v1alpha1 would get no defaults"), "{text}");
    let listed = with_spoke().defaulter(nothing).mutating_at(Endpoint::new().versions(["v1"]));
    assert_eq!(Webhooks::new().register(listed).check(), Ok(()));
    let intended = with_spoke().defaulter(nothing).no_defaults_for::<OldOtter>();
    assert_eq!(Webhooks::new().register(intended).check(), Ok(()));
    let own = with_spoke().defaulter(nothing).defaulter_for(nothing::<OldOtter>);
    assert_eq!(Webhooks::new().register(own).check(), Ok(()));

    let text = refusal(otters().validating_at(Endpoint::new().versions(["v1", "v7"])));
    assert!(text.contains("lists v7, which is none of its versions; they are v1"), "{text}");
    for name in ["otters", "a.b", "Validate.otter.zoo", "validate..zoo.org", "-a.b.c"] {
        let error = refused(&Webhooks::new().register(otters().validating_at(Endpoint::new().name(name))));
        assert_eq!(error, WebhooksError::BadName { name: name.into(), kind: otter() });
    }
    for path in ["otters", "", "/Otters", "/otters?x=y", "/a//b", "/ot ters"] {
        let text = refusal(otters().validating_at(Endpoint::new().path(path)));
        assert!(text.contains("must begin with a slash") && text.contains("lower-case"), "{path:?}: {text}");
    }
    let error = refused(&Webhooks::new().register(otters().mutating_at(Endpoint::new().path("/defaults"))));
    assert_eq!(error, WebhooksError::PathWithoutHandler { kind: otter(), review: "mutate" });
    assert_eq!(refused(&Webhooks::new()), WebhooksError::NoKinds);
}

const ONE: Rule = Rule { id: "OTTER-01", summary: "an otter has a name", ..Rule::on(CREATE) };
const OTHER: Rule = Rule { id: "OTTER-01", summary: "an otter has a river", ..Rule::on(CREATE) };

#[test]
fn two_webhooks_and_two_rules_can_not_share_a_name() {
    let named = || Endpoint::new().name("a.zoo.org");
    let keepers = Webhook::<Keeper>::new().validator(|_: &Keeper, _: &Request| ()).validating_at(named());
    let webhooks = Webhooks::new().register(otters().validating_at(named())).register(keepers);
    assert_eq!(refused(&webhooks), WebhooksError::NameTwice { name: "a.zoo.org".into() });

    assert_eq!(Webhooks::new().register(otters().rules([&ONE, &ONE])).check(), Ok(()));
    let twice = Webhooks::new().register(otters().rules([&ONE, &OTHER]));
    assert_eq!(refused(&twice), WebhooksError::RuleTwice { id: "OTTER-01" });
}

#[test]
fn all_versions_have_one_plural_and_one_scope() {
    #[derive(Serialize, Deserialize)]
    struct Lone {}
    resource!(Lone, "zoo.example.org/v1alpha1", "Otter", "lones");
    #[derive(Serialize, Deserialize)]
    struct Everywhere {}
    resource!(Everywhere, "zoo.example.org/v1alpha1", "Otter", "otters", Cluster);
    let (hub, version) = ("zoo.example.org/v1 Otter".into(), "zoo.example.org/v1alpha1 Otter".into());
    let other = WebhooksError::OtherResource { hub, version };
    assert_eq!(refused(&Webhooks::new().register(otters().validator_for(|_: &Lone, _: &Request| ()))), other);
    assert_eq!(refused(&Webhooks::new().register(otters().validator_for(|_: &Everywhere, _: &Request| ()))), other);
}

#[test]
fn a_webhook_is_not_registered_for_what_no_handler_judges() {
    let kind = "zoo.example.org/v1 Otter".to_owned();
    let error = refused(&Webhooks::new().register(otters().on([Operation::Create, Operation::Delete])));
    assert_eq!(error, WebhooksError::UnjudgedOperation { kind: kind.clone(), operation: Operation::Delete });
    assert!(error.to_string().contains("write the method `delete` of a handler"), "{error}");
    assert_eq!(refused(&Webhooks::new().register(Webhook::<Otter>::new())), WebhooksError::NoHandler { kind });
}

#[test]
fn a_rule_is_for_no_operation_on_which_its_kind_is_not_called() {
    static STAYS: Rule = Rule { id: "OTTER-03", ..Rule::on(CREATE_AND_UPDATE) };
    let kind = || "zoo.example.org/v1 Otter".to_owned();
    let narrowed = || otters().on([Operation::Create]).rules([&STAYS]);
    let error = refused(&Webhooks::new().register(narrowed()));
    let never = WebhooksError::RuleNeverRuns { kind: kind(), rule: "OTTER-03", operation: Operation::Update };
    assert_eq!(error, never);
    for words in ["OTTER-03", "UPDATE", "`update`", "`.on`", "`operations`"] {
        assert!(error.to_string().contains(words), "{error}");
    }
    let in_entry = otters().entry("creates", narrowed());
    assert_eq!(refused(&Webhooks::new().register(in_entry)), never);
    for fine in [
        otters().rules([&STAYS]),
        otters().on([Operation::Create]).rules([&FIRST]),
        narrowed().entry("updates", otters().on([Operation::Update])),
    ] {
        assert_eq!(Webhooks::new().register(fine).check(), Ok(()));
    }
    let status = otters().subresource_of::<Otter>("status").on([Operation::Update]);
    assert_eq!(Webhooks::new().register(narrowed()).register(status).check(), Ok(()));
}

/// A future that a method returns need not come of `async`.
#[test]
fn a_method_of_a_handler_may_return_a_future() {
    struct ByHand;
    #[handler]
    impl Validator<Otter> for ByHand {
        fn create(&self, _: &Otter, _: &Request) -> Ready<Verdict> {
            ready(Verdict::allow())
        }

        fn update(&self, _: &Otter, _: &Otter, _: &Request) -> impl Future<Output = Result<(), Verdict>> + Send {
            ready(Ok(()))
        }
    }
    assert_eq!(Webhooks::new().register(Webhook::<Otter>::new().validator(ByHand)).check(), Ok(()));
}

#[test]
fn a_handler_can_not_judge_what_is_no_operation() {
    struct Handwritten;
    impl Validator<Otter> for Handwritten {
        const OPERATIONS: &'static [&'static str] = &["CREATE", "PATCH"];
    }
    let error = refused(&Webhooks::new().register(Webhook::<Otter>::new().validator(Handwritten)));
    let (kind, name) = ("zoo.example.org/v1 Otter".into(), "PATCH".into());
    assert_eq!(error, WebhooksError::UnknownOperation { kind, name });
}

#[test]
fn what_the_compiler_proposes_in_place_of_the_attribute_is_refused_by_its_name() {
    struct Proposed;
    impl Validator<Otter> for Proposed {
        const OPERATIONS: &'static [&'static str] = &[];
    }
    let error = refused(&Webhooks::new().register(Webhook::<Otter>::new().validator(Proposed)));
    assert!(error.to_string().contains("judges no operation; write `#[handler]` above its `impl`"), "{error}");
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
    let webhooks = Webhooks::new().register(otters());
    assert!(webhook_configuration(&webhooks, Review::Mutate, &installation()).is_none());
    assert!(webhook_configuration(&webhooks, Review::Convert, &installation()).is_none());
    let removals = Webhooks::new().register(Webhook::<Keeper>::new().defaulter(nothing).on([Operation::Delete]));
    assert!(webhook_configuration(&removals, Review::Mutate, &installation()).is_none());
}

#[test]
fn no_configuration_renders_a_ca_bundle() {
    // The owner of the certificates writes it; a rendered one would be put back at every upgrade.
    let text = format!("{}{}", rendered(&zoo(), Review::Validate), rendered(&zoo(), Review::Mutate));
    assert!(!text.contains("caBundle"));
}

#[test]
fn the_conversion_stanza_names_the_path_of_the_kind() {
    let webhooks = zoo();
    let stanza = |declared| json!(gateward_core::manifest::conversion(declared, &installation()));
    let stanzas: Vec<_> = webhooks.declarations().map(stanza).collect();
    assert_eq!(stanzas[0]["webhook"]["clientConfig"]["service"]["path"], "/convert");
    assert_eq!(stanzas[0]["webhook"]["conversionReviewVersions"], serde_json::json!(["v1"]));
    assert!(stanzas[1].is_null(), "a kind of one version is not converted");
}

#[test]
fn a_webhook_says_of_itself_what_the_release_says_of_all() {
    let kind = otters()
        .defaulter(nothing)
        .object_selector(label("app").equals("zoo"))
        .namespace_selector(label("team").not_in(["blue"]).and(label("old").is_absent()))
        .match_condition("not-a-node", "!request.userInfo.username.startsWith('system:node:')")
        .failure_policy(FailurePolicy::Ignore)
        .timeout(Duration::from_secs(3))
        .side_effects(SideEffects::NoneOnDryRun)
        .reinvocation(ReinvocationPolicy::IfNeeded);
    let webhooks = Webhooks::new().register(kind);
    assert_eq!(webhooks.check(), Ok(()));
    let configuration = webhook_configuration(&webhooks, Review::Mutate, &installation()).unwrap();
    let webhook = serde_json::to_value(configuration).unwrap()["webhooks"][0].clone();
    assert_eq!(webhook["failurePolicy"], "Ignore");
    assert_eq!((&webhook["timeoutSeconds"], &webhook["sideEffects"]), (&json!(3), &json!("NoneOnDryRun")));
    assert_eq!(webhook["reinvocationPolicy"], "IfNeeded");
    let expression = "!request.userInfo.username.startsWith('system:node:')";
    assert_eq!(webhook["matchConditions"], json!([{"name": "not-a-node", "expression": expression}]));
    let app = json!({"key": "app", "operator": "In", "values": ["zoo"]});
    assert_eq!(webhook["objectSelector"], json!({"matchExpressions": [app]}));
    let own = json!([
        {"key": "team", "operator": "NotIn", "values": ["blue"]}, {"key": "old", "operator": "DoesNotExist"},
    ]);
    assert_eq!(webhook["namespaceSelector"], json!({"matchLabels": {"zoo": "open"}, "matchExpressions": own}));
    // A validating webhook is never asked again.
    assert!(!rendered(&webhooks, Review::Validate).contains("reinvocationPolicy"));
}

#[test]
fn what_the_api_server_would_refuse_is_refused_at_the_start() {
    let refusal = |kind| refused(&Webhooks::new().register(kind)).to_string();
    let timeout = refusal(otters().timeout(Duration::from_millis(1500)));
    assert_eq!(timeout, "zoo.example.org/v1 Otter: the timeout must be a whole number of seconds from 1 to 30");
    assert!(refusal(otters().timeout(Duration::from_secs(31))).contains("from 1 to 30"));
    assert!(refusal(otters().match_condition("-a", "true")).contains(r#""-a" must be called by letters"#));
    assert!(refusal(otters().match_condition("a", " ")).contains("has no expression"));
    let twice = otters().match_condition("a", "true").match_condition("a", "false");
    assert!(refusal(twice).contains("two match conditions are called"));
    let many = (0..65)
        .fold(otters(), |kind, number| kind.match_condition(Box::leak(format!("c{number}").into_boxed_str()), "true"));
    assert!(refusal(many).contains("more than 64"));
}

#[test]
fn kinds_that_pods_need_are_not_sent_from_where_the_webhook_itself_starts() {
    use k8s_openapi::api::core::v1::Pod;
    let selector = |kind: Webhook<Pod>| {
        let webhooks = Webhooks::new().register(kind.validator(|_: &Pod, _: &Request| ()));
        let installation = Installation { namespace_selector: None, ..installation() };
        let configuration = webhook_configuration(&webhooks, Review::Validate, &installation).unwrap();
        serde_json::to_value(configuration).unwrap()["webhooks"][0]["namespaceSelector"].clone()
    };
    let names = json!(["kube-system", "zoo-system"]);
    let left_out = json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": names});
    assert_eq!(selector(Webhook::new()), json!({"matchExpressions": [left_out]}));
    assert_eq!(selector(Webhook::new().in_every_namespace()), json!(null));
}

#[test]
fn who_starts_can_say_what_is_not_sent_from_where() {
    use k8s_openapi::api::core::v1::Pod;
    let pods = Webhook::new().validator(|_: &Pod, _: &Request| ());
    let keepers = Webhook::<Keeper>::new().defaulter(nothing);
    let webhooks = Webhooks::new().register(pods).register(keepers).register(otters());
    let left_out = |declared: &Declaration| declared.bootstrap_namespaces("zoo-system");
    let names = ["kube-system", "zoo-system"];
    assert_eq!(webhooks.declarations().map(left_out).collect::<Vec<_>>(), [Some(names), None, None]);
    let everywhere = Webhook::new().validator(|_: &Pod, _: &Request| ()).in_every_namespace();
    assert_eq!(Webhooks::new().register(everywhere).declarations().find_map(left_out), None);
}
