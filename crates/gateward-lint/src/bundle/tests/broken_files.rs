//! Bundles whose files, CSV or CRDs break a rule.

use super::change::Broken;
use super::change::Change::{Add, Pad, Remove, Replace};
use super::change::{ANNOTATIONS, CRD, CSV};

const OWNED: &str = "      - name: otters.zoo.example.org\n";
const STORED: &str = "  scope: Namespaced\n";
const NAME: &str = "  name: otters.zoo.example.org\n";
const FIRST: &str = "      storage: true\n";
const ALL: &str = "    - {type: AllNamespaces, supported: true}\n";

pub(super) const BROKEN: &[Broken] = &[
    ("OLM-LAYOUT-01", &[Remove(ANNOTATIONS)]),
    ("OLM-LAYOUT-02", &[Remove(CSV)]),
    (
        "OLM-LAYOUT-02",
        &[Add(
            "manifests/second.yaml",
            "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: b}\n",
        )],
    ),
    ("OLM-LAYOUT-03", &[Add("manifests/deep/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")]),
    ("OLM-LAYOUT-03", &[Add("manifests/.hidden", "")]),
    (
        "OLM-LAYOUT-04",
        &[Add(
            "manifests/w.yaml",
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\n",
        )],
    ),
    ("OLM-LAYOUT-04", &[Add("manifests/d.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n")]),
    ("OLM-LAYOUT-05", &[Add("manifests/a.yaml", "apiVersion: v1\nkind: ConfigMap\n")]),
    ("OLM-LAYOUT-05", &[Add("manifests/a.yaml", "metadata: {name: a}\n")]),
    (
        "OLM-LAYOUT-06",
        &[Replace(
            CRD,
            "kind: CustomResourceDefinition\n",
            "kind: CustomResourceDefinition\n---\nkind: ConfigMap\n---\n",
        )],
    ),
    ("OLM-LAYOUT-07", &[Pad(CRD, 1_100_000)]),
    ("OLM-LAYOUT-07", &[Pad(CRD, 600_000), Pad(CSV, 500_000)]),
    ("OLM-LAYOUT-11", &[Pad(CRD, 950_000)]),
    ("OLM-LAYOUT-08", &[Add("manifests/s.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: otter-service}\n")]),
    (
        "OLM-LAYOUT-08",
        &[Add("manifests/s.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: otter-webhook-service}\n")],
    ),
    ("OLM-LAYOUT-09", &[Add("manifests/list.yaml", "- a\n")]),
    ("OLM-LAYOUT-09", &[Add("manifests/empty.yaml", "")]),
    ("OLM-META-01", &[Replace(ANNOTATIONS, "annotations:", "notes:")]),
    ("OLM-META-02", &[Replace(ANNOTATIONS, "bundle.channels.v1", "bundle.channel.v1")]),
    ("OLM-META-03", &[Replace(ANNOTATIONS, "registry+v1", "helm")]),
    ("OLM-META-04", &[Replace(ANNOTATIONS, "channel.default.v1: stable", "channel.default.v1: ''")]),
    ("OLM-META-04", &[Replace(ANNOTATIONS, "channels.v1: stable,candidate-v1", "channels.v1: ''")]),
    ("OLM-META-05", &[Replace(ANNOTATIONS, "v1: manifests/", "v1: deploy/")]),
    ("OLM-META-06", &[Replace(ANNOTATIONS, "package.v1: otter", "package.v1: ''")]),
    ("OLM-META-06", &[Replace(ANNOTATIONS, "  operators.operatorframework.io.bundle.package.v1: otter\n", "")]),
    ("OLM-META-07", &[Add("metadata/dependencies.yaml", "dependencies: [{type: olm.crd, value: {}}]\n")]),
    (
        "OLM-META-07",
        &[Add("metadata/dependencies.yaml", "dependencies: [{type: olm.constraint, value: {failureMessage: a}}]\n")],
    ),
    (
        "OLM-META-07",
        &[Add("metadata/dependencies.yaml", "dependencies: [{type: olm.constraint, value: {cel: {rule: ''}}}]\n")],
    ),
    (
        "OLM-META-07",
        &[Add("metadata/dependencies.yaml", "dependencies: [{type: olm.package, value: {packageName: a}}]\n")],
    ),
    (
        "OLM-META-07",
        &[Add(
            "metadata/dependencies.yaml",
            "dependencies: [{type: olm.package, value: {packageName: a, version: '>=one'}}]\n",
        )],
    ),
    ("OLM-CSV-01", &[Replace(CSV, "name: otter.v1.2.3", "name: Otter.v1.2.3")]),
    ("OLM-CSV-01", &[Replace(CSV, "  version: 1.2.3\n", "  version: 1.2.3\n  replaces: otter_1.2.2\n")]),
    ("OLM-CSV-02", &[Replace(CSV, "  displayName: Otter\n", "")]),
    ("OLM-CSV-02", &[Replace(CSV, "    strategy: deployment\n", "")]),
    ("OLM-CSV-03", &[Replace(CSV, "operators.coreos.com/v1alpha1", "operators.coreos.com/v1")]),
    ("OLM-CSV-04", &[Replace(CSV, "strategy: deployment", "strategy: helm")]),
    ("OLM-CSV-05", &[Replace(CSV, ALL, "    - {type: AllNamespaces, supported: false}\n")]),
    ("OLM-CSV-05", &[Replace(CSV, "  installModes:\n", "  installModes: []\n  modes:\n")]),
    (
        "OLM-CSV-06",
        &[Replace(
            CSV,
            ALL,
            "    - {type: AllNamespaces, supported: true}\n    - {type: AllNamespaces, supported: true}\n",
        )],
    ),
    ("OLM-CSV-07", &[Replace(CSV, "minKubeVersion: 1.25.0", "minKubeVersion: v1.25")]),
    ("OLM-CSV-08", &[Replace(CSV, "  minKubeVersion: 1.25.0\n", "")]),
    ("OLM-CSV-09", &[Replace(CSV, "[{\"apiVersion\"", "{\"apiVersion\"")]),
    ("OLM-CSV-09", &[Replace(CSV, "\"kind\": \"Otter\"", "\"kind\": \"Seal\"")]),
    // YAML, and no JSON.
    ("OLM-CSV-09", &[Replace(CSV, "[{\"apiVersion\"", "[{apiVersion")]),
    ("OLM-CSV-10", &[Replace(CSV, "alm-examples", "examples")]),
    ("OLM-CSV-10", &[Replace(CSV, "    capabilities:", "    olm.examples: '[]'\n    capabilities:")]),
    (
        "OLM-CSV-10",
        &[Replace(
            CSV,
            "[{\"apiVersion\": \"zoo.example.org/v1\", \"kind\": \"Otter\", \"metadata\": {\"name\": \"finn\"}}]",
            "[]",
        )],
    ),
    ("OLM-CSV-11", &[Replace(CSV, "    capabilities:", "    olm.skiprange: '<1.2.3'\n    capabilities:")]),
    ("OLM-CSV-12", &[Replace(CSV, "    capabilities:", "    olm.properties: '[]'\n    capabilities:")]),
    ("OLM-CSV-13", &[Replace(CSV, "image: registry.example.org/otter:1.2.3", "image: ''")]),
    ("OLM-CSV-14", &[Replace(CSV, "  version: 1.2.3\n", "  version: 1.2.3\n  release: '2'\n")]),
    ("OLM-CSV-15", &[Replace(CSV, OWNED, "      - name: otters\n")]),
    ("OLM-CSV-16", &[Replace(CSV, "  version: 1.2.3\n", "  version: one\n")]),
    ("OLM-CSV-16", &[Replace(CSV, "  version: 1.2.3\n", "  version: 1.2-a\n")]),
    (
        "OLM-CSV-17",
        &[Replace(
            CSV,
            "        - name: otter\n          spec:\n",
            "        - name: otter\n          spec:\n            replicas: two\n",
        )],
    ),
    ("OLM-CSV-17", &[Replace(CSV, "  displayName: Otter\n", "  displayName: Otter\n  keywords: otter\n")]),
    ("OLM-CSV-17", &[Replace(CSV, "ports: [{name: webhook, containerPort: 9443}]", "ports: [{name: webhook}]")]),
    ("OLM-CSV-17", &[Replace(CSV, "  name: otter.v1.2.3\n", "  name: otter.v1.2.3\n  labels: {zoo: not so}\n")]),
    ("OLM-CRD-06", &[Replace(CRD, "served: true", "served: 'yes'")]),
    ("OLM-CRD-06", &[Replace(CRD, "listKind: OtterList,", "listKind: OtterList, shortNames: [{}],")]),
    ("OLM-CRD-06", &[Replace(CRD, NAME, "  name: otters.zoo.example.org\n  labels: {zoo: 7}\n")]),
    ("OLM-CRD-01", &[Replace(CRD, "name: v1beta1", "name: v1")]),
    ("OLM-CRD-02", &[Remove(CRD)]),
    ("OLM-CRD-02", &[Replace(CSV, "        version: v1\n", "        version: v2\n")]),
    ("OLM-CRD-03", &[Replace(CSV, "        kind: Otter\n", "        kind: Seal\n")]),
    ("OLM-CRD-04", &[Replace(CRD, STORED, "  scope: Namespaced\n  conversion: {strategy: Webhook}\n")]),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b, port: 70000}}}}\n",
        )],
    ),
    ("OLM-CRD-04", &[Replace(CRD, STORED, "  scope: Namespaced\n  conversion: {strategy: None, webhook: {}}\n")]),
    ("OLM-CRD-04", &[Replace(CRD, STORED, "  scope: Namespaced\n  conversion: {strategy: Hook}\n")]),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  preserveUnknownFields: true\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a'}}}\n",
        )],
    ),
    (
        "OLM-CRD-05",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}}}\n",
        )],
    ),
    ("OLM-CRD-06", &[Replace(CRD, "name: otters.zoo.example.org", "name: otter.zoo.example.org")]),
    ("OLM-CRD-07", &[Replace(CRD, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")]),
    ("OLM-CRD-06", &[Replace(CRD, "storage: false", "storage: true")]),
    ("OLM-CRD-06", &[Replace(CRD, "scope: Namespaced", "scope: Zoo")]),
    ("OLM-CRD-06", &[Replace(CRD, STORED, "  scope: Namespaced\n  preserveUnknownFields: true\n")]),
    ("OLM-CRD-06", &[Replace(CRD, "listKind: OtterList,", "listKind: Otter,")]),
    ("OLM-CRD-06", &[Replace(CRD, "listKind: OtterList,", "listKind: OtterList, shortNames: [Ot],")]),
    ("OLM-CRD-06", &[Replace(CRD, "listKind: OtterList,", "listKind: OtterList, categories: [a.b],")]),
    ("OLM-CRD-06", &[Replace(CRD, "  group: zoo.example.org\n", "  group: zoo\n")]),
    ("OLM-CRD-04", &[Replace(CRD, STORED, "  scope: Namespaced\n  conversion: {}\n")]),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1, v1], clientConfig: {service: {name: a, namespace: b}}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1, V2], clientConfig: {service: {name: a, namespace: b}}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b, path: /a//b}}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b, path: /Convert}}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'http://a'}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://'}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://me@a/convert'}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a/convert?b=c'}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a/convert#b'}}}\n",
        )],
    ),
    (
        "OLM-CRD-04",
        &[Replace(
            CRD,
            STORED,
            "  scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a/convert', service: {name: a, namespace: b}}}}\n",
        )],
    ),
    ("OLM-CRD-06", &[Replace(CRD, "listKind: OtterList,", "listKind: OtterList, categories: [1a],")]),
    ("OLM-CRD-06", &[Replace(CRD, "name: v1beta1", "name: 1beta1")]),
    (
        "OLM-CRD-06",
        &[
            Replace(CRD, NAME, "  name: 1otters.zoo.example.org\n"),
            Replace(CRD, "plural: otters", "plural: 1otters"),
            Replace(CSV, OWNED, "      - name: 1otters.zoo.example.org\n"),
            Replace(CSV, "conversionCRDs: [otters", "conversionCRDs: [1otters"),
        ],
    ),
    (
        "OLM-CRD-06",
        &[
            Replace(CRD, NAME, "  name: otters.zoo.k8s.io\n"),
            Replace(CRD, "group: zoo.example.org", "group: zoo.k8s.io"),
        ],
    ),
    ("OLM-CRD-06", &[Replace(CRD, NAME, "  name: otters.zoo.example.org\n  labels: {zoo: not so}\n")]),
    ("OLM-CRD-06", &[Replace(CRD, NAME, "  name: otters.zoo.example.org\n  annotations: {a/b/c: d}\n")]),
    ("OLM-CRD-06", &[Replace(CRD, NAME, "  name: otters.zoo.example.org\n  namespace: zoo\n")]),
    (
        "OLM-CRD-08",
        &[Replace(CRD, FIRST, "      storage: true\n      additionalPrinterColumns: [{name: Age, type: date}]\n")],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            FIRST,
            "      storage: true\n      additionalPrinterColumns: [{name: Age, type: time, jsonPath: .a}]\n",
        )],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            FIRST,
            "      storage: true\n      additionalPrinterColumns: [{name: Age, type: date, jsonPath: a}]\n",
        )],
    ),
    (
        "OLM-CRD-08",
        &[Replace(CRD, FIRST, "      storage: true\n      additionalPrinterColumns: [{type: date, jsonPath: .a}]\n")],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            FIRST,
            "      storage: true\n      additionalPrinterColumns: [{name: Age, type: date, jsonPath: .a, format: time}]\n",
        )],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            FIRST,
            "      storage: true\n      subresources: {scale: {specReplicasPath: spec.replicas, statusReplicasPath: .status.replicas}}\n",
        )],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            FIRST,
            "      storage: true\n      subresources: {scale: {specReplicasPath: .spec.replicas}}\n",
        )],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            FIRST,
            "      storage: true\n      subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .selector}}\n",
        )],
    ),
    ("OLM-CRD-08", &[Replace(CRD, FIRST, "      storage: true\n      deprecationWarning: old\n")]),
    (
        "OLM-CRD-08",
        &[Replace(CRD, FIRST, "      storage: true\n      deprecated: true\n      deprecationWarning: ''\n")],
    ),
    (
        "OLM-CRD-08",
        &[Replace(CRD, FIRST, "      storage: true\n      deprecated: true\n      deprecationWarning: \"a\\tb\"\n")],
    ),
    ("OLM-CRD-08", &[Replace(CRD, FIRST, "      storage: true\n      selectableFields: [{jsonPath: .spec.colour}]\n")]),
    (
        "OLM-CRD-08",
        &[Replace(CRD, FIRST, "      storage: true\n      selectableFields: [{jsonPath: .metadata.name}]\n")],
    ),
    ("OLM-CRD-08", &[Replace(CRD, FIRST, "      storage: true\n      selectableFields: [{}]\n")]),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            "      schema: {openAPIV3Schema: {type: object}}\n",
            "      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: array, items: {type: string}}}}}}}\n      selectableFields: [{jsonPath: .spec.a}, {jsonPath: .spec.a}]\n",
        )],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            "      schema: {openAPIV3Schema: {type: object}}\n",
            "      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: array, items: {type: string}}}}}}}\n      selectableFields: [{jsonPath: .spec.b}]\n",
        )],
    ),
    (
        "OLM-CRD-08",
        &[Replace(
            CRD,
            "      schema: {openAPIV3Schema: {type: object}}\n",
            "      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: array, items: {type: string}}}}}}}\n      selectableFields: [{jsonPath: '.spec[a]'}]\n",
        )],
    ),
    (
        "OLM-LAYOUT-10",
        &[Add("manifests/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {zoo: not so}}\n")],
    ),
    (
        "OLM-LAYOUT-10",
        &[Add("manifests/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {a/b/c: d}}\n")],
    ),
    (
        "OLM-LAYOUT-10",
        &[Add("manifests/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: zoo}\n")],
    ),
    ("OLM-CRD-02", &[Replace(CRD, "      served: true\n", "      served: false\n")]),
    ("OLM-CSV-13", &[Replace(CSV, "image: registry.example.org/otter:1.2.3", "image: example.org/Otter")]),
    (
        "OLM-GOOD-03",
        &[Replace(
            CSV,
            "    owned:\n",
            "    required: [{name: seals.zoo.example.org, version: v1, kind: Seal}]\n    owned:\n",
        )],
    ),
    ("OLM-HUB-01", &[Replace(CSV, "    name: Zoo\n", "    name: ' '\n")]),
    ("OLM-HUB-08", &[Replace(CSV, "Networking, Storage", "Networking, Development Tools")]),
    ("OLM-HUB-01", &[Replace(CSV, "    name: Zoo\n", "    url: https://example.org\n")]),
    ("OLM-HUB-02", &[Replace(CSV, "keepers@example.org", "keepers")]),
    ("OLM-HUB-03", &[Replace(CSV, "url: https://example.org/otter", "url: example.org")]),
    ("OLM-HUB-04", &[Replace(CSV, "  version: 1.2.3\n", "")]),
    ("OLM-HUB-05", &[Replace(CSV, "image/svg+xml", "image/webp")]),
    ("OLM-HUB-06", &[Replace(CSV, "  icon:", "  logo:")]),
    ("OLM-HUB-07", &[Replace(CSV, "Seamless Upgrades", "Full Autopilot")]),
    ("OLM-HUB-08", &[Replace(CSV, "Networking, Storage", "Networking, Animals")]),
    ("OLM-GOOD-01", &[Replace(CSV, "      deployments:", "      deployed:")]),
    ("OLM-GOOD-02", &[Replace(CSV, "cpu: 10m, ", "")]),
    ("OLM-GOOD-03", &[Replace(CSV, "        description: An otter\n", "")]),
    ("OLM-GOOD-04", &[Replace(ANNOTATIONS, "candidate-v1", "alpha")]),
    (
        "OLM-GOOD-05",
        &[Replace(
            CSV,
            "{apiGroups: [zoo.example.org], resources: [otters], verbs: [get, list, watch]}",
            "{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, patch]}",
        )],
    ),
    ("OLM-GOOD-06", &[Replace(CSV, "name: otter.v1.2.3", "name: otter-1.2.3")]),
    (
        "OLM-API-01",
        &[Add("manifests/r.yaml", "apiVersion: rbac.authorization.k8s.io/v1beta1\nkind: Role\nmetadata: {name: a}\n")],
    ),
    (
        "OLM-API-02",
        &[
            Add("manifests/r.yaml", "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n"),
            Replace(CSV, "minKubeVersion: 1.25.0", "minKubeVersion: 1.24.9"),
        ],
    ),
    (
        "OLM-OBJECT-01",
        &[Add(
            "manifests/p.yaml",
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {maxUnavailable: 0}\n",
        )],
    ),
    (
        "OLM-OBJECT-01",
        &[Add(
            "manifests/p.yaml",
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {minAvailable: 100%}\n",
        )],
    ),
    (
        "OLM-OBJECT-01",
        &[Add(
            "manifests/p.yaml",
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {maxUnavailable: 50%}\n",
        )],
    ),
    (
        "OLM-OBJECT-02",
        &[Add(
            "manifests/p.yaml",
            "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: a}\nglobalDefault: true\n",
        )],
    ),
    (
        "OLM-OBJECT-03",
        &[Add(
            "manifests/r.yaml",
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules: [{apiGroups: [security.openshift.io], resources: [securitycontextconstraints], resourceNames: [anyuid], verbs: [update]}]\n",
        )],
    ),
    (
        "OLM-OBJECT-04",
        &[Add(
            "manifests/r.yaml",
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [create]}]\n",
        )],
    ),
];
