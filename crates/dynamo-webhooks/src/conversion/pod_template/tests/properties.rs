//! What holds of every component.

use proptest::prelude::*;

use super::arbitrary as pods;
use super::moved::assert_moves_as_trees;
use super::*;
use crate::conversion::tests::arbitrary;
use gateward::conversion::equivalence::same;

fn pod_of_spoke(spoke: &Spoke) -> Value {
    super::super::fields::of_service(&spoke.spec)
}

fn pod_of_hub(hub: &Hub) -> Value {
    let said = hub.json();
    ["podTemplate", "frontendSidecar", "compilationCache"]
        .map(|name| (name.to_owned(), said[name].clone()))
        .into_iter()
        .collect()
}

/// Whether the containers of a pod, and the mounts of each, are lists of maps. Of others, which no API server stores,
/// one version remembers more than the other can take back.
fn has_lists(pod: &Value) -> bool {
    let are_maps =
        |list: &Value| list.is_null() || list.as_array().is_some_and(|items| items.iter().all(Value::is_object));
    let containers = pod["containers"].as_array().into_iter().flatten().chain(pod.get("mainContainer"));
    are_maps(&pod["containers"]) && containers.into_iter().all(|container| are_maps(&container["volumeMounts"]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_service_is_itself_there_and_back(written in arbitrary::service()) {
        let written = spoke(written);
        let there = written.up();
        let back = there.down();
        prop_assert!(same(&pod_of_spoke(&back), &pod_of_spoke(&written)), "{:#}\n{:#}\n{:#}\n{:#}", pod_of_spoke(&written), pod_of_hub(&there), there.entry(), pod_of_spoke(&back));
        prop_assert!(same(&pod_of_hub(&back.up()), &pod_of_hub(&there)));
    }

    #[test]
    fn a_service_that_moves_is_what_its_trees_become(written in arbitrary::service()) {
        assert_moves_as_trees(&spoke(written).spec);
    }

    #[test]
    fn a_component_is_itself_there_and_back(written in pods::pod()) {
        let written = hub(written);
        let there = written.down();
        let back = there.up();
        prop_assert!(same(&pod_of_hub(&back), &pod_of_hub(&written)), "{:#}\n{:#}\n{:#}\n{:#}", pod_of_hub(&written), pod_of_spoke(&there), there.entry(), pod_of_hub(&back));
        prop_assert!(same(&pod_of_spoke(&back.down()), &pod_of_spoke(&there)));
    }

    #[test]
    fn a_stale_memory_does_not_win_over_a_service(first in arbitrary::service(), then in arbitrary::service()) {
        prop_assume!(has_lists(&first["extraPodSpec"]) && has_lists(&then["extraPodSpec"]));
        let edited = Stored { spec: spoke(then).spec, annotations: spoke(first).up().down().annotations };
        prop_assert!(same(&pod_of_spoke(&edited.up().down()), &pod_of_spoke(&edited)));
    }

    #[test]
    fn a_stale_memory_does_not_win_over_a_component(first in arbitrary::service(), then in pods::pod()) {
        prop_assume!(has_lists(&first["extraPodSpec"]) && has_lists(&then["podTemplate"]["spec"]));
        let edited = Stored { spec: hub(then).spec, annotations: spoke(first).up().annotations };
        prop_assert!(same(&pod_of_hub(&edited.down().up()), &pod_of_hub(&edited)));
    }

    #[test]
    fn no_memory_makes_a_conversion_fail(entry in pods::entry(), service in arbitrary::service(), pod in pods::pod()) {
        let annotations = remembering(entry);
        let up = Stored { spec: spoke(service).spec, annotations: annotations.clone() };
        // What is forged in the operator's annotations can keep a difference from coming back, never an object.
        up.up().down();
        let down = Stored { spec: hub(pod).spec, annotations };
        down.down().up();
    }
}
