//! What the keys of annotations and labels begin with.

use gateward_core::conversion::ANNOTATION_LIMIT;
use gateward_core::{Webhook, Webhooks, WebhooksError, resource};
use serde_json::{Value, json};

use crate::shop::{self, MapConversion, MapShop, Shop, shop};

fn shops() -> Webhook<Shop> {
    Webhook::new().spoke::<MapShop>(MapConversion)
}

/// A kind of another group.
#[derive(serde::Serialize, serde::Deserialize)]
struct Till {}

resource!(Till, "till.example.org/v1", "Till", "tills");

/// A kind of Kubernetes' own.
#[derive(serde::Serialize, serde::Deserialize)]
struct Secret {}

resource!(Secret, "v1", "Secret", "secrets");

fn judged<K: gateward_core::Resource>() -> Webhook<K> {
    Webhook::new().validator(|_: &K, _: &gateward_core::Request| ())
}

fn unknown_field() -> Value {
    shop("v1", json!({"boxes": {"a": {"lamp": {"color": "red", "watt": 3}}}}))
}

/// The keys of annotations and labels of an object.
fn keys(object: &Value) -> Vec<&str> {
    let of = |part: &str| object["metadata"][part].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    of("annotations").chain(of("labels")).collect()
}

fn converted(webhooks: &Webhooks, object: &Value, version: &str) -> Value {
    serde_json::from_str(&webhooks.convert(&object.to_string(), &shop::api_version(version)).unwrap().json).unwrap()
}

#[test]
fn the_prefix_is_the_group_of_the_first_kind_of_the_operator_s_own() {
    let prefix = |webhooks: Webhooks| webhooks.annotation_prefix().map(str::to_owned);
    assert_eq!(prefix(Webhooks::new()), None);
    assert_eq!(prefix(Webhooks::new().register(judged::<Secret>())), None);
    let webhooks = || Webhooks::new().register(judged::<Secret>()).register(judged::<Till>()).register(shops());
    assert_eq!(prefix(webhooks()).as_deref(), Some("till.example.org"));
    assert_eq!(prefix(webhooks().with_annotation_prefix("market.example.org")).as_deref(), Some("market.example.org"));
}

#[test]
fn conversion_writes_under_the_prefix_whenever_it_was_said() {
    let before = Webhooks::new().with_annotation_prefix("market.example.org").register(shops());
    let after = Webhooks::new().register(shops()).with_annotation_prefix("market.example.org");
    for webhooks in [before, after] {
        let hub = converted(&webhooks, &unknown_field(), "v3");
        assert_eq!(keys(&hub), ["market.example.org/preserved", "shop.example.org/lamps"]);
        assert_eq!(converted(&webhooks, &hub, "v1"), unknown_field());
        let declared = webhooks.declarations().next().unwrap();
        let annotations: Vec<&str> = declared.conversion_annotations().collect();
        assert_eq!(annotations[0], "market.example.org/preserved");
    }
}

#[test]
fn an_earlier_kind_is_told_the_prefix_of_a_later_one() {
    let late = Webhooks::new().register(judged::<Secret>()).register(shops());
    assert_eq!(keys(&converted(&late, &unknown_field(), "v3"))[0], "shop.example.org/lamps");
    assert_eq!(keys(&converted(&late, &unknown_field(), "v3"))[1], "shop.example.org/preserved");
}

#[test]
fn a_marked_view_bears_the_prefix() {
    let webhooks = Webhooks::new().with_annotation_prefix("market.example.org").register(shops());
    let color = "x".repeat(ANNOTATION_LIMIT);
    let view = converted(&webhooks, &shop("v1", json!({"boxes": {"a": {"lamp": {"color": color}}}})), "v3");
    assert_eq!(keys(&view), ["market.example.org/incomplete-fields", "market.example.org/incomplete"]);
}

#[test]
fn what_another_operator_has_kept_is_an_annotation_as_any_other() {
    let webhooks = Webhooks::new().with_annotation_prefix("market.example.org").register(shops());
    let mut hub = converted(&webhooks, &shop("v1", json!({"boxes": {"a": {}}})), "v3");
    hub["metadata"]["annotations"] = json!({"shop.example.org/preserved": "{"});
    let back = webhooks.convert(&hub.to_string(), &shop::api_version("v1")).unwrap();
    let json: Value = serde_json::from_str(&back.json).unwrap();
    assert_eq!(json["metadata"]["annotations"]["shop.example.org/preserved"], "{");
}

#[test]
fn a_prefix_that_no_key_can_have_is_refused() {
    let long = "a".repeat(51);
    for (prefix, problem) in [
        ("Market.example.org", "must be a domain in lower case"),
        ("market/example", "must be a domain in lower case"),
        ("", "must be a domain in lower case"),
        (&long, "must have at most 50 characters"),
        ("kubernetes.io", "is reserved for Kubernetes itself"),
        ("market.k8s.io", "is reserved for Kubernetes itself"),
    ] {
        let webhooks = Webhooks::new().register(judged::<Till>()).with_annotation_prefix(prefix.to_owned());
        let refusal = WebhooksError::BadAnnotationPrefix { prefix: prefix.to_owned(), problem };
        assert_eq!(webhooks.check(), Err(refusal));
    }
}

/// A spoke of a kind of Kubernetes' own group, to be converted.
mod odd {
    use gateward_core::{ConversionError, Convert, Issues, Provenance, resource};

    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct Old {}

    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct New {}

    resource!(Old, "odd.k8s.io/v1", "Odd", "odds");
    resource!(New, "odd.k8s.io/v2", "Odd", "odds");

    pub struct Odd;

    impl Convert<Old, New> for Odd {
        fn to_hub(&self, _: &Old, _: &mut Provenance, _: &mut Issues) -> Result<New, ConversionError> {
            Ok(New {})
        }

        fn from_hub(&self, _: &New, _: &mut Issues) -> Result<Old, ConversionError> {
            Ok(Old {})
        }

        fn annotations(&self) -> &'static [&'static str] {
            &["market.example.org/preserved"]
        }
    }
}

#[test]
fn an_operator_that_converts_needs_a_prefix() {
    let webhooks = || Webhooks::new().register(Webhook::<odd::New>::new().spoke::<odd::Old>(odd::Odd));
    let kind = "odd.k8s.io/v2 Odd".to_owned();
    assert_eq!(webhooks().check(), Err(WebhooksError::NoAnnotationPrefix { kind }));
    assert_eq!(webhooks().with_annotation_prefix("odd.example.org").check(), Ok(()));
}

#[test]
fn no_conversion_keeps_something_where_conversion_itself_does() {
    let webhooks = Webhooks::new()
        .register(Webhook::<odd::New>::new().spoke::<odd::Old>(odd::Odd))
        .with_annotation_prefix("market.example.org");
    let (kind, annotation) = ("odd.k8s.io/v2 Odd".to_owned(), "market.example.org/preserved".to_owned());
    assert_eq!(webhooks.check(), Err(WebhooksError::AnnotationTaken { kind, annotation }));
}
