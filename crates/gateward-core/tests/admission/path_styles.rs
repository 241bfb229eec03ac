//! Paths in another style than the usual: what is served, what is registered, and which styles are refused.

use gateward_core::manifest::{Installation, conversion, webhook_configuration};
use gateward_core::{
    Endpoint, GroupVersionKind, PathStyle, Request, Review, Verdict, Webhook, Webhooks, WebhooksError, resource,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::zoo::{OldOtter, Otter, OtterConversion, ask, created, otter};

/// An otter of another group: KubeOps' style has its class beside that of the first.
#[derive(Serialize, Deserialize)]
struct SeaOtter {}

resource!(SeaOtter, "sea.example.org/v1", "Otter", "otters");

fn rules<K>(_: &K, _: &Request) -> Verdict {
    Verdict::deny("no otters here")
}

fn nothing<K>(object: K, _: &Request) -> K {
    object
}

fn otters() -> Webhook<Otter> {
    Webhook::new().validator(rules).defaulter(nothing).spoke::<OldOtter>(OtterConversion).no_defaults_for::<OldOtter>()
}

fn served(webhooks: &Webhooks) -> Vec<(&str, Review)> {
    webhooks.paths().collect()
}

/// The paths that manifests name.
fn registered(webhooks: &Webhooks) -> Vec<Value> {
    let installation = Installation::of_release("operator", "zoo");
    let configurations = [Review::Mutate, Review::Validate]
        .map(|review| json!(webhook_configuration(webhooks, review, &installation))["webhooks"].take());
    let entries = configurations.iter().flat_map(|entries| entries.as_array().unwrap());
    let paths = entries.map(|entry| entry["clientConfig"]["service"]["path"].clone());
    let stanzas = webhooks.declarations().filter_map(|declared| conversion(declared, &installation));
    paths.chain(stanzas.map(|stanza| json!(stanza)["webhook"]["clientConfig"]["service"]["path"].take())).collect()
}

const OF_KUBEOPS: [(&str, Review); 3] = [
    ("/mutate/v1otter", Review::Mutate),
    ("/validate/v1otter", Review::Validate),
    ("/convert/zoo.example.org/otters", Review::Convert),
];

#[test]
fn kubeops_paths_are_served_and_registered_alike() {
    let webhooks = Webhooks::with_paths(PathStyle::KubeOps).register(otters());
    assert_eq!(webhooks.check(), Ok(()));
    assert_eq!(served(&webhooks), OF_KUBEOPS);
    assert_eq!(registered(&webhooks), OF_KUBEOPS.map(|(path, _)| json!(path)));
    assert!(!ask(&webhooks, "/validate/v1otter", &created(otter(json!({})))).is_allowed());
    assert_eq!(webhooks.route("/validate-zoo-example-org-v1-otter"), None);
    assert_eq!(webhooks.route("/convert"), None);
}

#[test]
fn a_style_has_its_way_with_paths_that_an_endpoint_does_not_name() {
    let endpoint = Endpoint::new().path("/otters").alias("/validate/otters");
    let webhooks = Webhooks::with_paths(PathStyle::KubeOps).register(otters().validating_at(endpoint));
    let validating: Vec<_> = served(&webhooks).into_iter().filter(|(_, review)| *review == Review::Validate).collect();
    assert_eq!(validating, [("/otters", Review::Validate), ("/validate/otters", Review::Validate)]);
    assert!(webhooks.route("/mutate/v1otter").is_some());
}

#[test]
fn two_kinds_of_one_class_name_are_refused() {
    let both =
        |style| Webhooks::with_paths(style).register(otters()).register(Webhook::<SeaOtter>::new().validator(rules));
    let path = "/validate/v1otter".to_owned();
    let taken = WebhooksError::PathTaken { path, first: "Otter".into(), second: "Otter".into() };
    assert_eq!(both(PathStyle::KubeOps).check(), Err(taken));
    assert_eq!(both(PathStyle::Kubebuilder).check(), Ok(()));
}

#[test]
fn a_conversion_at_the_path_of_a_webhook_is_refused() {
    let style = PathStyle::Own(|subject| match subject.review {
        Review::Mutate => "/mutate".into(),
        Review::Validate | Review::Convert => "/otters".into(),
    });
    let taken = WebhooksError::PathTaken { path: "/otters".into(), first: "Otter".into(), second: "conversion".into() };
    assert_eq!(Webhooks::with_paths(style).register(otters()).check(), Err(taken));
}

#[test]
fn an_own_style_says_what_api_servers_take() {
    let webhook = || Webhook::<SeaOtter>::new().validator(rules);
    let check = |style| Webhooks::with_paths(style).register(webhook()).check();
    assert_eq!(check(PathStyle::Own(|subject| format!("/hooks/{}", subject.plural))), Ok(()));
    for (style, path) in [
        (PathStyle::Own(|subject| subject.plural.to_owned()), "otters"),
        (PathStyle::Own(|subject| format!("/{}", subject.kind.kind)), "/Otter"),
        (PathStyle::Own(|_| String::new()), ""),
    ] {
        let bad = WebhooksError::BadPath { path: path.into(), kind: "Otter".into() };
        assert_eq!(check(style), Err(bad));
    }
}

#[test]
fn a_conversion_stands_at_a_path_that_api_servers_take() {
    let style = PathStyle::Own(|subject| match subject.review {
        Review::Convert => "/convert/../x".into(),
        Review::Validate | Review::Mutate => format!("/{}", subject.review.as_str()),
    });
    let bad = WebhooksError::BadPath { path: "/convert/../x".into(), kind: "conversion".into() };
    assert_eq!(Webhooks::with_paths(style).register(otters()).check(), Err(bad));
}

#[test]
fn a_style_knows_the_resource_of_a_subresource() {
    let kind = Webhook::<SeaOtter>::new().subresource_of::<Otter>("status").validator(rules);
    let style = PathStyle::Own(|subject| {
        let of = subject.kind == &GroupVersionKind::of("zoo.example.org/v1", "Otter");
        format!("/{of}/{}/{}", subject.plural, subject.subresource.unwrap_or("none"))
    });
    let webhooks = Webhooks::with_paths(style).register(kind);
    assert_eq!(served(&webhooks), [("/true/otters/status", Review::Validate)]);
}
