//! What a person sees of certificates, and asks for.

use cluster_tests::{Sandbox, Test, tests, until};
use gateward_cluster::Connection;
use gateward_cluster::inspect::{InspectError, RotationRequestOutcome, Summary, inspect, request_rotation};
use serde_json::json;

use crate::setup::{CA_SECRET, SERVING_SECRET};
use crate::zoo::{PATIENCE, Zoo};

pub fn tests() -> Vec<Test> {
    tests![
        somebody_who_looks_sees_that_all_is_well_and_what_is_not,
        a_ca_is_rotated_once_however_often_it_is_asked_for,
        where_nothing_is_installed_nothing_can_be_asked_for,
        the_command_line_tells_the_same,
    ]
}

async fn look(zoo: &Zoo) -> Summary {
    inspect(&administrator(zoo).await, &zoo.setup).await.unwrap().summary()
}

async fn administrator(zoo: &Zoo) -> Connection {
    let kubeconfig = zoo.sandbox().bed().folder().join("kubeconfig");
    Connection::of_kubeconfig(&kubeconfig, "somebody").await.unwrap()
}

async fn somebody_who_looks_sees_that_all_is_well_and_what_is_not(sandbox: Sandbox) {
    let (zoo, [mut replica]) = Zoo::settled(sandbox).await;
    let summary = look(&zoo).await;
    assert_eq!((&summary.attention, &summary.rotation), (&Vec::new(), &None));
    assert!(summary.leader.unwrap().starts_with("otter-1_"));
    assert_eq!(summary.targets.len(), 5);
    let ca = zoo.ca().await;
    let fingerprint = ca.iter().next().unwrap().fingerprint().to_string();
    assert_eq!(summary.ca.fingerprint, Some(fingerprint));
    assert!(summary.next.starts_with("nothing is to be done until"), "{}", summary.next);

    replica.crash();
    zoo.merge("Secret", SERVING_SECRET, &json!({"data": {"tls.key": ""}})).await;
    zoo.delete("Crd", &zoo.crd_name()).await;
    until("the leader is missed", PATIENCE, async || look(&zoo).await.attention.len() == 3).await;
    let attention = look(&zoo).await.attention;
    assert!(attention[0].starts_with("the serving certificate: Secret"), "{attention:?}");
    assert!(attention[1].contains("is silent, and no other has taken over"), "{attention:?}");
    assert!(attention[2].ends_with("is not there; it is waited for"), "{attention:?}");
}

async fn a_ca_is_rotated_once_however_often_it_is_asked_for(sandbox: Sandbox) {
    let (zoo, [mut replica]) = Zoo::settled(sandbox).await;
    let (before, administrator) = (zoo.ca().await, administrator(&zoo).await);
    replica.stop().await;
    for expected in [
        RotationRequestOutcome::Requested,
        RotationRequestOutcome::AlreadyRequested,
        RotationRequestOutcome::AlreadyRequested,
    ] {
        assert_eq!(request_rotation(&administrator, &zoo.setup).await.unwrap(), expected);
    }
    replica.restart().await;
    until("the CA is another one", PATIENCE, async || zoo.ca().await != before).await;
    let again = request_rotation(&administrator, &zoo.setup).await.unwrap();
    zoo.settles(&[&replica]).await;
    let annotations = zoo.read("Secret", CA_SECRET).await["metadata"]["annotations"].clone();
    let rotated_once = again == RotationRequestOutcome::InProgress;
    assert!(rotated_once && annotations.as_object().is_none_or(serde_json::Map::is_empty), "{again:?} {annotations}");
}

async fn where_nothing_is_installed_nothing_can_be_asked_for(sandbox: Sandbox) {
    let zoo = Zoo::new(sandbox).await;
    let attention = look(&zoo).await.attention;
    assert!(attention.contains(&"no webhook configuration and no CRD calls the Service".to_owned()), "{attention:?}");
    let error = request_rotation(&administrator(&zoo).await, &zoo.setup).await.unwrap_err();
    assert!(matches!(error, InspectError::NoCa { .. }), "{error}");
}

async fn the_command_line_tells_the_same(sandbox: Sandbox) {
    let zoo = Zoo::new(sandbox).await;
    let bed = zoo.sandbox().bed();
    let run = |arguments: &[&str]| {
        let mut command = bed.programs().gateward();
        command.env("KUBECONFIG", bed.folder().join("kubeconfig"));
        command.args(arguments).args(["--namespace", zoo.namespace()]).output().unwrap()
    };
    let output = run(&["certs", "status"]);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let expected = "provider:   auto\nrotation:   none under way\nCA:         missing\nserver:     missing\n";
    assert!(text.starts_with(expected), "{text}");
    let output = run(&["certs", "status", "--output", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["rotation"], &document["leader"]), (&json!(null), &json!(null)));
    let output = run(&["certs", "rotate"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("there is no usable CA in Secret"), "{said}");
}
