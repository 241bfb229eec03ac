//! Handlers that take what the operator has given its webhooks.

use gateward_core::{Operation, Request, State, Verdict, Webhook, Webhooks};
use serde_json::json;

use crate::zoo::{MUTATE, OldOtter, Otter, OtterConversion, VALIDATE, ask, created, old_otter, otter};

/// The rivers of a zoo.
#[derive(Clone)]
struct Rivers(Vec<&'static str>);

fn rivers() -> Rivers {
    Rivers(vec!["Wye", "Usk"])
}

fn known(new: &Otter, _: &Request, State(rivers): State<Rivers>) -> Verdict {
    match &new.spec.river {
        Some(river) if !rivers.0.contains(&river.as_str()) => Verdict::deny("nobody knows that river"),
        _ => Verdict::allow(),
    }
}

async fn known_in_time(new: &Otter, request: &Request, state: State<Rivers>) -> Verdict {
    std::future::ready(()).await;
    known(new, request, state)
}

fn in_the_first(mut otter: Otter, _: &Request, State(rivers): State<Rivers>) -> Otter {
    otter.spec.river.get_or_insert_with(|| rivers.0[0].into());
    otter
}

async fn in_the_first_in_time(otter: Otter, request: &Request, state: State<Rivers>) -> Otter {
    std::future::ready(()).await;
    in_the_first(otter, request, state)
}

fn named(new: &Otter, _: &Request) -> Verdict {
    if new.spec.name.is_empty() { Verdict::deny("an otter has a name") } else { Verdict::allow() }
}

fn is_allowed(kind: Webhook<Otter, impl Sized>, otter_spec: serde_json::Value) -> bool {
    ask(&Webhooks::new().register(kind), VALIDATE, &created(otter(otter_spec))).is_allowed()
}

fn stateful() -> Webhook<Otter, Rivers> {
    Webhook::new().with_state(rivers())
}

#[test]
fn each_form_of_a_validator_gets_the_state_of_its_webhook() {
    let forms: [fn() -> Webhook<Otter, Rivers>; 4] = [
        || stateful().validator(known),
        || stateful().validator(known_in_time),
        || stateful().validator(|new: &Otter, request: &Request, state: State<Rivers>| known(new, request, state)),
        || {
            stateful().validator(async |new: &Otter, request: &Request, state: State<Rivers>| {
                known_in_time(new, request, state).await
            })
        },
    ];
    for form in forms {
        assert!(is_allowed(form(), json!({"river": "Usk"})));
        assert!(!is_allowed(form(), json!({"river": "Wey"})));
    }
}

#[test]
fn each_form_of_a_defaulter_gets_the_state_of_its_webhook() {
    let kinds = [
        stateful().defaulter(in_the_first),
        stateful().defaulter(in_the_first_in_time),
        stateful()
            .defaulter(|otter: Otter, request: &Request, state: State<Rivers>| in_the_first(otter, request, state)),
    ];
    for kind in kinds {
        let webhooks = Webhooks::new().register(kind);
        let found = gateward_core::testing::TestRequest::of(&webhooks).default(&otter(json!({"pups": 1})));
        assert_eq!(found.patched()["spec"]["river"], "Wye");
    }
}

#[test]
fn a_handler_without_a_state_stands_beside_one_with_it() {
    let kind = || Webhook::new().validator(named).with_state(rivers()).validator(known).validator(named);
    assert!(is_allowed(kind(), json!({"name": "Otto", "river": "Wye"})));
    assert!(!is_allowed(kind(), json!({"river": "Wye"})));
    assert!(!is_allowed(kind(), json!({"name": "Otto", "river": "Wey"})));
}

#[test]
fn a_further_state_is_that_of_the_handlers_below_it() {
    fn few(new: &Otter, _: &Request, State(most): State<u8>) -> Verdict {
        if new.spec.pups > Some(most) { Verdict::deny("too many") } else { Verdict::allow() }
    }
    let kind = || stateful().validator(known).with_state(3_u8).validator(few).with_state(rivers());
    assert!(is_allowed(kind(), json!({"river": "Wye", "pups": 3})));
    assert!(!is_allowed(kind(), json!({"river": "Wye", "pups": 4})));
    assert!(!is_allowed(kind(), json!({"river": "Wey", "pups": 3})));
}

#[test]
fn an_entry_has_a_state_of_its_own() {
    let entry = stateful().validator(known).on([Operation::Create]);
    let webhooks = Webhooks::new().register(Webhook::new().validator(named).entry("rivers", entry));
    let at = |path| ask(&webhooks, path, &created(otter(json!({"name": "Otto", "river": "Wey"})))).is_allowed();
    assert!(at(VALIDATE));
    assert!(!at("/validate-zoo-example-org-v1-otter-rivers"));
}

#[test]
fn handlers_of_a_version_get_the_state_too() {
    fn known_of_old(new: &OldOtter, _: &Request, State(rivers): State<Rivers>) -> Verdict {
        match &new.spec.river {
            Some(river) if rivers.0.contains(&river.as_str()) => Verdict::allow(),
            _ => Verdict::deny("nobody knows that river"),
        }
    }
    fn old_in_the_first(mut old: OldOtter, _: &Request, State(rivers): State<Rivers>) -> OldOtter {
        old.spec.river.get_or_insert_with(|| rivers.0[0].into());
        old
    }
    let kind = stateful().spoke(OtterConversion).validator_for(known_of_old).defaulter_for(old_in_the_first);
    let webhooks = Webhooks::new().register(kind);
    let judged = |river: &str| ask(&webhooks, VALIDATE, &created(old_otter(json!({"river": river})))).is_allowed();
    assert!(judged("Usk") && !judged("Wey"));
    assert!(ask(&webhooks, MUTATE, &created(old_otter(json!({})))).response()["patch"].is_string());
}
