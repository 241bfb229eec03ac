//! Operators that differ in their group alone: otters in two versions, and lodges, whose CRD the operator brings.

use gateward::Names;
use serde_json::{Value, json};

macro_rules! world {
    ($module:ident, $group:literal) => {
        pub mod $module {
            use gateward::prelude::*;
            use serde::{Deserialize, Serialize};

            pub mod v1 {
                use super::{Deserialize, Serialize, resource};

                #[derive(Serialize, Deserialize)]
                pub struct Otter {
                    pub spec: Spec,
                }

                #[derive(Serialize, Deserialize)]
                pub struct Spec {
                    pub size: u32,
                }

                resource!(Otter, concat!($group, "/v1"), "Otter", "otters");
            }

            pub mod v2 {
                use super::{Deserialize, Serialize, resource};

                #[derive(Serialize, Deserialize)]
                pub struct Otter {
                    pub spec: Spec,
                }

                #[derive(Serialize, Deserialize)]
                pub struct Spec {
                    pub length: u32,
                }

                resource!(Otter, concat!($group, "/v2"), "Otter", "otters");
            }

            #[derive(Serialize, Deserialize)]
            pub struct Lodge {
                pub spec: Rooms,
            }

            #[derive(Serialize, Deserialize)]
            pub struct Rooms {
                pub rooms: Option<u32>,
            }

            resource!(Lodge, concat!($group, "/v1"), "Lodge", "lodges");

            pub struct Renamed;

            impl Convert<v1::Otter, v2::Otter> for Renamed {
                fn to_hub(
                    &self,
                    otter: &v1::Otter,
                    _: &mut Provenance,
                    _: &mut Issues,
                ) -> Result<v2::Otter, ConversionError> {
                    Ok(v2::Otter { spec: v2::Spec { length: otter.spec.size } })
                }

                fn from_hub(&self, otter: &v2::Otter, _: &mut Issues) -> Result<v1::Otter, ConversionError> {
                    Ok(v1::Otter { spec: v1::Spec { size: otter.spec.length } })
                }
            }

            pub fn webhooks() -> Webhooks {
                let short = |otter: &v2::Otter, _: &Request| match otter.spec.length {
                    0..=200 => Ok(()),
                    _ => Err(Verdict::deny("no otter is that long").code(422)),
                };
                let furnished = |mut lodge: Lodge, _: &Request| {
                    lodge.spec.rooms.get_or_insert(3);
                    lodge
                };
                Webhooks::new()
                    .register(
                        Webhook::<v2::Otter>::new()
                            .spoke::<v1::Otter>(Renamed)
                            .crd(super::otters($group))
                            .validator(short),
                    )
                    .register(Webhook::<Lodge>::new().crd(super::lodges($group)).defaulter(furnished))
            }
        }
    };
}

world!(brook, "brook.example.org");
world!(creek, "creek.example.org");
world!(delta, "delta.example.org");
world!(estuary, "estuary.example.org");
world!(fjord, "fjord.example.org");
world!(inlet, "inlet.example.org");
world!(lagoon, "lagoon.example.org");
world!(marsh, "marsh.example.org");
world!(pond, "pond.example.org");
world!(rapids, "rapids.example.org");

/// One of the operators.
#[derive(Clone, Copy)]
pub struct World {
    name: &'static str,
    webhooks: fn() -> gateward::Webhooks,
}

impl World {
    pub const BROOK: Self = Self { name: "brook", webhooks: brook::webhooks };
    pub const CREEK: Self = Self { name: "creek", webhooks: creek::webhooks };
    pub const DELTA: Self = Self { name: "delta", webhooks: delta::webhooks };
    pub const ESTUARY: Self = Self { name: "estuary", webhooks: estuary::webhooks };
    pub const FJORD: Self = Self { name: "fjord", webhooks: fjord::webhooks };
    pub const INLET: Self = Self { name: "inlet", webhooks: inlet::webhooks };
    pub const LAGOON: Self = Self { name: "lagoon", webhooks: lagoon::webhooks };
    pub const MARSH: Self = Self { name: "marsh", webhooks: marsh::webhooks };
    pub const POND: Self = Self { name: "pond", webhooks: pond::webhooks };
    pub const RAPIDS: Self = Self { name: "rapids", webhooks: rapids::webhooks };

    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::BROOK, Self::CREEK, Self::DELTA, Self::ESTUARY, Self::FJORD];
        let more = [Self::INLET, Self::LAGOON, Self::MARSH, Self::POND, Self::RAPIDS];
        all.into_iter().chain(more).find(|world| world.name == name)
    }

    /// What its operator is called.
    pub fn name(self) -> &'static str {
        self.name
    }

    pub fn group(self) -> String {
        format!("{}.example.org", self.name)
    }

    pub fn operator(self) -> impl gateward::Operator {
        Names::new(self.name, "1.0.0").of((self.webhooks)())
    }

    /// The CRD of the otters, as an administrator has installed it: nothing converts.
    pub fn otters(self) -> Value {
        otters(&self.group())
    }

    pub fn otter(self, version: &str, name: &str, spec: &Value) -> Value {
        self.object(version, "Otter", name, spec)
    }

    pub fn lodge(self, name: &str) -> Value {
        self.object("v1", "Lodge", name, &json!({}))
    }

    fn object(self, version: &str, kind: &str, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("{}/{version}", self.group()),
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        })
    }
}

fn otters(group: &str) -> Value {
    let versions = [version("v1", "size", false), version("v2", "length", true)];
    crd(group, "Otter", "otters", &json!(versions))
}

fn lodges(group: &str) -> Value {
    crd(group, "Lodge", "lodges", &json!([version("v1", "rooms", true)]))
}

fn version(name: &str, field: &str, storage: bool) -> Value {
    let spec = json!({"type": "object", "properties": {field: {"type": "integer"}}});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    json!({"name": name, "served": true, "storage": storage, "schema": schema})
}

fn crd(group: &str, kind: &str, plural: &str, versions: &Value) -> Value {
    let singular = kind.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": singular, "listKind": format!("{kind}List")},
            "versions": versions,
        },
    })
}
