//! The dearest bodies that are known, as `docs/performance.md` lists them. What they cost is measured here; a test of
//! gateward-cli sends them to the program while others ask it, so what is here needs nothing but the shapes.

use serde_json::json;

use crate::shape::Shape;
use crate::target::Target;

/// The size of each hostile object where there are many.
pub const SMALL: usize = 4 << 10;

/// How many of them a review has.
pub const OBJECTS: usize = 250;

/// The size of one by itself.
pub const SINGLE: usize = 1 << 20;

/// The size of a pod of which admission still reads every member.
const POD: usize = 300_000;

/// How many objects a review has that say next to nothing.
pub const TINY: usize = 5000;

/// Fields of wrong types, and some that no version knows, for every kind.
pub const WRONG_AND_UNKNOWN: &str =
    r#","spec":{"services":{"":{"replicas":"","x":1}},"components":[{"replicas":"","x":1}],"model":1,"x":1}"#;

/// Annotations of conversion of which nothing is left when they have been tried. Of ours each entry stands in the way by
/// itself: the first can't be read, the second leads astray, the third and that of the Go operator break the schema, and
/// the last comes alive.
const DROPPED: [(&str, &str); 2] = [
    (
        "gateward.dev/preserved",
        concat!(
            r#"{"version":1,"known":{"v1beta1":[{"path":["spec","components",{"name":"w"},"replicas"],"was":"x"},"#,
            r#"{"path":["spec","components",{"name":"w"},"minAvailable"],"was":5},"#,
            r#"{"path":["spec","components",{"name":"w"},"modelRef"],"was":{}}]},"#,
            r#""unknown":{"v1beta1":[{"path":["spec","components",{"name":"w"},"multinode"],"value":{"nodeCount":3}}]}}"#,
        ),
    ),
    (
        "nvidia.com/dgd-spec",
        r#"{"version":1,"spec":{"components":[{"name":"w","podTemplate":{"spec":{"containers":[{"name":"x","image":5}]}}}]}}"#,
    ),
];

/// A body, and where it is sent.
pub struct Body {
    pub about: &'static str,
    pub path: &'static str,
    pub text: String,
}

pub fn bodies() -> Vec<Body> {
    const CONVERT: &str = "/convert";
    let body = |about, path, text| Body { about, path, text };
    let (graph, hub_graph) =
        (Target::of("DynamoGraphDeployment", "v1alpha1"), Target::of("DynamoGraphDeployment", "v1beta1"));
    let request = Target::of("DynamoGraphDeploymentRequest", "v1beta1");
    let list = |version: &str, object: String| review(version, &vec![object; OBJECTS].join(","));
    let limits = r#"{"components":[{"name":"a","type":"worker","podTemplate":{"spec":{"containers":[{"name":"main","resources":{"limits":HERE}}]}}}]}"#;
    let limits = hub_graph.object("", &limits.replace("HERE", &shaped("{a:0,…}", SMALL)));
    let job = r#"{"model":"a","overrides":{"profilingJob":{"template":{"spec":{"containers":HERE}}}}}"#;
    let job = request.object("", &job.replace("HERE", &shaped("[deep,…]", SMALL)));
    // That there is no image is a finding, for which the object is converted again, with the origin of each node.
    let pod = r#"{"services":{"a":{"componentType":"prefill","extraPodSpec":HERE}}}"#;
    let pod = graph.object("", &pod.replace("HERE", &shaped("{a:0,…}", POD)));
    let pod = graph.review("CREATE", &pod, "null");
    vec![
        body("annotations tried and dropped", CONVERT, list("v1beta1", annotated_for_nothing(&graph, SMALL))),
        body("many of them in one graph", CONVERT, review("v1beta1", &annotated_for_nothing(&graph, SINGLE))),
        body("hundreds of limits", CONVERT, list("v1alpha1", limits)),
        body("deep profiling jobs", CONVERT, list("v1alpha1", job)),
        body("tiny graphs", CONVERT, review("v1beta1", &vec![graph.tiny(WRONG_AND_UNKNOWN); TINY].join(","))),
        body("a pod that nobody knows", "/mutate/nvidia.com/v1beta1/dynamographdeployments", pod.clone()),
        body("a pod that nobody knows", "/validate/nvidia.com/v1beta1/dynamographdeployments", pod),
    ]
}

/// A ConversionReview.
pub fn review(version: &str, objects: &str) -> String {
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"nvidia.com/{version}","objects":[{objects}]}}}}"#
    )
}

/// A graph of one service with annotations that are tried and dropped, and so many bytes of others, but not more than an
/// API server stores: of those none is read.
pub fn annotated_for_nothing(graph: &Target, bytes: usize) -> String {
    let kept = DROPPED.map(|(key, text)| format!(r#""{key}":{}"#, json!(text))).join(",");
    let others: String = (0..bytes.min(SINGLE / 5) / 12).map(|number| format!(r#","x{number:x}":"a""#)).collect();
    graph.object(&format!(r#","annotations":{{{kept}{others}}}"#), r#"{"services":{"w":{}}}"#)
}

fn shaped(name: &str, bytes: usize) -> String {
    Shape::ALL.into_iter().find(|shape| shape.name == name).unwrap().text(bytes)
}
