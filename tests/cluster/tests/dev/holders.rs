//! Two machines and one cluster.

use cluster_tests::{Sandbox, Test, tests};

use crate::laptop::{Laptop, USUAL};
use crate::snapshot::snapshot;
use crate::world::World;

pub fn tests() -> Vec<Test> {
    tests![a_second_laptop_waits_for_a_word, a_killed_laptop_is_followed_once_its_lease_has_expired]
}

async fn a_second_laptop_waits_for_a_word(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::FJORD);
    let (mut laptop, before) = Laptop::beside_otters(&sandbox, world).await;
    let first = laptop.serves(&USUAL).await;
    let during = snapshot(bed, world).await;

    for arguments in [&USUAL[..], &["--context", "bed", "--restore"]] {
        let ended = laptop.runs(arguments).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended.stderr.contains("develops against this cluster") && ended.stderr.contains("--take-over"),
            "{ended:?}"
        );
    }
    let leads = |snapshot: crate::snapshot::Snapshot| {
        snapshot.into_iter().filter(|((_, name), _)| name != "fjord-dev").collect::<Vec<_>>()
    };
    assert_eq!(leads(snapshot(bed, world).await), leads(during), "nothing but the lease is written");

    let second = laptop.serves(&[&USUAL[..], &["--take-over"]].concat()).await;
    let ended = first.ends().await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("has taken over"), "{ended:?}");
    let url =
        crate::snapshot::crd(bed, world, "otters").await["spec"]["conversion"]["webhook"]["clientConfig"]["url"].take();
    assert_eq!(url, format!("{}/convert", second.origin()), "the first has put nothing back that is the second's");
    second.interrupted().await.well();
    assert_eq!(snapshot(bed, world).await, before);
}

async fn a_killed_laptop_is_followed_once_its_lease_has_expired(sandbox: Sandbox) {
    let (bed, world) = (sandbox.bed(), World::INLET);
    let (mut laptop, before) = Laptop::killed(&sandbox, world).await;

    let printed = laptop.runs(&["--context", "bed", "--restore"]).await.well();
    assert_eq!(snapshot(bed, world).await, before, "{printed}");
    laptop.runs(&["--context", "bed", "--restore"]).await.well();
    assert_eq!(snapshot(bed, world).await, before);
}
