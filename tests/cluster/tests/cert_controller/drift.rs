//! Someone changes what is carried.

use std::time::Instant;

use cluster_tests::{Sandbox, Test, tests, until};
use gateward_certs::{Ca, CommonName, SystemKeys, TEN_YEARS, Validity};
use serde_json::{Value, json};

use crate::zoo::{PATIENCE, Zoo, base64, bundles_of};

pub fn tests() -> Vec<Test> {
    tests![
        what_someone_takes_away_is_put_back,
        what_someone_adds_is_taken_away,
        an_edit_of_someone_else_is_not_lost,
        someone_who_undoes_every_write_is_told_of_and_not_followed_at_any_price,
    ]
}

/// What somebody does to an object.
#[derive(Debug, Clone, Copy)]
enum Drift {
    /// Helm goes back to what the chart said.
    Empty,
    /// Someone knows better.
    Replace,
    /// An upgrade brings another webhook.
    NewEntry,
}

async fn what_someone_takes_away_is_put_back(sandbox: Sandbox) {
    let (zoo, replicas) = Zoo::settled::<2>(sandbox).await;
    let stranger = stranger();
    let mut times = Vec::new();
    let drifts = [Drift::Empty, Drift::Replace, Drift::NewEntry].into_iter().cycle();
    for (round, (drift, (kind, name))) in drifts.zip(zoo.carriers().into_iter().cycle().skip(1)).take(21).enumerate() {
        if matches!((drift, kind), (Drift::NewEntry, "Crd")) {
            continue;
        }
        let object = zoo.edit(kind, &name, "", |object| change(&zoo, object, drift, &stranger, round)).await;
        let start = Instant::now();
        assert!(bundles_of(&object).iter().any(|bundle| !bundle.contains_all(&ca_of(&replicas))));
        let whole = async || {
            let bundles = bundles_of(&zoo.read(kind, &name).await);
            bundles.iter().all(|bundle| bundle.contains_all(&ca_of(&replicas)))
        };
        until("it is repaired", PATIENCE, whole).await;
        times.push(start.elapsed());
    }
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{} repairs of bundles: median {median:?}, worst {worst:?}", times.len());
    // The leader's own look may come first, and what it writes then is no repair.
    let repairs: u64 = replicas.iter().map(|replica| replica.status().restored_bundles).sum();
    assert!((1..=times.len() as u64).contains(&repairs), "{repairs} repairs");
    zoo.settles(&replicas.each_ref()).await;
}

/// The CA that replicas show a certificate of.
fn ca_of(replicas: &[crate::replica::Replica]) -> gateward_certs::CaBundle {
    let trust = replicas[0].status().injected;
    let shown = replicas[0].shown().unwrap();
    let bundles = trust.bundles.iter().map(|bundle| gateward_certs::CaBundle::parse_lossy(bundle).0);
    bundles.flat_map(|bundle| bundle.iter().cloned().collect::<Vec<_>>()).filter(|it| it.signed(&shown)).collect()
}

fn change(zoo: &Zoo, object: &mut Value, drift: Drift, stranger: &str, round: usize) {
    let new = match drift {
        Drift::Empty => Value::Null,
        Drift::Replace => base64(stranger).into(),
        Drift::NewEntry => {
            object["webhooks"].as_array_mut().unwrap().insert(0, zoo.webhook(&format!("new-{round}")));
            return;
        }
    };
    match object.pointer_mut("/spec/conversion/webhook/clientConfig") {
        Some(config) => config["caBundle"] = new,
        None => {
            for webhook in object["webhooks"].as_array_mut().unwrap() {
                webhook["clientConfig"]["caBundle"] = new.clone();
            }
        }
    }
}

fn stranger() -> String {
    let validity = Validity::starting(std::time::SystemTime::now(), TEN_YEARS).unwrap();
    Ca::new(&CommonName::new("stranger").unwrap(), validity, &SystemKeys).unwrap().certificate_pem()
}

async fn what_someone_adds_is_taken_away(sandbox: Sandbox) {
    let (zoo, [replica]) = Zoo::settled(sandbox).await;
    let ca = zoo.ca().await;
    for (kind, name) in zoo.carriers() {
        let more = ca.to_pem() + &stranger();
        zoo.edit(kind, &name, "", |object| change(&zoo, object, Drift::Replace, &more, 0)).await;
    }
    zoo.settles(&[&replica]).await;
    assert_eq!(zoo.ca().await, ca);
}

async fn an_edit_of_someone_else_is_not_lost(sandbox: Sandbox) {
    let (zoo, [replica]) = Zoo::settled(sandbox).await;
    let (kind, name) = ("Validating", zoo.setup.targets.validating.clone());
    // An editor that replaces the whole list, takes the bundles away, and turns the order of the entries round.
    for round in 0..12 {
        let edit = |object: &mut Value| {
            let webhooks = object["webhooks"].as_array_mut().unwrap();
            webhooks.reverse();
            webhooks.push(zoo.webhook(&format!("edit-{round}")));
            webhooks[0]["timeoutSeconds"] = (round + 1).into();
            change(&zoo, object, Drift::Empty, "", round);
        };
        zoo.edit(kind, &name, "", edit).await;
    }
    zoo.settles(&[&replica]).await;
    let object = zoo.read(kind, &name).await;
    let mut names: Vec<_> = object["webhooks"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    names.sort_by_key(Value::to_string);
    let mut expected: Vec<_> = ["a".to_owned(), "b".to_owned()].into();
    expected.extend((0..12).map(|round| format!("edit-{round}")));
    let mut expected: Vec<Value> = expected.iter().map(|name| zoo.webhook(name)["name"].clone()).collect();
    expected.sort_by_key(Value::to_string);
    assert_eq!(names, expected);
    assert_eq!(object["webhooks"][0]["timeoutSeconds"], json!(12));
}

async fn someone_who_undoes_every_write_is_told_of_and_not_followed_at_any_price(sandbox: Sandbox) {
    let (zoo, [replica]) = Zoo::settled(sandbox).await;
    let (kind, name) = ("Validating", zoo.setup.targets.validating.clone());
    let warned = || replica.status().warnings.iter().any(|it| it.contains("someone keeps changing the caBundle of"));
    let (start, stranger) = (Instant::now(), stranger());
    while !warned() {
        assert!(start.elapsed() < PATIENCE, "{:?}", replica.status());
        let edit = |object: &mut Value| change(&zoo, object, Drift::Replace, &stranger, 0);
        zoo.edit(kind, &name, "?fieldManager=a-rival", edit).await;
    }
    let warnings = replica.status().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("(this time a-rival)")), "{warnings:?}");
    // The rival has ended, and so the last word is ours.
    zoo.settles(&[&replica]).await;
}
