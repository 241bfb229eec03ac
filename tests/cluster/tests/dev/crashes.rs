//! A process that ends before or after each of its writes, and the next one.

use cluster_tests::{Sandbox, Test, tests};
use serde_json::json;

use crate::laptop::{Laptop, USUAL};
use crate::snapshot::{crd, snapshot};
use crate::world::World;

pub fn tests() -> Vec<Test> {
    tests![after_a_crash_at_each_step_the_next_start_puts_the_cluster_back]
}

const WORLD: World = World::LAGOON;

/// All objects that a process writes, in the order in which it writes them.
const TAKEN: [&str; 5] =
    [PROBE, "otters.lagoon.example.org", "lodges.lagoon.example.org", "lagoon-dev-validating", "lagoon-dev-mutating"];
/// This one is put back at once.
const PROBE: &str = "lagoon-dev-probe";

/// All places at which a process may end.
fn places() -> Vec<String> {
    let writes = TAKEN.iter().flat_map(|name| [format!("take-{name}"), format!("put-back-{name}")]);
    let writes = ["lease".to_owned()].into_iter().chain(writes);
    writes.flat_map(|write| ["before", "after"].map(|side| format!("{side}:{write}"))).collect()
}

async fn after_a_crash_at_each_step_the_next_start_puts_the_cluster_back(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let (mut laptop, before) = Laptop::beside_otters(&sandbox, WORLD).await;
    for place in places() {
        laptop.fails_at(&place);
        let mut running = laptop.starts(&[&USUAL[..], &["--take-over"]].concat());
        if place.contains("put-back") && !place.ends_with(PROBE) {
            running.is_serving().await;
            running.gets("INT");
        }
        let ended = running.ends().await;
        assert!(laptop.has_failed(), "{place}: {ended:?}");
        assert_eq!(ended.code, None, "{place}: {ended:?}");

        // One that begins in this state ends in the first; `--restore` once, since a start does all that it does.
        if place == "after:lease" {
            laptop.runs(&["--context", "bed", "--restore", "--take-over"]).await.well();
        } else {
            let next = laptop.serves(&[&USUAL[..], &["--take-over"]].concat()).await;
            next.interrupted().await.well();
        }
        assert_eq!(snapshot(bed, WORLD).await, before, "{place}");
    }
    // A start does the same before it begins its own work.
    laptop.fails_at("after:take-lagoon-dev-mutating");
    let ended = laptop.runs(&[&USUAL[..], &["--take-over"]].concat()).await;
    assert_eq!(ended.code, None, "{ended:?}");
    let next = laptop.serves(&[&USUAL[..], &["--take-over"]].concat()).await;
    let record = crd(bed, WORLD, "otters").await["metadata"]["annotations"]["lagoon.example.org/dev"].take();
    let record: serde_json::Value = serde_json::from_str(record.as_str().unwrap()).unwrap();
    assert_eq!(record["before"]["conversion"]["stanza"], json!({"strategy": "None"}), "it is not the crashed one's");
    next.interrupted().await.well();
    assert_eq!(snapshot(bed, WORLD).await, before);
}
