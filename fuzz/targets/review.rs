//! Any bytes, sent to every webhook of the Dynamo Operator.
//!
//! No panic; an answered review carries the uid of its request; no validating answer holds a patch; a patch fits the
//! object that was sent, and an object that was defaulted is not defaulted again.
#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use dynamo_webhooks::ClusterFacts;
use gateward_core::testing::block_on;
use gateward_core::{Context, Review, ReviewResponse, Webhooks};
use gateward_fuzz::mutation::mutate_json;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::Value;

static WEBHOOKS: LazyLock<Webhooks> = LazyLock::new(dynamo_webhooks::webhooks);
/// Two clusters: one as the rule books assume it, and one of which nothing is known.
static CONTEXTS: LazyLock<[Context; 2]> = LazyLock::new(|| {
    [ClusterFacts::default(), ClusterFacts::unknown()]
        .map(|facts| Context::new(SystemTime::UNIX_EPOCH, Arc::new(facts)))
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let as_json = (!seed.is_multiple_of(8)).then(|| mutate_json(data, size, max_size, seed)).flatten();
    as_json.unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});

fuzz_target!(|body: &[u8]| {
    let context = &CONTEXTS[body.len() % 2];
    for (path, review) in WEBHOOKS.paths() {
        let answer = block_on(WEBHOOKS.handle(path, body, context));
        if answer.status == 200 {
            assert_sound(review, body, &answer);
            assert_settled(path, body, context, &answer);
        } else {
            let error: Value = serde_json::from_slice(&answer.body).expect("an error is a Status");
            assert_eq!(error["code"], answer.status);
        }
    }
});

/// What the API server checks in an answer.
fn assert_sound(review: Review, body: &[u8], answer: &ReviewResponse) {
    let asked: Value = serde_json::from_slice(body).unwrap_or_default();
    let answered: Value = serde_json::from_slice(&answer.body).expect("an answer is JSON");
    let response = &answered["response"];
    assert_eq!(response["uid"], answer.decision.uid);
    // The body may hold what serde_json's tree can't: then the record has to do.
    if !asked.is_null() {
        assert_eq!(answer.decision.uid, asked["request"]["uid"].as_str().unwrap_or_default());
    }
    assert_eq!(response.get("patch").is_some(), response.get("patchType").is_some());
    assert!(review == Review::Mutate || response.get("patch").is_none(), "a validating answer holds a patch");
    assert!(response["allowed"] == true || response["status"]["code"].as_u64() >= Some(400));
}

/// Defaults are set once.
fn assert_settled(path: &str, body: &[u8], context: &Context, answer: &ReviewResponse) {
    if answer.decision.patch.is_empty() {
        return;
    }
    // A number that no tree holds may stand where no type looks; no API server reads such a body.
    let Ok(mut review) = serde_json::from_slice::<Value>(body) else { return };
    answer.decision.patch.apply(&mut review["request"]["object"]).expect("the patch fits the object");
    let again = block_on(WEBHOOKS.handle(path, review.to_string().as_bytes(), context));
    assert!(
        again.decision.patch.is_empty(),
        "defaulted twice: {:?} and then {:?}",
        answer.decision.patch,
        again.decision.patch
    );
}
