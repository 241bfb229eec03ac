//! Whatever comes in: no panic, and an answered review always carries the uid of its request.

use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use gateward_core::testing::block_on;
use gateward_core::{Context, FieldPath, Issues, Request, Rule, UPDATE, Verdict, Webhook, Webhooks};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::zoo::{MUTATE, Otter, OtterConversion, VALIDATE, created, old_otter, otter, updated};

static ZOO: LazyLock<Webhooks> = LazyLock::new(|| {
    Webhooks::new().register(Webhook::<Otter>::new().spoke(OtterConversion).validator(rules).defaulter(river))
});

const RULE: Rule = Rule { id: "OTTER-04", ..Rule::on(UPDATE) };

fn rules(otter: &Otter, _: &Request) -> Verdict {
    let at = FieldPath::field("spec") / "tools";
    otter
        .spec
        .tools
        .iter()
        .enumerate()
        .map(|(i, tool)| RULE.invalid(at.index(i), tool.name.as_str()))
        .collect::<Issues>()
        .into()
}

pub fn river(mut otter: Otter, _: &Request) -> Otter {
    otter.spec.river.get_or_insert_default();
    otter
}

/// The answer's status and body, which is JSON whatever was asked.
fn answer(path: &str, body: &[u8]) -> (u16, Value) {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    let answer = block_on(ZOO.handle(path, body, &context));
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

/// What the API server checks in an answer, which it gets whatever was asked.
fn assert_sound(path: &str, body: &[u8]) {
    let (status, answer) = answer(path, body);
    if status != 200 {
        assert_eq!((&answer["kind"], &answer["code"]), (&json!("Status"), &json!(status)));
        return;
    }
    let asked: Value = serde_json::from_slice(body).unwrap();
    let response = &answer["response"];
    assert_eq!(response["uid"], asked["request"]["uid"].as_str().unwrap_or_default());
    assert_eq!(answer["apiVersion"], asked["apiVersion"]);
    assert_eq!(response.get("patch").is_some(), response.get("patchType").is_some());
    assert!(path == MUTATE || response.get("patch").is_none());
    assert!(response["allowed"] == true || response["status"]["code"].as_u64() >= Some(400));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let name = || prop_oneof![Just("name"), Just("pups"), Just("river"), Just("tools"), Just("metadata"), Just("x")];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4).prop_map(|members| members
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

/// A review whose every part may be something else.
fn strange_review() -> impl Strategy<Value = Value> {
    let part = prop_oneof![
        Just("/apiVersion"),
        Just("/request/uid"),
        Just("/request/kind/version"),
        Just("/request/operation"),
        Just("/request/name"),
        Just("/request/userInfo"),
        Just("/request/dryRun"),
        Just("/request/object"),
        Just("/request/object/metadata"),
        Just("/request/oldObject"),
        Just("/request/object/spec"),
    ];
    (any_json(), any_json(), any::<bool>(), proptest::option::of((part, any_json()))).prop_map(
        |(new, old, written_anew, change)| {
            let write = if written_anew { otter } else { old_otter };
            let mut review = updated(write(old), write(new));
            if let Some((pointer, value)) = change {
                review.pointer_mut(pointer).into_iter().for_each(|node| *node = value.clone());
            }
            review
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_sound(VALIDATE, &bytes);
        assert_sound(MUTATE, &bytes);
    }

    #[test]
    fn a_review_with_strange_parts_gets_a_sound_answer(review in strange_review()) {
        let body = review.to_string();
        assert_sound(VALIDATE, body.as_bytes());
        assert_sound(MUTATE, body.as_bytes());
    }

    #[test]
    fn a_review_with_strange_bytes_gets_a_sound_answer(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut body = created(otter(json!({"tools": [{"name": "flint"}]}))).to_string().into_bytes();
        let index = at.index(body.len());
        body[index] = byte;
        assert_sound(VALIDATE, &body);
        assert_sound(MUTATE, &body);
    }
}

#[test]
fn an_answer_does_not_grow_with_the_names_in_the_object() {
    let tools: Vec<Value> = (0..3000).map(|index| json!({"name": format!("{index}{}", "x".repeat(1000))})).collect();
    let body = created(otter(json!({"tools": tools}))).to_string();
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    let answer = block_on(ZOO.handle(VALIDATE, body.as_bytes(), &context));
    assert!(body.len() > 3_000_000 && answer.body.len() < 300_000, "{}", answer.body.len());
}
