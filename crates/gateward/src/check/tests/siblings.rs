//! Rules across objects, whose store the check fills.

use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::ConversionError;
use gateward_core::testing::{Stored, block_on};
use serde_json::json;

use crate::check::{Checker, Report, Schemas};
use crate::prelude::*;

#[derive(serde::Serialize, serde::Deserialize)]
struct Den {
    place: String,
}
resource!(Den, "zoo.dev/v2", "Den", "dens");

/// A den as it was first described.
#[derive(serde::Serialize, serde::Deserialize)]
struct OldDen {
    at: String,
}
resource!(OldDen, "zoo.dev/v1", "Den", "dens");

struct Places;

impl Convert<OldDen, Den> for Places {
    fn to_hub(&self, old: &OldDen, moved: &mut Provenance, _: &mut Issues) -> Result<Den, ConversionError> {
        moved.moved(|| (FieldPath::field("place"), FieldPath::field("at")));
        Ok(Den { place: old.at.clone() })
    }

    fn from_hub(&self, new: &Den, _: &mut Issues) -> Result<OldDen, ConversionError> {
        Ok(OldDen { at: new.place.clone() })
    }
}

const ALONE: Rule = Rule { id: "DEN-1", ..Rule::on(CREATE_AND_UPDATE) };

fn alone(new: &Den, request: &Request, State(dens): State<Store<Den>>) -> Result<Issues, WebhookError> {
    let others = dens.others(request)?;
    let taken = others.iter().any(|other| other.place == new.place);
    let finding = || ALONE.duplicate(FieldPath::field("place"), new.place.as_str());
    Ok(taken.then(finding).into_iter().collect())
}

fn webhooks() -> Webhooks {
    let dens = Store::new();
    let kind = Webhook::new().spoke::<OldDen>(Places).watches(&dens).with_state(dens).validator(alone);
    Webhooks::new().register(kind.rules([&ALONE]))
}

fn den(name: &str, place: &str) -> String {
    format!("---\napiVersion: zoo.dev/v2\nkind: Den\nmetadata: {{name: {name}}}\nplace: {place}\n")
}

/// The paths of the findings on files that are applied together, in a cluster or without one.
fn found(files: &[(&str, &str)], cluster: Option<Stored>, stored: &str) -> Vec<String> {
    let (webhooks, schemas) = (webhooks(), Schemas::read(&[]).unwrap());
    let checker = Checker::new(&webhooks, &schemas, Arc::new(()), SystemTime::UNIX_EPOCH);
    let checker = cluster.into_iter().fold(checker, |checker, cluster| checker.cluster(Arc::new(cluster)));
    let checker = if stored.is_empty() { checker } else { checker.stored(stored.as_bytes()).unwrap() };
    let mut report = Report::new();
    block_on(async {
        checker.fill_stores(files.iter().map(|(file, text)| (*file, text.as_bytes()))).await;
        for (file, text) in files {
            checker.check(file, text.as_bytes(), &mut report).await.unwrap();
        }
    });
    let shown = report.diagnostics().filter(|found| found.rule == ALONE.id);
    shown.map(|found| format!("{}:{}", found.file, found.path)).collect()
}

#[test]
fn objects_of_all_files_are_held_against_each_other() {
    let (one, two) = (den("otto", "wye") + &den("ottilie", "usk"), den("oskar", "wye"));
    assert_eq!(found(&[("one.yaml", &one), ("two.yaml", &two)], None, ""), ["one.yaml:place", "two.yaml:place"]);
    assert_eq!(found(&[("one.yaml", &one)], None, ""), [""; 0]);
}

#[test]
fn objects_of_another_version_are_held_against_each_other_too() {
    let old = "apiVersion: zoo.dev/v1\nkind: Den\nmetadata: {name: oskar, namespace: default}\nat: wye\n";
    assert_eq!(
        found(&[("new.yaml", &den("otto", "wye")), ("old.yaml", old)], None, ""),
        ["new.yaml:place", "old.yaml:at"]
    );
}

#[test]
fn what_the_cluster_has_and_what_is_stored_counts_unless_a_file_changes_it() {
    let oskar = json!({"metadata": {"name": "oskar", "namespace": "default"}, "place": "wye"});
    let cluster = || Some(Stored::new().with::<Den>(&oskar));
    let otto = den("otto", "wye");
    assert_eq!(found(&[("a.yaml", &otto)], cluster(), ""), ["a.yaml:place"]);
    let moved = otto.clone() + &den("oskar", "usk");
    assert_eq!(found(&[("a.yaml", &moved)], cluster(), ""), [""; 0]);
    assert_eq!(found(&[("a.yaml", &otto)], None, &den("oskar", "wye")), ["a.yaml:place"]);
}
