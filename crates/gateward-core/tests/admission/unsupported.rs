//! Operations without a handler.

use gateward_core::{Outcome, Request, Skip, Validator, Verdict, Webhook, Webhooks, handler};
use serde_json::{Value, json};

use crate::hostile::river;
use crate::zoo::{MUTATE, Otter, Reply, VALIDATE, ask, ask_knowing, deleted, otter, review};

fn allow(_: &Otter, _: &Request) -> Verdict {
    Verdict::allow()
}

fn zoo() -> Webhooks {
    Webhooks::new().register(Webhook::<Otter>::new().validator(allow).defaulter(river))
}

fn doing(operation: &str) -> Value {
    review(operation, otter(json!({})), Value::Null)
}

fn assert_refused(reply: &Reply, operation: &str) {
    assert_eq!((reply.status, reply.is_allowed()), (200, false), "{}", reply.body);
    assert_eq!(reply.response()["uid"], "705ab4f5-6393-11e8-b7cc-42010a800002");
    let status = &reply.response()["status"];
    assert_eq!(status["code"], 422);
    assert_eq!(status["message"], format!("the operation {operation} is not supported"));
    assert!(reply.response().get("patch").is_none());
}

#[test]
fn an_undeclared_connect_is_denied_with_422() {
    for path in [VALIDATE, MUTATE] {
        assert_refused(&ask(&zoo(), path, &review("CONNECT", Value::Null, Value::Null)), "CONNECT");
    }
}

#[test]
fn an_operation_that_there_is_not_is_refused_with_422() {
    for operation in ["create", "PATCH", "", "Create"] {
        for path in [VALIDATE, MUTATE] {
            assert_refused(&ask(&zoo(), path, &doing(operation)), operation);
        }
    }
}

#[test]
fn the_refusal_does_not_grow_with_the_name_of_the_operation() {
    let reply = ask(&zoo(), VALIDATE, &doing(&"x".repeat(100_000)));
    assert!(reply.body.to_string().len() < 500, "{}", reply.body);
}

/// Nobody may talk to an otter that is asleep.
struct Asleep;

#[handler]
impl Validator<Otter> for Asleep {
    async fn connect(&self, options: &Otter, _: &Request) -> Result<(), Verdict> {
        if options.spec.name.is_empty() { Err(Verdict::deny("it is asleep")) } else { Ok(()) }
    }
}

#[test]
fn a_connection_is_judged_by_its_options_where_a_handler_does() {
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(Asleep));
    let connect = |options| ask(&webhooks, VALIDATE, &review("CONNECT", options, Value::Null));
    assert_eq!(connect(otter(json!({"name": "otto"}))).record.outcome, Outcome::Allowed);
    assert_eq!(connect(otter(json!({}))).response()["status"]["message"], "it is asleep");
    assert_eq!(connect(Value::Null).status, 400);
}

#[test]
fn an_undeclared_delete_is_allowed() {
    for path in [VALIDATE, MUTATE] {
        let reply = ask(&zoo(), path, &deleted(otter(json!({}))));
        assert_eq!((reply.is_allowed(), reply.record.outcome), (true, Outcome::Skipped(Skip::NoHandler)));
    }
}

#[test]
fn what_another_operator_has_claimed_passes_whatever_is_done() {
    struct Claimed;
    impl gateward_core::Facts for Claimed {
        fn claims<'a>(&'a self, _: &'a gateward_core::ReviewSubject<'a>) -> gateward_core::BoxFuture<'a, bool> {
            Box::pin(std::future::ready(true))
        }
    }
    for operation in ["CONNECT", "PATCH"] {
        assert!(ask_knowing(&zoo(), Claimed, VALIDATE, &doing(operation)).is_allowed());
    }
}
