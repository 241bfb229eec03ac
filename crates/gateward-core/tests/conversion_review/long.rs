//! Long lists: another thread helps, and nobody can tell from the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use gateward_core::{ReviewResponse, SpareThread};
use serde_json::{Value, json};

use crate::shop::{answer, answer_in, body, context, shop};

/// A thread that is always free. It counts how often it was asked for.
#[derive(Default)]
struct Free(AtomicUsize);

impl SpareThread for Free {
    fn join(&self, own: &mut dyn FnMut(), other: &mut (dyn FnMut() + Send)) {
        self.0.fetch_add(1, Ordering::Relaxed);
        thread::scope(|scope| {
            scope.spawn(other);
            own();
        });
    }
}

/// The answer with another thread, and how often that helped.
fn shared(body: &str) -> (ReviewResponse, usize) {
    let free = Arc::new(Free::default());
    let answer = answer_in(body.as_bytes(), &context().spare_thread(Arc::<Free>::clone(&free)));
    (answer, free.0.load(Ordering::Relaxed))
}

/// Shops of about a kilobyte, each of its own.
fn shops(count: usize) -> Vec<Value> {
    let note = "x".repeat(1_000);
    (0..count).map(|index| shop("v1", json!({"boxes": {format!("b{index}"): {}}, "note": note}))).collect()
}

#[test]
fn a_list_is_the_same_whoever_converts_it() {
    for (count, helped) in [(0, 0), (1, 0), (20, 0), (100, 1), (1_000, 5)] {
        let mut objects = shops(count);
        if let Some(incomplete) = objects.get_mut(count.saturating_sub(7)) {
            incomplete["spec"]["boxes"] = json!({"a": 5});
        }
        let body = body(&objects, "v3");
        let (alone, (together, asked)) = (answer(body.as_bytes()), shared(&body));
        assert_eq!(asked, helped, "{count} objects");
        assert_eq!(String::from_utf8(together.body).unwrap(), String::from_utf8(alone.body).unwrap());
        assert_eq!(together.decision.outcome, alone.decision.outcome);
        assert_eq!(together.decision.issues, alone.decision.issues);
    }
}

#[test]
fn the_first_object_that_cannot_be_converted_is_named_whoever_meets_it() {
    for bad in [&[5, 170][..], &[170, 5], &[170], &[290], &[299]] {
        let mut objects = shops(300);
        for &index in bad {
            objects[index]["spec"]["owner"] = json!("nobody");
        }
        let body = body(&objects, "v3");
        let (alone, (together, _)) = (answer(body.as_bytes()), shared(&body));
        let first = bad.iter().min().unwrap();
        assert!(String::from_utf8_lossy(&together.body).contains(&format!("objects[{first}] (")), "{bad:?}");
        assert_eq!(together.body, alone.body);
        assert_eq!(together.decision.outcome, alone.decision.outcome);
    }
}

#[test]
fn a_large_object_is_converted_while_nothing_else_is() {
    let large = shop("v1", json!({"boxes": {}, "note": "x".repeat(1_000_000)}));
    let objects = [large.clone(), large.clone(), shops(1).remove(0), large];
    assert_eq!(shared(&body(&objects, "v3")).1, 0);
}
