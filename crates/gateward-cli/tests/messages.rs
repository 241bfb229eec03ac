//! What `check` says of the mistakes that authors make most, each in a manifest made for it.

#![allow(clippy::unwrap_used, reason = "a test")]

use assert_cmd::Command;

/// What a terminal shows of this manifest.
fn all_shown(manifest: &str, exit_code: i32) -> String {
    let output = Command::cargo_bin("gateward").unwrap().args(["check", "-"]).write_stdin(manifest).output().unwrap();
    assert_eq!(output.status.code(), Some(exit_code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The findings, without the note about CEL rules and the line that sums up.
fn shown(manifest: &str) -> String {
    let shown = all_shown(manifest, 1);
    let (findings, _sum) = shown.trim_end().rsplit_once('\n').unwrap();
    findings.split("note: these CEL rules").next().unwrap().to_owned()
}

/// A v1alpha1 graph of one worker with these members and an image without a version.
fn service(members: &str) -> String {
    format!(
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n  services:\n    \
         worker:\n      componentType: worker\n{members}      extraPodSpec:\n        mainContainer:\n          image: \
         nvcr.io/nvidia/vllm-runtime:latest\n"
    )
}

/// A graph of one worker with these members.
fn worker(members: &str) -> String {
    format!(
        "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n  components:\n  \
         - experimental: {{}}\n    name: worker\n{members}"
    )
}

fn with_image(image: &str) -> String {
    let pod = "    type: worker\n    podTemplate:\n      spec:\n        containers:\n        - name: main\n";
    worker(&format!("{pod}          image: {image}\n"))
}

#[test]
fn a_tag_without_a_version_is_quoted_at_the_image() {
    insta::assert_snapshot!(shown(&with_image("nvcr.io/nvidia/vllm-runtime:latest")), @r#"
    error[RT-04]: Required value: "latest", the tag of the image "nvcr.io/nvidia/vllm-runtime:latest", is not a version
      --> -:14:11
       |
    14 |           image: nvcr.io/nvidia/vllm-runtime:latest
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: set the version of the runtime, or an image with a tag such as 1.4.2
       = docs: gateward rules RT-04
    "#);
}

#[test]
fn a_tag_without_a_version_is_quoted_at_the_image_of_a_service() {
    insta::assert_snapshot!(shown(&service("")), @r#"
    error[RT-04]: Required value: "latest", the tag of the image "nvcr.io/nvidia/vllm-runtime:latest", is not a version
      --> -:11:11
       |
    11 |           image: nvcr.io/nvidia/vllm-runtime:latest
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.services[worker].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: set the version of the runtime, or an image with a tag such as 1.4.2
       = docs: gateward rules RT-04
    "#);
}

#[test]
fn a_placeholder_is_to_be_filled_in() {
    insta::assert_snapshot!(shown(&with_image("nvcr.io/nvidia/vllm-runtime:my-tag")), @r#"
    error[RT-04]: Required value: "my-tag", the tag of the image "nvcr.io/nvidia/vllm-runtime:my-tag", is not a version
      --> -:14:11
       |
    14 |           image: nvcr.io/nvidia/vllm-runtime:my-tag
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: fill in the placeholder: an image with a tag such as 1.4.2
       = docs: gateward rules RT-04
    "#);
}

#[test]
fn a_variable_and_a_tag_in_angles_are_placeholders() {
    insta::assert_snapshot!(shown(&with_image("nvcr.io/nvidia/vllm-runtime:${TAG}")), @r#"
    error[RT-04]: Required value: "${TAG}", the tag of the image "nvcr.io/nvidia/vllm-runtime:${TAG}", is not a version
      --> -:14:11
       |
    14 |           image: nvcr.io/nvidia/vllm-runtime:${TAG}
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: fill in the placeholder: an image with a tag such as 1.4.2
       = docs: gateward rules RT-04
    "#);
    insta::assert_snapshot!(shown(&with_image("nvcr.io/nvidia/vllm-runtime:<tag>")), @r#"
    error[RT-04]: Required value: "<tag>", the tag of the image "nvcr.io/nvidia/vllm-runtime:<tag>", is not a version
      --> -:14:11
       |
    14 |           image: nvcr.io/nvidia/vllm-runtime:<tag>
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: fill in the placeholder: an image with a tag such as 1.4.2
       = docs: gateward rules RT-04
    "#);
}

#[test]
fn a_template_is_to_be_rendered() {
    insta::assert_snapshot!(shown(&with_image("'{{ .Values.image }}:latest'")), @r#"
    error[RT-04]: Required value: "latest", the tag of the image "{{ .Values.image }}:latest", is not a version
      --> -:14:11
       |
    14 |           image: '{{ .Values.image }}:latest'
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: render the template first, and check what it makes
       = docs: gateward rules RT-04
    "#);
}

#[test]
fn a_file_that_is_a_template_is_to_be_rendered() {
    insta::assert_snapshot!(shown("metadata:\n  name: otter\n  {{- with .Values.labels }}\n  labels: {}\n"), @r#"
    error[YAML-SYNTAX]: this is a template, no YAML yet: render it, and check what it makes
     --> -:3:3
      |
    3 |   {{- with .Values.labels }}
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: correct the line; render a template first, as with kustomize build or helm template
    "#);
}

#[test]
fn a_line_that_is_no_yaml_is_called_so() {
    insta::assert_snapshot!(shown("metadata:\n  name: otter\n oops\n"), @r#"
    error[YAML-SYNTAX]: this is no YAML: a key is expected here; is the line indented like its neighbours?
     --> -:3:2
      |
    3 |  oops
      |  ^
      |
      = help: correct the line; render a template first, as with kustomize build or helm template
    "#);
}

#[test]
fn a_value_that_is_a_template_is_to_be_rendered() {
    insta::assert_snapshot!(shown("kind: DynamoGraphDeployment\nmetadata:\n  name: {{ .Release.Name }}\n"), @r#"
    error[YAML-SYNTAX]: this is a template, no YAML yet: render it, and check what it makes
     --> -:3:9
      |
    3 |   name: {{ .Release.Name }}
      |         ^^^^^^^^^^^^^^^^^^^
      |
      = help: correct the line; render a template first, as with kustomize build or helm template
    "#);
}

#[test]
fn a_conflict_that_a_merge_left_is_called_so() {
    insta::assert_snapshot!(shown("<<<<<<< HEAD\nkind: A\n=======\nkind: B\n>>>>>>> other\n"), @r#"
    error[YAML-SYNTAX]: this is no YAML: the mark of a merge that is not resolved
     --> -:1:1
      |
    1 | <<<<<<< HEAD
      | ^^^^^^^^^^^^
      |
      = help: correct the line; render a template first, as with kustomize build or helm template
    "#);
}

#[test]
fn a_request_is_underlined_at_its_image() {
    let request = "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeploymentRequest\nmetadata:\n  name: otter\nspec:\n  \
                   model: a/b\n  image: planner:my-tag\n";
    insta::assert_snapshot!(shown(request), @r#"
    error[DGDR-B5]: Required value: "my-tag", the tag of the image "planner:my-tag", is not a version
     --> -:7:3
      |
    7 |   image: planner:my-tag
      |   ^^^^^^^^^^^^^^^^^^^^^ spec.runtimeVersionOverride
      |
      = object: DynamoGraphDeploymentRequest otter
      = help: fill in the placeholder: an image with a tag such as 1.4.2
      = docs: gateward rules DGDR-B5
    "#);
}

#[test]
fn an_instruction_of_a_patch_is_called_so() {
    let patch = with_image("e:1.4.2")
        .replace("image:", "env:\n          - $patch: delete\n            name: A\n          image:");
    insta::assert_snapshot!(shown(&patch), @r#"
    error[SCHEMA]: unknown field "spec.components[0].podTemplate.spec.containers[0].env[0].$patch": kubectl refuses the object (strict validation); the API server alone drops the field
      --> -:15:13
       |
    15 |           - $patch: delete
       |             ^^^^^^^^^^^^^^ spec.components[0].podTemplate.spec.containers[0].env[0].$patch
       |
       = object: DynamoGraphDeployment otter
       = help: this is a patch: check what is made of it, as by kustomize build
    "#);
}

#[test]
fn a_field_that_only_begins_like_another_is_not_proposed() {
    let graph = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n  services:\n    \
                 worker:\n      dynamoTag: x\n      extraPodSpec:\n        mainContainer:\n          image: e:1.4.2\n";
    let found = shown(graph);
    assert!(found.contains("worker].dynamoTag") && found.contains("= help: remove it, or correct its name"), "{found}");
}

#[test]
fn a_missing_image_says_what_is_missing_and_names_overlays() {
    insta::assert_snapshot!(shown(&worker("    type: worker\n")), @r#"
    error[RT-03]: Required value: the component has no podTemplate
     --> -:8:5
      |
    8 |     name: worker
      |     ^^^^^^^^^^^^ spec.components[0].podTemplate.spec.containers
      |
      = object: DynamoGraphDeployment otter
      = help: set the image of the container `main`; where an overlay adds it, check what is applied: `kustomize build . | gateward check -`
      = docs: gateward rules RT-03
    "#);
}

#[test]
fn a_pod_without_the_main_container_has_no_image() {
    let pod = "    type: worker\n    podTemplate:\n      spec:\n        containers:\n        - name: proxy\n          image: p:1\n";
    insta::assert_snapshot!(shown(&worker(pod)), @r#"
    error[RT-03]: Required value: the pod template has no container named `main`
      --> -:12:9
       |
    12 |         containers:
       |         ^^^^^^^^^^ spec.components[0].podTemplate.spec.containers
       |
       = object: DynamoGraphDeployment otter
       = help: set the image of the container `main`; where an overlay adds it, check what is applied: `kustomize build . | gateward check -`
       = docs: gateward rules RT-03
    "#);
}

#[test]
fn several_nodes_without_a_type_propose_the_types() {
    let image = "    podTemplate:\n      spec:\n        containers:\n        - name: main\n          image: e:1.4.2\n";
    insta::assert_snapshot!(shown(&worker(&format!("    multinode:\n      nodeCount: 2\n{image}"))), @r#"
    error[SHARED-44]: Forbidden: may not be set without a type
     --> -:9:5
      |
    9 |     multinode:
      |     ^^^^^^^^^ spec.components[0].multinode
      |
      = object: DynamoGraphDeployment otter
      = help: set the type worker, prefill or decode, or remove it
      = docs: gateward rules SHARED-44
    "#);
}

#[test]
fn a_name_that_is_too_long_for_grove_shows_its_sum() {
    let long = with_image("e:1.4.2").replace("name: worker", "name: prefill-worker-of-the-otters-in-the-river");
    insta::assert_snapshot!(shown(&long), @r#"
    error[DGD-49]: Invalid value: "prefill-worker-of-the-otters-in-the-river": Grove makes names of it that are too long: otter (5) + prefill-worker-of-the-otters-in-the-river (41) = 46, at most 45 bytes
     --> -:8:5
      |
    8 |     name: prefill-worker-of-the-otters-in-the-river
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].name
      |
      = object: DynamoGraphDeployment otter
      = help: shorten it; with several nodes, a scaling group or GPU memory between pods it counts twice
      = docs: gateward rules DGD-49
    "#);
}

#[test]
fn a_v1alpha1_graph_without_services_reads_of_no_component() {
    let empty = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec: {}\n";
    insta::assert_snapshot!(shown(empty), @r#"
    error[DGD-48]: Required value: must have at least one entry
     --> -:5:1
      |
    5 | spec: {}
      | ^^^^^^^^ spec.services
      |
      = object: DynamoGraphDeployment otter
      = help: add a frontend and a worker, each with an image
      = docs: gateward rules DGD-48
    "#);
}

#[test]
fn checkpoints_are_off_only_as_far_as_is_known() {
    let pod =
        with_image("e:1.4.2").replace("experimental: {}", "experimental:\n      checkpoint:\n        enabled: true");
    insta::assert_snapshot!(shown(&pod), @r#"
    error[CKPT-D1]: Forbidden: may not be set where checkpoints are off: they are assumed to be, because the cluster isn't known
     --> -:8:7
      |
    8 |       checkpoint:
      |       ^^^^^^^^^^ spec.components[0].experimental.checkpoint
      |
      = object: DynamoGraphDeployment otter
      = help: where the operator has checkpoints enabled, check with --facts
      = docs: gateward rules CKPT-D1
    "#);
}

#[test]
fn a_namespace_that_the_manifest_lacks_is_not_made_up() {
    let service = "    worker:\n      componentType: worker\n      dynamoNamespace: reef\n";
    let graph = format!(
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n  services:\n{service}"
    );
    insta::assert_snapshot!(shown(&graph), @r#"
    error[RT-03]: Required value: there is no extraPodSpec.mainContainer
     --> -:7:5
      |
    7 |     worker:
      |     ^^^^^^ spec.services[worker].extraPodSpec.mainContainer.image
      |
      = object: DynamoGraphDeployment otter
      = help: set the image of the container `main`; where an overlay adds it, check what is applied: `kustomize build . | gateward check -`
      = docs: gateward rules RT-03

    warning[ALPHA-03]: spec.services[worker].dynamoNamespace "reef" is ignored: the Dynamo namespace is the Kubernetes namespace followed by "-otter"
     --> -:9:7
      |
    9 |       dynamoNamespace: reef
      |       ^^^^^^^^^^^^^^^^^^^^^ spec.services[worker].dynamoNamespace
      |
      = object: DynamoGraphDeployment otter
      = help: remove dynamoNamespace; whatever reads it finds the namespace in the environment of its pod
      = docs: gateward rules ALPHA-03
    "#);
}

#[test]
fn a_field_of_the_other_version_is_called_so() {
    let services = "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n  services: {}\n";
    insta::assert_snapshot!(shown(services), @r#"
    error[DGD-48]: Required value: must have at least one entry
     --> -:5:1
      |
    5 | spec:
      | ^^^^ spec.components
      |
      = object: DynamoGraphDeployment otter
      = help: add a frontend and a worker, each with an image
      = docs: gateward rules DGD-48

    error[SCHEMA]: unknown field "spec.services": kubectl refuses the object (strict validation); the API server alone drops the field
     --> -:6:3
      |
    6 |   services: {}
      |   ^^^^^^^^^^^^ spec.services
      |
      = object: DynamoGraphDeployment otter
      = help: did you mean spec.components? nvidia.com/v1alpha1 has this field: write the object in that version, or convert it to nvidia.com/v1beta1
    "#);
}

#[test]
fn a_field_of_the_level_above_is_shown_there() {
    let graph = with_image("e:1.4.2").replace("containers:", "backendFramework: vllm\n        containers:");
    let graph = graph.replace("image:", "tolerations: []\n          image:");
    insta::assert_snapshot!(shown(&graph), @r#"
    error[SCHEMA]: unknown field "spec.components[0].podTemplate.spec.backendFramework": kubectl refuses the object (strict validation); the API server alone drops the field
      --> -:12:9
       |
    12 |         backendFramework: vllm
       |         ^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].podTemplate.spec.backendFramework
       |
       = object: DynamoGraphDeployment otter
       = help: did you mean spec.backendFramework?

    error[SCHEMA]: unknown field "spec.components[0].podTemplate.spec.containers[0].tolerations": kubectl refuses the object (strict validation); the API server alone drops the field
      --> -:15:11
       |
    15 |           tolerations: []
       |           ^^^^^^^^^^^^^^^ spec.components[0].podTemplate.spec.containers[0].tolerations
       |
       = object: DynamoGraphDeployment otter
       = help: did you mean spec.components[0].podTemplate.spec.tolerations?
    "#);
}

#[test]
fn a_field_in_the_wrong_block_is_shown_the_right_one() {
    let request = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeploymentRequest\nmetadata:\n  name: otter\nspec:\n  \
                   model: m\n  backend: vllm\n  profilerImage: e:1.4.2\n  profilingConfig: {}\n";
    insta::assert_snapshot!(shown(request), @r#"
    error[SCHEMA]: unknown field "spec.profilerImage": kubectl refuses the object (strict validation); the API server alone drops the field
     --> -:8:3
      |
    8 |   profilerImage: e:1.4.2
      |   ^^^^^^^^^^^^^^^^^^^^^^ spec.profilerImage
      |
      = object: DynamoGraphDeploymentRequest otter
      = help: did you mean spec.profilingConfig.profilerImage?

    error[DGDR-A2]: Required value: must be set
     --> -:9:3
      |
    9 |   profilingConfig: {}
      |   ^^^^^^^^^^^^^^^^^^^ spec.profilingConfig.profilerImage
      |
      = object: DynamoGraphDeploymentRequest otter
      = help: write the image with the profiler, such as nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.2
      = docs: gateward rules DGDR-A2

    error[DGDR-A3]: Required value: must be set
     --> -:9:3
      |
    9 |   profilingConfig: {}
      |   ^^^^^^^^^^^^^^^^^^^ spec.profilingConfig.config
      |
      = object: DynamoGraphDeploymentRequest otter
      = help: {} is accepted
      = docs: gateward rules DGDR-A3
    "#);
}

#[test]
fn a_type_is_named_in_plain_words() {
    let graph = with_image("e:1.4.2").replace("experimental: {}", "experimental: yes please\n    replica: 2");
    insta::assert_snapshot!(shown(&graph), @r#"
    error[SCHEMA]: Invalid value: "string": spec.components[0].experimental in body must be of type object: "string"
     --> -:7:5
      |
    7 |   - experimental: yes please
      |     ^^^^^^^^^^^^^^^^^^^^^^^^ spec.components[0].experimental
      |
      = object: DynamoGraphDeployment otter
      = help: it is text, and must be a map

    error[SCHEMA]: unknown field "spec.components[0].replica": kubectl refuses the object (strict validation); the API server alone drops the field
     --> -:8:5
      |
    8 |     replica: 2
      |     ^^^^^^^^^^ spec.components[0].replica
      |
      = object: DynamoGraphDeployment otter
      = help: did you mean spec.components[0].replicas?
    "#);
}

#[test]
fn a_former_name_is_called_by_the_present_one() {
    let graph = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n  services:\n    \
                 worker:\n      componentType: worker\n      extraPodSpec:\n        mainContainer:\n          image: e:1.4.2\n      \
                 pvc:\n        name: river\n";
    insta::assert_snapshot!(shown(graph), @r#"
    error[SCHEMA]: unknown field "spec.services[worker].pvc": kubectl refuses the object (strict validation); the API server alone drops the field
      --> -:12:7
       |
    12 |       pvc:
       |       ^^^ spec.services[worker].pvc
       |
       = object: DynamoGraphDeployment otter
       = help: did you mean spec.services[worker].volumeMounts?
    "#);
}

#[test]
fn a_wrong_node_within_a_pod_does_not_hide_the_rules() {
    insta::assert_snapshot!(shown(&with_image("e:latest").replace("image:", "args: --fast\n          image:")), @r#"
    error[SCHEMA]: Invalid value: "string": spec.components[0].podTemplate.spec.containers[0].args in body must be of type array: "string"
      --> -:14:11
       |
    14 |           args: --fast
       |           ^^^^^^^^^^^^ spec.components[0].podTemplate.spec.containers[0].args
       |
       = object: DynamoGraphDeployment otter
       = help: it is text, and must be a list

    error[RT-04]: Required value: "latest", the tag of the image "e:latest", is not a version
      --> -:15:11
       |
    15 |           image: e:latest
       |           ^^^^^^^^^^^^^^^ spec.components[0].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: set the version of the runtime, or an image with a tag such as 1.4.2
       = docs: gateward rules RT-04
    "#);
}

#[test]
fn a_wrong_node_within_a_pod_hides_only_the_rules_that_read_it() {
    let graph = with_image("e:1.4.2").replace("experimental: {}", "experimental:\n      gpuMemoryService: {}");
    let found = shown(&graph.replace("image:", "args: --fast\n          image:"));
    assert!(found.contains("error[GMS-02]: Forbidden: the main container must have a GPU"), "{found}");
    let limits = "resources:\n            limits:\n              nvidia.com/gpu: [1]\n          image:";
    let found = shown(&graph.replace("image:", limits));
    assert!(found.contains("limits[nvidia.com/gpu]") && !found.contains("GMS-02"), "{found}");
}

#[test]
fn rules_and_schema_spell_paths_alike() {
    let service = "    worker:\n      componentType: worker\n      replicas: 99999999999\n";
    let graph = format!(
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n  services:\n{service}"
    );
    let found = shown(&graph);
    assert!(found.contains("error[DECODE]") && found.contains("^ spec.services[worker].replicas\n"), "{found}");
}

#[test]
fn a_rule_and_the_schema_name_a_service_alike() {
    insta::assert_snapshot!(shown(&service("      replica: 2\n")), @r#"
    error[SCHEMA]: unknown field "spec.services[worker].replica": kubectl refuses the object (strict validation); the API server alone drops the field
     --> -:9:7
      |
    9 |       replica: 2
      |       ^^^^^^^^^^ spec.services[worker].replica
      |
      = object: DynamoGraphDeployment otter
      = help: did you mean spec.services[worker].replicas?

    error[RT-04]: Required value: "latest", the tag of the image "nvcr.io/nvidia/vllm-runtime:latest", is not a version
      --> -:12:11
       |
    12 |           image: nvcr.io/nvidia/vllm-runtime:latest
       |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ spec.services[worker].runtimeVersionOverride
       |
       = object: DynamoGraphDeployment otter
       = help: set the version of the runtime, or an image with a tag such as 1.4.2
       = docs: gateward rules RT-04
    "#);
}

#[test]
fn the_same_warning_about_several_services_is_one() {
    let service = |name: &str| {
        format!(
            "    {name}:\n      componentType: worker\n      dynamoNamespace: reef\n      extraPodSpec:\n        \
             mainContainer:\n          image: e:1.4.2\n"
        )
    };
    let graph = format!(
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\n  namespace: zoo\nspec:\n  \
         services:\n{}{}",
        service("a"),
        service("b")
    );
    let found = all_shown(&graph, 0);
    let (warning, _) = found.split_once("note: these CEL rules").unwrap();
    insta::assert_snapshot!(warning, @r#"
    warning[ALPHA-03]: dynamoNamespace "reef" is ignored: the Dynamo namespace is "zoo-otter"
      --> -:10:7
       |
    10 |       dynamoNamespace: reef
       |       ^^^^^^^^^^^^^^^^^^^^^ spec.services[a].dynamoNamespace
       |
      ::: -:16:7
       |
    16 |       dynamoNamespace: reef
       |       ^^^^^^^^^^^^^^^^^^^^^ spec.services[b].dynamoNamespace
       |
       = object: DynamoGraphDeployment zoo/otter
       = help: remove dynamoNamespace; whatever reads it finds the namespace in the environment of its pod
       = docs: gateward rules ALPHA-03
    "#);
}

#[test]
fn what_schema_and_rule_both_say_is_said_once() {
    let model =
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoModel\nmetadata:\n  name: otter\nspec:\n  modelName: otter\n";
    insta::assert_snapshot!(shown(model), @r#"
    error[MODEL-02]: Required value: must be set
     --> -:5:1
      |
    5 | spec:
      | ^^^^ spec.baseModelName
      |
      = object: DynamoModel otter
      = help: write the name of the model that the workers serve, such as Qwen/Qwen3-0.6B
      = docs: gateward rules MODEL-02
    "#);
}

#[test]
fn the_same_finding_at_several_places_is_one() {
    let second = "  - name: second\n    type: worker\n";
    insta::assert_snapshot!(shown(&format!("{}{second}", worker("    type: worker\n"))), @r#"
    error[RT-03]: Required value: the component has no podTemplate
      --> -:8:5
       |
     8 |     name: worker
       |     ^^^^^^^^^^^^ spec.components[0].podTemplate.spec.containers
       |
      ::: -:10:5
       |
    10 |   - name: second
       |     ^^^^^^^^^^^^ spec.components[1].podTemplate.spec.containers
       |
       = object: DynamoGraphDeployment otter
       = help: set the image of the container `main`; where an overlay adds it, check what is applied: `kustomize build . | gateward check -`
       = docs: gateward rules RT-03
    "#);
}

#[test]
fn the_same_finding_about_several_items_is_one() {
    let graph = with_image("e:1.5.0").replace("image: e:1.5.0\n", "image: e:1.5.0\n          args: [5, 6]\n");
    insta::assert_snapshot!(shown(&graph), @r#"
    error[SCHEMA]: Invalid value: "integer": args[*] in body must be of type string: "integer"
      --> -:15:18
       |
    15 |           args: [5, 6]
       |                  ^ spec.components[0].podTemplate.spec.containers[0].args[0]
       |
      ::: -:15:21
       |
    15 |           args: [5, 6]
       |                     ^ spec.components[0].podTemplate.spec.containers[0].args[1]
       |
       = object: DynamoGraphDeployment otter
       = help: it is a whole number, and must be text
    "#);
}

#[test]
fn rules_that_were_not_evaluated_are_named_once_at_the_end() {
    let graph = with_image("e:1.4.2").replace("  components:", "  restart:\n    id: again\n  components:").replace(
        "    type: worker\n",
        "    type: worker\n    eppConfig:\n      configMapRef:\n        name: picker\n        key: config\n",
    );
    insta::assert_snapshot!(all_shown(&graph, 0), @r#"
    note: these CEL rules were not evaluated; the API server evaluates them:
      - at most one component may have type epp
      - component names must differ in more than the case of letters
      - eppConfig may only be set when type is epp
      - exactly one of configMapRef and config must be set
      - minAvailable must not be greater than replicas (1 when unset) unless replicas is 0
      - restart cannot be set on creation; set restart.id later to restart the graph

    0 errors, 6 CEL rules not evaluated, 0 warnings, 0 notes in 1 object of 1 file
    "#);
}
