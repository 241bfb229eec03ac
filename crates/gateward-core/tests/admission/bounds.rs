//! What a small body may not become: a large tree.

use std::borrow::Cow;

use gateward_core::{
    ALLOWANCE_BASE, BOUND_FACTOR, Bound, Raw, Request, Resource, Scope, Validator, Verdict, Webhook, Webhooks, handler,
    resource,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::zoo::{MUTATE, Otter, Reply, VALIDATE, ask, created, judged_by, otter, updated};

/// Otters that have at most five tools and three friends each.
#[derive(Serialize, Deserialize)]
struct Bounded {
    #[serde(default)]
    spec: BoundedSpec,
}

#[derive(Default, Serialize, Deserialize)]
struct BoundedSpec {
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    holts: std::collections::BTreeMap<String, Vec<u8>>,
    #[serde(default)]
    river: Option<String>,
}

impl Resource for Bounded {
    fn group() -> Cow<'static, str> {
        "zoo.example.org".into()
    }

    fn version() -> Cow<'static, str> {
        "v1".into()
    }

    fn kind() -> Cow<'static, str> {
        "Otter".into()
    }

    fn plural() -> Cow<'static, str> {
        "otters".into()
    }

    fn scope() -> Scope {
        Scope::Namespaced
    }

    fn bounds() -> &'static [Bound] {
        &[
            Bound { path: &["spec", "tools"], most: 5 },
            Bound { path: &["spec", "holts"], most: 2 },
            Bound { path: &["spec", "holts", "*"], most: 3 },
        ]
    }
}

/// Refuses every otter, and one whose tools have changed twice.
struct Refusing;

#[handler]
impl Validator<Bounded> for Refusing {
    async fn create(&self, _: &Bounded, _: &Request) -> Verdict {
        Verdict::deny("no otters here")
    }

    async fn update(&self, old: &Bounded, new: &Bounded, _: &Request) -> Verdict {
        if old.spec.tools == new.spec.tools { Verdict::allow() } else { Verdict::deny("tools stay") }
    }
}

fn nothing(otter: Bounded, _: &Request) -> Bounded {
    otter
}

fn bounded() -> Webhooks {
    Webhooks::new().register(Webhook::<Bounded>::new().validator(Refusing).defaulter(nothing))
}

fn message(reply: &Reply) -> &str {
    reply.response()["status"]["message"].as_str().unwrap_or_default()
}

#[test]
fn a_list_far_beyond_its_bound_is_the_only_finding() {
    let most = 5 * BOUND_FACTOR;
    let spec = |count: usize| json!({"tools": vec![json!({}); count], "river": 5});
    for path in [VALIDATE, MUTATE] {
        let reply = ask(&bounded(), path, &created(otter(spec(most + 1))));
        assert_eq!((reply.fields(), reply.record.rules()), (vec!["spec.tools"], vec!["DECODE"]));
        assert!(
            message(&reply).ends_with("spec.tools: Too many: 21: must have at most 5 items"),
            "{}",
            message(&reply)
        );
    }
    assert_eq!(ask(&bounded(), VALIDATE, &created(otter(spec(most)))).fields(), ["spec.river"]);
}

#[test]
fn a_list_a_little_beyond_its_bound_is_left_to_rules_and_schema() {
    let reply = ask(&bounded(), VALIDATE, &created(otter(json!({"tools": vec![1; 5 * BOUND_FACTOR]}))));
    assert_eq!(message(&reply), "no otters here");
}

#[test]
fn maps_have_bounds_and_so_has_each_of_their_members() {
    let holts = |count: usize, beds: usize| {
        let holts: serde_json::Map<String, Value> =
            (0..count).map(|number| (format!("h{number}"), vec![1; beds].into())).collect();
        ask(&bounded(), VALIDATE, &created(otter(json!({"holts": holts}))))
    };
    assert_eq!(message(&holts(8, 12)), "no otters here");
    assert!(message(&holts(9, 1)).ends_with("spec.holts: Too many: 9: must have at most 2 items"));
    assert!(message(&holts(1, 13)).ends_with("spec.holts.h0: Too many: 13: must have at most 3 items"));
}

#[test]
fn a_stored_list_far_beyond_its_bound_is_read_and_judged() {
    let stored = json!({"tools": vec![json!({"name": "the flint of the eldest otter"}); 1000]});
    let ask = |new: Value| ask(&bounded(), VALIDATE, &updated(otter(stored.clone()), otter(new)));
    let reply = ask(json!({"tools": [1]}));
    assert_eq!(message(&reply), "tools stay");
    assert_eq!(reply.response()["warnings"], Value::Null);
    // What is new has its bound, whatever is stored.
    assert_eq!(ask(stored.clone()).fields(), ["spec.tools"]);
}

#[test]
fn a_stored_list_far_beyond_its_bound_is_read_beside_a_field_that_can_not_be() {
    let (old, new) = (
        json!({"tools": vec![json!({"name": "the flint of the eldest otter"}); 1000], "river": 5}),
        json!({"tools": [1]}),
    );
    let reply = ask(&bounded(), VALIDATE, &updated(otter(old), otter(new)));
    assert_eq!(message(&reply), "tools stay");
    let warnings = reply.response()["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].as_str().unwrap().starts_with("spec.river of the stored object"));
}

#[test]
fn lists_without_a_bound_end_where_the_memory_does() {
    let count = ALLOWANCE_BASE;
    let tools = json!({"name": "otto", "tools": vec![json!({"name": ""}); count / 16]});
    let reply = ask(&judged_by(|_, _| Verdict::allow()), VALIDATE, &created(otter(tools)));
    assert_eq!(reply.fields(), ["spec.tools"]);
    assert!(message(&reply).contains(&format!("Too many: {}: must have at most ", count / 16)), "{}", message(&reply));
}

#[test]
fn thousands_of_items_are_no_burden() {
    let tools = json!({"tools": vec![json!({"name": "flint"}); 20_000]});
    assert!(ask(&judged_by(|_, _| Verdict::allow()), VALIDATE, &created(otter(tools))).is_allowed());
}

#[test]
fn a_message_does_not_grow_with_what_it_is_about() {
    let long = "\u{1f9a6}".repeat(1_000_000);
    for spec in [json!({"pups": long}), json!({"tools": long}), json!({"tools": [long]}), json!({"name": [long]})] {
        let reply = ask(&judged_by(|_: &Otter, _| Verdict::allow()), VALIDATE, &created(otter(spec)));
        assert!(message(&reply).len() < 500, "{}", message(&reply).len());
        assert_eq!(reply.record.rules(), ["DECODE"]);
    }
}

/// An otter whose holt is looked at by a rule only.
#[derive(Serialize, Deserialize)]
struct Housed {
    #[serde(default)]
    spec: Housing,
}

#[derive(Default, Serialize, Deserialize)]
struct Housing {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    holt: Option<Raw<Vec<String>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bed: Option<Raw<Value>>,
}

resource!(Housed, "zoo.example.org/v1", "Otter", "otters");

/// Allows whatever it can't read.
fn careless(otter: &Housed, _: &Request) -> Verdict {
    let holt = otter.spec.holt.as_ref().and_then(|holt| holt.view().ok());
    let bed = otter.spec.bed.as_ref().map(Raw::to_value);
    if holt.is_some_and(|holt| holt.iter().any(|bed| bed == "lava")) || bed == Some("lava".into()) {
        return Verdict::deny("no otter sleeps in lava");
    }
    Verdict::allow()
}

#[test]
fn what_a_rule_could_not_see_whole_is_denied() {
    let webhooks = Webhooks::new().register(Webhook::<Housed>::new().validator(careless));
    let ask = |spec: Value| ask(&webhooks, VALIDATE, &created(otter(spec)));
    assert!(ask(json!({"holt": vec!["reed"; 1000], "bed": {"of": "reed"}})).is_allowed());
    let (holt, bed) = (vec!["lava"; 200_000], vec![json!({"of": "lava"}); 200_000]);
    for reply in [ask(json!({"holt": holt})), ask(json!({"bed": bed}))] {
        assert_eq!((reply.is_allowed(), reply.record.rules()), (false, vec!["DECODE"]), "{}", reply.body);
        assert!(message(&reply).contains("too long to be judged"));
    }
}
