//! ConversionReviews that somebody wrote to do harm: one object or many, with hostile parts and hostile annotations.

use serde_json::json;

use crate::dear::{self, OBJECTS, SINGLE, SMALL, TINY, annotated_for_nothing, review};
use crate::hostile::{self, shapes};
use crate::meter::Meter;
use crate::seeds::other;
use crate::shape::{Shape, many};
use crate::target::{Target, targets};

/// The largest ConversionReview that the server takes.
const LARGEST: usize = 128 << 20;

/// One object by itself, and a list of smaller ones of the same form.
fn ask(meter: &mut Meter, target: &Target, about: &str, object: impl Fn(usize) -> String) {
    let version = other(target.version);
    let from = target.version;
    let kind = target.kind;
    meter.ask("/convert", &format!("one {kind} {from} {about}"), review(version, &object(SINGLE)).as_bytes());
    let objects = vec![object(SMALL); OBJECTS].join(",");
    meter.ask("/convert", &format!("{OBJECTS} {kind} {from} {about}"), review(version, &objects).as_bytes());
}

fn converting() -> impl Iterator<Item = Target> {
    targets().into_iter().filter(|target| target.kind != "DynamoModel")
}

fn assert_bounded(kind: &str) {
    let mut meter = Meter::new();
    for target in converting().filter(|target| target.kind == kind) {
        for place in &target.places {
            for shape in shapes() {
                let about = format!("{} in {place}", shape.name);
                ask(&mut meter, &target, &about, |bytes| target.object("", &place.replace("HERE", &shape.text(bytes))));
            }
        }
    }
    meter.settle();
}

#[test]
fn a_converted_graph_takes_no_more_than_its_share() {
    assert_bounded("DynamoGraphDeployment");
}

#[test]
fn a_converted_component_takes_no_more_than_its_share() {
    assert_bounded("DynamoComponentDeployment");
}

#[test]
fn a_converted_request_takes_no_more_than_its_share() {
    assert_bounded("DynamoGraphDeploymentRequest");
}

#[test]
fn an_object_whose_name_is_of_the_wrong_type_takes_no_more_than_its_share() {
    let mut meter = Meter::new();
    for target in converting() {
        for place in &target.places {
            for shape in shapes() {
                let object = target.object("", &place.replace("HERE", &shape.text(SINGLE)));
                let object = object.replacen(r#""name":"otter""#, r#""name":{}"#, 1);
                let about = format!("a name of the wrong type, {} in {place}", shape.name);
                meter.ask("/convert", &about, review(other(target.version), &object).as_bytes());
            }
        }
    }
    meter.settle();
}

/// The annotations that conversions read, and what they hold around something hostile.
const ANNOTATIONS: [(&str, &str); 12] = [
    ("gateward.dev/preserved", "HERE"),
    ("gateward.dev/preserved", r#"{"version":1,"known":{"v1alpha1":HERE,"v1beta1":HERE}}"#),
    ("gateward.dev/preserved", r#"{"version":1,"unknown":{"v1alpha1":HERE,"v1beta1":HERE}}"#),
    ("gateward.dev/preserved", r#"{"version":1,"unknown":{"v1beta1":[{"path":["spec","x"],"value":HERE}]}}"#),
    ("gateward.dev/preserved", r#"{"version":1,"unknown":{"v1alpha1":[{"path":HERE,"value":1}]}}"#),
    ("nvidia.com/dgd-spec", r#"{"version":1,"spec":{"services":HERE}}"#),
    ("nvidia.com/dgd-spec", r#"{"version":1,"spec":{"components":HERE}}"#),
    ("nvidia.com/dgd-spec", r#"{"version":1,"spec":{"components":[{"name":"a","podTemplate":HERE}]}}"#),
    ("nvidia.com/dgd-status", r#"{"version":1,"status":HERE}"#),
    ("nvidia.com/dcd-spec", r#"{"version":1,"spec":HERE}"#),
    ("nvidia.com/dgdr-spec", r#"{"version":1,"spec":HERE}"#),
    ("nvidia.com/dgdr-status", r#"{"version":1,"status":HERE}"#),
];

/// Many small entries, each with a place of its own.
fn entries(bytes: usize) -> [(&'static str, String); 3] {
    let numbered = |entry: &dyn Fn(usize) -> String| {
        let count = bytes / (entry(0).len() + 5);
        (0..count).map(entry).collect::<Vec<_>>().join(",")
    };
    let fields = numbered(&|n| format!(r#"{{"path":["spec","x{n}"],"value":1}}"#));
    let nested = numbered(&|n| format!(r#"{{"path":["spec","x","y{n}","z"],"hollow":2,"value":{{}}}}"#));
    let records = numbered(&|n| format!(r#""c{n}":{{"set":[{{"at":["a"],"is":1}}]}}"#));
    let unknown =
        |entries: &str| format!(r#"{{"version":1,"unknown":{{"v1alpha1":[{entries}],"v1beta1":[{entries}]}}}}"#);
    [
        ("many fields", unknown(&fields)),
        ("many nests", unknown(&nested)),
        (
            "many records",
            format!(
                r#"{{"version":1,"known":{{"v1beta1":{{"components":{{{records}}}}},"v1alpha1":{{"services":{{{records}}}}}}}}}"#
            ),
        ),
    ]
}

/// Short texts by name, as labels and annotations are.
#[test]
fn labels_and_annotations_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    for target in converting() {
        for member in ["labels", "annotations"] {
            for shape in Shape::ALL.into_iter().filter(|shape| shape.name == "{a:\"\",…}") {
                let object = |bytes| target.object(&format!(r#","{member}":{}"#, shape.text(bytes)), "{}");
                let about = format!("{} in metadata.{member}", shape.name);
                ask(&mut meter, &target, &about, object);
                hostile::ask(&mut meter, &target, &about, &target.review("CREATE", &object(SINGLE), "null"));
                hostile::ask(&mut meter, &target, &about, &target.review("UPDATE", &object(SINGLE), &object(SINGLE)));
            }
        }
    }
    meter.settle();
}

/// Beside annotations of conversion, so that the metadata is read and written several times.
#[test]
fn members_of_the_metadata_that_nobody_knows_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    for target in converting() {
        for shape in shapes() {
            let about = format!("{} in metadata.unknown, and as its members", shape.name);
            ask(&mut meter, &target, &about, |bytes| {
                let members: String = (0..bytes / 24).map(|number| format!(r#","x{number:x}":{{}}"#)).collect();
                let unknown = shape.text(bytes / 2);
                let annotations = r#"{"gateward.dev/preserved":"{\"version\":1,\"known\":{\"v1beta1\":{}}}"}"#;
                let metadata = format!(r#","annotations":{annotations},"unknown":{unknown}{members}"#);
                target.object(&metadata, r#"{"zebra":1,"services":5,"components":5}"#)
            });
        }
    }
    meter.settle();
}

/// What each object costs by itself, however short it is.
#[test]
fn many_tiny_objects_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    for target in converting() {
        for (about, members) in [
            ("nothing", ""),
            ("an unknown field", r#","x":1"#),
            ("a wrong field", r#","spec":{"services":{"":{"replicas":""}},"components":[{"replicas":""}],"model":1}"#),
            ("both", dear::WRONG_AND_UNKNOWN),
        ] {
            let Target { kind, version, .. } = &target;
            let objects = vec![target.tiny(members); TINY].join(",");
            let about = format!("{TINY} {kind} {version} with {about}");
            meter.ask("/convert", &about, review(other(version), &objects).as_bytes());
        }
    }
    meter.settle();
}

/// The name is a part of the path of each field.
#[test]
fn many_fields_below_a_long_name_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    let many = |value: &str| (0..600).map(|number| format!(r#""x{number}":{value}"#)).collect::<Vec<_>>().join(",");
    let (unknown, lists) = (many(r#"{"a":1}"#), many(r#"[{"name":"a"}]"#));
    for target in converting().filter(|target| target.kind == "DynamoGraphDeployment") {
        for (about, members) in [
            ("unknown fields", unknown.clone()),
            ("unknown fields further below", format!(r#""experimental":{{{unknown}}},"scalingAdapter":{{{unknown}}}"#)),
            ("a strange pod", format!(r#""podTemplate":{{{lists},"spec":{{{lists}}}}},"extraPodSpec":{{{lists}}}"#)),
        ] {
            ask(&mut meter, &target, &format!("{about} below a long name"), |bytes| {
                let name = "o".repeat(bytes / 3);
                let spec = match target.version {
                    "v1beta1" => format!(r#"{{"components":[{{"name":"{name}",{members}}}]}}"#),
                    _ => format!(r#"{{"services":{{"{name}":{{{members}}}}}}}"#),
                };
                target.object("", &spec)
            });
        }
    }
    meter.settle();
}

#[test]
fn a_long_name_of_a_component_takes_no_more_than_its_share() {
    let mut meter = Meter::new();
    let pod = r#"{"spec":{"containers":[{"name":"main","image":"a:1"},{"name":"b","image":"a:1"}]}}"#;
    for target in converting().filter(|target| target.kind == "DynamoGraphDeployment") {
        for (about, members) in [
            ("a component", r#","type":"worker""#.to_owned()),
            ("a pod", format!(r#","podTemplate":{pod},"extraPodSpec":{{"mainContainer":{{"image":"a:1"}}}}"#)),
            ("a sidecar", format!(r#","frontendSidecar":"b","podTemplate":{pod}"#)),
            ("an unknown field", r#","type":"worker","unknown":1"#.to_owned()),
            ("a mistyped field", r#","type":"worker","replicas":"a""#.to_owned()),
        ] {
            for (beside, more) in [("", ""), (" beside an unknown field", r#","unknown":1"#)] {
                ask(&mut meter, &target, &format!("{about} of a long name{beside}"), |bytes| {
                    let name = "o".repeat(bytes);
                    let spec = match target.version {
                        "v1beta1" => format!(r#"{{"components":[{{"name":"{name}"{members}}}]{more}}}"#),
                        _ => format!(r#"{{"services":{{"{name}":{{"serviceName":"a"{members}}}}}{more}}}"#),
                    };
                    target.object("", &spec)
                });
            }
        }
    }
    meter.settle();
}

/// Each copy of it counts in full. Of longer objects than 1.5 MiB differences aren't put back.
#[test]
fn a_long_text_takes_no_more_than_its_share() {
    let mut meter = Meter::new();
    for (kind, version, long, mistyped) in [
        ("DynamoGraphDeployment", "v1beta1", "backendFramework", r#""components":[{"name":"a","replicas":[]}]"#),
        ("DynamoGraphDeployment", "v1alpha1", "backendFramework", r#""services":{"a":{"replicas":[]}}"#),
        ("DynamoComponentDeployment", "v1beta1", "name", r#""replicas":[]"#),
        ("DynamoComponentDeployment", "v1alpha1", "serviceName", r#""sharedMemory":{"size":[]}"#),
        ("DynamoGraphDeploymentRequest", "v1beta1", "model", r#""autoApply":[]"#),
        ("DynamoGraphDeploymentRequest", "v1alpha1", "model", r#""autoApply":[]"#),
    ] {
        let (target, to) = (Target::of(kind, version), other(version));
        let both = format!(r#","x":1,{mistyped}"#);
        let kept = json!({
            "version": 1,
            "unknown": {to: [{"path": ["spec", "y"], "value": 1}]},
            "known": {to: [{"path": ["spec", "labels"], "was": {}}]},
        });
        let kept = format!(r#","annotations":{{"gateward.dev/preserved":{}}}"#, json!(kept.to_string()));
        for bytes in [3 * SINGLE / 2 - SMALL, 8 * SINGLE] {
            let text = "o".repeat(bytes);
            for (beside, more, metadata) in [
                ("nothing", "", ""),
                ("a mistyped field", &format!(",{mistyped}"), ""),
                ("an unknown and a mistyped field", &both, ""),
                ("the same and fields that wait", &both, &kept),
            ] {
                let object = target.object(metadata, &format!(r#"{{"{long}":"{text}"{more}}}"#));
                let about = format!("{kind} {version} with a text of {bytes} bytes beside {beside}");
                meter.ask("/convert", &about, review(to, &object).as_bytes());
            }
        }
    }
    meter.settle();
}

#[test]
fn the_dearest_bodies_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    for dear::Body { about, path, text } in dear::bodies() {
        assert_eq!(meter.ask(path, about, text.as_bytes()).status, 200, "{about}");
    }
    meter.settle();
}

fn annotated(target: &Target, annotation: &str, text: &str) -> String {
    target.object(&format!(r#","annotations":{{"{annotation}":{}}}"#, json!(text)), "{}")
}

#[test]
fn annotations_of_conversion_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    for target in converting() {
        for (annotation, holds) in ANNOTATIONS {
            for shape in shapes() {
                let about = format!("{} in {annotation} {holds}", shape.name);
                ask(&mut meter, &target, &about, |bytes| {
                    let parts = holds.matches("HERE").count();
                    annotated(&target, annotation, &holds.replace("HERE", &shape.text(bytes / parts)))
                });
            }
        }
        for index in 0..3 {
            ask(&mut meter, &target, entries(0)[index].0, |bytes| {
                annotated(&target, "gateward.dev/preserved", &entries(bytes / 2)[index].1)
            });
        }
    }
    meter.settle();
}

/// The object is converted with them and without those of the Go operator, and each time ours are tried.
#[test]
fn annotations_beside_some_that_are_tried_and_dropped_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    let graph = Target::of("DynamoGraphDeployment", "v1alpha1");
    ask(&mut meter, &graph, "annotations beside some that are dropped", |bytes| annotated_for_nothing(&graph, bytes));
    meter.settle();
}

/// Each of them is compared with the whole node.
#[test]
fn differences_of_one_large_node_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    let component = Target::of("DynamoComponentDeployment", "v1beta1");
    let members: Vec<String> = (0..100_000).map(|number| format!(r#""k{number:05}":0"#)).collect();
    let spec = format!(r#"{{"name":"a","type":"epp","eppConfig":{{"config":{{{}}}}}}}"#, members.join(","));
    let known = many(40_000, r#"{"path":["spec","eppConfig","config"]}"#);
    let known = format!(r#"{{"path":["spec","eppConfig","config","zz"]}},{known}"#);
    let kept = json!(format!(r#"{{"version":1,"known":{{"v1alpha1":[{known}]}}}}"#));
    let object = component.object(&format!(r#","annotations":{{"gateward.dev/preserved":{kept}}}"#), &spec);
    meter.ask("/convert", "differences of one large node", review("v1alpha1", &object).as_bytes());
    meter.settle();
}

/// Such a service takes two hundred times its text.
#[test]
fn services_without_a_value_in_an_annotation_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    let graph = Target::of("DynamoGraphDeployment", "v1beta1");
    let services: Vec<String> = (0..20_000).map(|number| format!(r#""{number:05x}":null"#)).collect();
    let kept = json!(format!(r#"{{"version":1,"spec":{{"services":{{{}}}}}}}"#, services.join(",")));
    let spec = r#"{"components":[{"name":"a","type":"worker"}]}"#;
    let object = graph.object(&format!(r#","annotations":{{"nvidia.com/dgd-spec":{kept}}}"#), spec);
    meter.ask("/convert", "services without a value", review("v1alpha1", &object).as_bytes());
    meter.settle();
}

#[test]
fn the_largest_reviews_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    for target in converting().filter(|target| target.kind == "DynamoGraphDeployment") {
        let version = other(target.version);
        let spec = match target.version {
            "v1beta1" => r#"{"components":[HERE]}"#,
            _ => r#"{"services":{"a":{"envs":[HERE]}}}"#,
        };
        let of = |bytes: usize| target.object("", &spec.replace("HERE", &many(bytes, r#"{"name":"a"}"#)));
        meter.ask("/convert", "the largest object", review(version, &of(LARGEST - SMALL)).as_bytes());
        let objects = vec![of(SMALL); LARGEST / SMALL - 50 * (LARGEST >> 20)].join(",");
        meter.ask("/convert", "the largest list", review(version, &objects).as_bytes());
    }
    meter.settle();
}

#[test]
fn mounts_of_a_field_and_of_the_main_container_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    let deep = format!("{}1{}", r#"{"a":["#.repeat(40), "]}".repeat(40));
    for (about, flat, own) in [
        ("mounts in two places", many(SINGLE / 3, r#"{"name":"a","mountPoint":"/a"}"#), r#"{"name":"a"}"#.to_owned()),
        ("many short mounts and deep ones", many(80_000, r#"{"name":"a"}"#), many(38_000, &deep)),
        ("many mounts and deep ones", many(80_000, r#"{"name":"a name of 12"}"#), many(38_000, &deep)),
    ] {
        let main = format!(r#"{{"mainContainer":{{"volumeMounts":[{own}]}}}}"#);
        let service = format!(r#"{{"volumeMounts":[{flat}],"extraPodSpec":{main}}}"#);
        let status = r#"{"conditions":[{"unknown":1}]}"#;
        for (kind, spec) in [
            ("DynamoGraphDeployment", format!(r#"{{"services":{{"a":{service}}}}}"#)),
            ("DynamoComponentDeployment", service.clone()),
        ] {
            let object = Target::of(kind, "v1alpha1").object("", &format!(r#"{spec},"status":{status}"#));
            meter.ask("/convert", &format!("{kind} with {about}"), review("v1beta1", &object).as_bytes());
        }
    }
    meter.settle();
}

/// Probes of a field and of the main container, which are merged node by node, as they are written and as annotations bring
/// them back.
#[test]
fn probes_of_a_field_and_of_the_main_container_take_no_more_than_their_share() {
    let mut meter = Meter::new();
    for (name, depth) in [("a", 90), (&*"a".repeat(500), 90), (&*"a".repeat(500), 6)] {
        let members: Vec<String> = (0..6_000).map(|number| format!(r#""m{number}":null"#)).collect();
        let nest = |leaf: &str| format!("{}{{{leaf}}}{}", format!(r#"{{"{name}":"#).repeat(depth), "}".repeat(depth));
        let (flat, own) = (nest(&members.join(",")), nest(r#""zz":null"#));
        let service =
            format!(r#"{{"livenessProbe":{flat},"extraPodSpec":{{"mainContainer":{{"livenessProbe":{own}}}}}}}"#);
        let about = format!("probes {depth} levels deep, names of {}", name.len());
        let graph = Target::of("DynamoGraphDeployment", "v1alpha1");
        let spec = format!(r#"{{"services":{{"w":{service}}}}},"status":{{"conditions":[{{"unknown":1}}]}}"#);
        meter.ask("/convert", &about, review("v1beta1", &graph.object("", &spec)).as_bytes());

        let services = format!(r#"{{"version":1,"spec":{{"services":{{"w":{service}}}}}}}"#);
        let astray =
            r#"{"version":1,"known":{"v1alpha1":[{"path":["spec","services","w","replicas"],"reads":3,"was":7}]}}"#;
        let kept = json!({"nvidia.com/dgd-spec": services, "gateward.dev/preserved": astray});
        let graph = Target::of("DynamoGraphDeployment", "v1beta1");
        let object =
            graph.object(&format!(r#","annotations":{kept}"#), r#"{"components":[{"name":"w","replicas":3}]}"#);
        meter.ask("/convert", &format!("{about}, kept"), review("v1alpha1", &object).as_bytes());
        let path = "/validate/nvidia.com/v1beta1/dynamographdeployments";
        meter.ask(path, &format!("{about}, kept"), graph.review("CREATE", &object, "null").as_bytes());
    }
    meter.settle();
}
