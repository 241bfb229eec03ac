//! A kind in three versions: shelves of boxes are a map in v1, a list in the hub, and only counted in v2.

use std::collections::BTreeMap;

use gateward_core::testing::block_on;
use gateward_core::{
    Context, ConversionError, Convert, Converted, FieldPath, Issues, Provenance, Raw, ReviewResponse, STASH, Stash,
    Webhook, Webhooks, resource,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

macro_rules! shop {
    ($name:ident, $spec:ident, $version:literal) => {
        #[derive(Debug, Clone, Default, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $name {
            pub metadata: Metadata,
            pub spec: $spec,
        }

        resource!($name, concat!("shop.example.org/", $version), "Shop", "shops");
    };
}

shop!(MapShop, MapSpec, "v1");
shop!(CountShop, CountSpec, "v2");
shop!(Shop, ListSpec, "v3");

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MapSpec {
    pub boxes: BTreeMap<String, Crate>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner: String,
}

/// A box of v1. Its `lid` is another name for the hub's `cover`; `lamp` is v1's alone.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq)]
#[serde(default)]
pub struct Crate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lid: Option<Cover>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lamp: Option<Cover>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goods: Option<Raw<Value>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq)]
#[serde(default)]
pub struct Cover {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub color: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ListSpec {
    pub boxes: Vec<Box>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Box {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cover: Option<Cover>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goods: Option<Raw<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shelf: Option<u32>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CountSpec {
    pub count: usize,
}

/// The keys under which conversion itself writes: the group of the first kind is their prefix.
pub const PRESERVED: &str = "shop.example.org/preserved";
pub const INCOMPLETE: &str = "shop.example.org/incomplete";
pub const INCOMPLETE_FIELDS: &str = "shop.example.org/incomplete-fields";

const LAMPS: Stash = Stash::new("shop.example.org/lamps");
const BOXES: Stash = Stash::new("shop.example.org/boxes");

pub struct MapConversion;

impl Convert<MapShop, Shop> for MapConversion {
    fn to_hub(&self, old: &MapShop, provenance: &mut Provenance, issues: &mut Issues) -> Result<Shop, ConversionError> {
        if old.spec.owner == "nobody" {
            let message = "a shop has an owner".into();
            return Err(ConversionError { path: FieldPath::field("spec") / "owner", message });
        }
        let mut metadata = old.metadata.clone();
        LAMPS.take::<Value>(&mut metadata.annotations, issues);
        let spec = || FieldPath::field("spec") / "boxes";
        provenance.made(|| (spec(), spec()));
        let boxes = old.spec.boxes.iter().enumerate().map(|(index, (name, old))| {
            provenance.moved(|| (spec().index(index), spec().key(name.clone())));
            provenance.moved(|| (spec().index(index) / "cover", spec().key(name.clone()) / "lid"));
            Box { name: name.clone(), cover: old.lid.clone(), goods: old.goods.clone(), shelf: None }
        });
        let boxes = boxes.collect();
        let lamps: BTreeMap<_, _> =
            old.spec.boxes.iter().filter_map(|(name, old)| Some((name, old.lamp.as_ref()?))).collect();
        LAMPS.put(&mut metadata.annotations, &lamps);
        Ok(Shop { metadata, spec: ListSpec { boxes, owner: old.spec.owner.clone() } })
    }

    fn from_hub(&self, new: &Shop, issues: &mut Issues) -> Result<MapShop, ConversionError> {
        let mut metadata = new.metadata.clone();
        let mut lamps: BTreeMap<String, Cover> = LAMPS.take(&mut metadata.annotations, issues).unwrap_or_default();
        let boxes = new.spec.boxes.iter().map(|each| {
            let lamp = lamps.remove(&each.name);
            (each.name.clone(), Crate { lid: each.cover.clone(), lamp, goods: each.goods.clone() })
        });
        let boxes = boxes.collect();
        Ok(MapShop { metadata, spec: MapSpec { boxes, owner: new.spec.owner.clone() } })
    }
}

pub struct CountConversion;

impl Convert<CountShop, Shop> for CountConversion {
    fn to_hub(&self, old: &CountShop, _: &mut Provenance, issues: &mut Issues) -> Result<Shop, ConversionError> {
        if old.spec.count > 1000 {
            let message = "no shop has so many boxes".into();
            return Err(ConversionError { path: FieldPath::field("spec") / "count", message });
        }
        let mut metadata = old.metadata.clone();
        let mut boxes: Vec<Box> = BOXES.take(&mut metadata.annotations, issues).unwrap_or_default();
        boxes.resize_with(old.spec.count, Box::default);
        Ok(Shop { metadata, spec: ListSpec { boxes, owner: String::new() } })
    }

    fn from_hub(&self, new: &Shop, issues: &mut Issues) -> Result<CountShop, ConversionError> {
        for (index, each) in new.spec.boxes.iter().enumerate() {
            let at = (FieldPath::field("spec") / "boxes").index(index) / "cover" / "color";
            match each.cover.as_ref().map(|cover| cover.color.as_str()) {
                Some("none") => return Err(ConversionError { path: at, message: "nobody can count this".into() }),
                Some("dark") => issues.add(STASH.note(at, "hard to count")),
                _ => {}
            }
        }
        let mut metadata = new.metadata.clone();
        BOXES.put(&mut metadata.annotations, &new.spec.boxes);
        Ok(CountShop { metadata, spec: CountSpec { count: new.spec.boxes.len() } })
    }
}

pub fn webhooks() -> Webhooks {
    let shop = Webhook::<Shop>::new().spoke::<MapShop>(MapConversion).spoke::<CountShop>(CountConversion);
    Webhooks::new().register(shop)
}

pub fn shop(version: &str, spec: Value) -> Value {
    json!({"apiVersion": api_version(version), "kind": "Shop", "metadata": {"name": "corner"}, "spec": spec})
}

pub fn api_version(version: &str) -> String {
    format!("shop.example.org/{version}")
}

pub fn try_convert(object: &Value, version: &str) -> Result<Converted, ConversionError> {
    convert_text(&object.to_string(), version)
}

pub fn convert_text(object: &str, version: &str) -> Result<Converted, ConversionError> {
    webhooks().convert(object, &api_version(version))
}

pub fn convert(object: &Value, version: &str) -> Value {
    serde_json::from_str(&try_convert(object, version).unwrap().json).unwrap()
}

/// The answer to a ConversionReview.
pub fn review(objects: &[Value], version: &str) -> (Value, gateward_core::Decision) {
    let answer = answer(body(objects, version).as_bytes());
    assert_eq!(answer.status, 200);
    (serde_json::from_slice(&answer.body).unwrap(), answer.decision)
}

/// A ConversionReview of the objects.
pub fn body(objects: &[Value], version: &str) -> String {
    let request = json!({"uid": "u-1", "desiredAPIVersion": api_version(version), "objects": objects});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}).to_string()
}

/// The answer to whatever may be a ConversionReview.
pub fn answer(body: &[u8]) -> ReviewResponse {
    answer_in(body, &context())
}

/// The same in another context.
pub fn answer_in(body: &[u8], context: &Context) -> ReviewResponse {
    block_on(webhooks().handle("/convert", body, context))
}

/// One without facts and without a cluster.
pub fn context() -> Context {
    Context::new(std::time::SystemTime::UNIX_EPOCH, std::sync::Arc::new(()))
}
