//! Handlers that wait for something, in tests that run in a runtime.

use std::time::Duration;

use gateward::prelude::*;
use gateward::testing::TestRequest;
use gateward::testing::asynchronous::{accepted, rejected};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
struct Otter {
    fish: i64,
}

resource!(Otter, "zoo.example/v1", "Otter", "otters");

/// Asks a keeper, who takes a moment.
async fn slow(new: &Otter, _: &Request) -> Verdict {
    tokio::time::sleep(Duration::from_millis(20)).await;
    judge(new)
}

/// Lets others go first.
async fn polite(new: &Otter, _: &Request) -> Verdict {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    judge(new)
}

fn judge(new: &Otter) -> Verdict {
    if new.fish > 0 { Verdict::allow() } else { Verdict::deny("an otter needs fish") }
}

fn slow_otters() -> Webhooks {
    Webhooks::new().register(Webhook::<Otter>::new().validator(slow))
}

fn otter(fish: i64) -> Value {
    json!({"apiVersion": "zoo.example/v1", "kind": "Otter", "metadata": {"name": "a"}, "fish": fish})
}

#[tokio::test]
async fn a_handler_that_sleeps_is_awaited() {
    let webhooks = slow_otters();
    let request = TestRequest::of(&webhooks).asynchronous();
    request.create(&otter(1)).await.assert_allowed();
    request.update(&otter(1), &otter(0)).await.assert_denied();
    accepted(slow, &Otter { fish: 1 }).await;
    rejected(slow, &Otter { fish: 0 }).await;
}

#[tokio::test]
async fn a_handler_that_gives_way_is_judged_in_both_forms() {
    accepted(polite, &Otter { fish: 1 }).await;
    gateward::testing::accepted(polite, &Otter { fish: 1 });
    gateward::testing::rejected(polite, &Otter { fish: 0 });
}

#[tokio::test]
#[should_panic(expected = "TestRequest::of(…).asynchronous()")]
async fn a_request_that_blocks_its_own_runtime_says_what_to_call_instead() {
    TestRequest::of(&slow_otters()).create(&otter(1));
}

/// Another thread of the runtime keeps its time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_blocks_one_thread_of_several_is_answered() {
    TestRequest::of(&slow_otters()).create(&otter(1)).assert_allowed();
}

#[tokio::test]
#[should_panic(expected = "asynchronous.rs:")]
async fn what_was_demanded_in_vain_says_where() {
    rejected(slow, &Otter { fish: 1 }).await;
}
