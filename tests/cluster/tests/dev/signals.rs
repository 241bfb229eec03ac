//! What a process is told from outside: that its terminal is gone, that it is to end, or nothing at all.

use std::time::Duration;

use cluster_tests::{Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::laptop::{Laptop, USUAL};
use crate::snapshot::{crd, snapshot};
use crate::world::World;

pub fn tests() -> Vec<Test> {
    tests![
        a_terminal_that_is_closed_puts_the_cluster_back,
        a_start_after_a_kill_puts_back_what_was_left,
        a_signal_at_any_moment_of_the_start_leaves_the_cluster_as_it_was,
    ]
}

async fn a_terminal_that_is_closed_puts_the_cluster_back(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::MARSH);
    let (mut laptop, before) = Laptop::beside_otters(&sandbox, world).await;
    let running = laptop.serves(&USUAL).await;
    running.gets("HUP");
    let printed = running.ends().await.well();
    assert!(printed.contains("CustomResourceDefinition otters.marsh.example.org: as before\n"), "{printed}");
    assert_eq!(snapshot(bed, world).await, before);
}

async fn a_start_after_a_kill_puts_back_what_was_left(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::POND);
    let (mut laptop, before) = Laptop::killed(&sandbox, world).await;

    // It waits for the lease of the one that is gone; nobody has to say --take-over.
    let next = laptop.serves(&USUAL).await;
    let record = crd(bed, world, "otters").await["metadata"]["annotations"]["pond.example.org/dev"].take();
    let record: Value = serde_json::from_str(record.as_str().unwrap()).unwrap();
    assert_eq!(record["before"]["conversion"]["stanza"], json!({"strategy": "None"}), "it is not the killed one's");
    next.interrupted().await.well();
    assert_eq!(snapshot(bed, world).await, before);
}

/// Before it listens to signals it has changed nothing but its lease, and ends at once.
async fn a_signal_at_any_moment_of_the_start_leaves_the_cluster_as_it_was(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::RAPIDS);
    let (mut laptop, before) = Laptop::beside_otters(&sandbox, world).await;
    for (moment, signal) in (0..16).zip(["TERM", "HUP"].into_iter().cycle()) {
        let running = laptop.starts(&[&USUAL[..], &["--take-over"]].concat());
        tokio::time::sleep(Duration::from_millis(moment * 25)).await;
        running.gets(signal);
        let ended = running.ends().await;
        assert!(matches!(ended.code, Some(0) | None), "{moment}: {ended:?}");
        let mut after = snapshot(bed, world).await;
        if ended.code.is_none() {
            after.retain(|(_, name), _| name != "rapids-dev");
        }
        assert_eq!(after, before, "{moment}: {ended:?}");
    }
}
