//! Resources: texts by short names in v1alpha1, Kubernetes resource names and quantities in v1beta1.

use dynamo_api::constants::GPU_RESOURCE;
use dynamo_api::pod::ResourceClaim;
use dynamo_api::quantity::Amount;
use dynamo_api::v1alpha1::{ComponentSpec, ResourceItem, Resources};
use gateward::FieldPath;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::merge::is_blank;
use super::path_mapper::PathMapper;
use gateward::conversion::equivalence::same;

/// The blocks of amounts.
const BLOCKS: [&str; 2] = ["limits", "requests"];

fn item<'a>(resources: &'a Resources, block: &str) -> Option<&'a ResourceItem> {
    if block == "limits" { resources.limits.as_ref() } else { resources.requests.as_ref() }
}

/// Merges the service's resources into those of the main container, which win.
pub(super) fn merge_into(container: &mut Map<String, Value>, service: &ComponentSpec, mapper: &mut PathMapper<'_>) {
    let own = without_empty_blocks(container.remove("resources").unwrap_or_default());
    record(service.resources.as_ref(), &own, mapper);
    let flat = service.resources.as_ref().map(native).unwrap_or_default();
    let merged = match own {
        Value::Object(own) => Value::Object(merge(flat, own)),
        Value::Null => Value::Object(flat),
        odd => odd,
    };
    if !is_blank(&merged) {
        container.insert("resources".into(), merged);
    }
}

/// An empty block means none.
fn without_empty_blocks(mut resources: Value) -> Value {
    if let Value::Object(blocks) = &mut resources {
        blocks.retain(|_, block| !is_blank(block));
    }
    if is_blank(&resources) { Value::Null } else { resources }
}

/// The resources as Kubernetes has them; blocks without an amount are left out.
pub(super) fn native(resources: &Resources) -> Map<String, Value> {
    let mut members = Map::new();
    for block in BLOCKS {
        let amounts = item(resources, block).into_iter().flat_map(amounts);
        let amounts: Map<String, Value> =
            amounts.map(|(name, text, _)| (name.to_owned(), Value::String(text))).collect();
        if !amounts.is_empty() {
            members.insert(block.into(), amounts.into());
        }
    }
    if !resources.claims.is_empty() {
        members.insert("claims".into(), json!(resources.claims));
    }
    members
}

/// Amounts in canonical text, each with its resource and the member of the item that it comes from. Of one resource the
/// last counts, so that custom amounts win. A text that is no quantity is skipped.
fn amounts(item: &ResourceItem) -> impl Iterator<Item = (&str, String, &'static str)> {
    let gpu = if item.gpu_type.is_empty() { GPU_RESOURCE } else { &item.gpu_type };
    let named = [("cpu", &item.cpu, "cpu"), ("memory", &item.memory, "memory"), (gpu, &item.gpu, "gpu")];
    let custom = item.custom.iter().map(|(name, text)| (name.as_str(), text, "custom"));
    named.into_iter().chain(custom).filter_map(|(name, text, member)| Some((name, canonical_text(text)?, member)))
}

/// Blocks are merged name by name, and the container's own amount wins; its claims replace the others.
fn merge(mut flat: Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in own {
        match (flat.get_mut(&name), value) {
            (Some(Value::Object(below)), Value::Object(above)) => {
                below.extend(above.into_iter().filter(|(_, amount)| !amount.is_null()));
            }
            (_, value) => drop(flat.insert(name, value)),
        }
    }
    flat
}

/// Moves the container's resources to the service's fields. Values that are no amounts stay.
pub(super) fn from_hub(container: &mut Map<String, Value>) -> Option<Resources> {
    let mut own = match container.remove("resources")? {
        Value::Object(own) => own,
        odd => {
            container.insert("resources".into(), odd);
            return None;
        }
    };
    let mut take = |block: &str| own.get_mut(block).and_then(Value::as_object_mut).and_then(take_amounts);
    let (requests, limits) = (take("requests"), take("limits"));
    let claims = own.get("claims").and_then(plain_claims);
    if claims.is_some() {
        own.remove("claims");
    }
    own.retain(|_, member| !is_blank(member));
    if !own.is_empty() {
        container.insert("resources".into(), own.into());
    }
    let resources = Resources { requests, limits, claims: claims.unwrap_or_default() };
    (resources != Resources::default()).then_some(resources)
}

/// Takes those amounts that can be read, in canonical text.
fn take_amounts(block: &mut Map<String, Value>) -> Option<ResourceItem> {
    let mut item = ResourceItem::default();
    for (name, written) in std::mem::take(block) {
        match (amount(&written), name.as_str()) {
            (None, _) => drop(block.insert(name, written)),
            (Some(text), "cpu") => item.cpu = text,
            (Some(text), "memory") => item.memory = text,
            (Some(text), GPU_RESOURCE) => item.gpu = text,
            (Some(text), _) => drop(item.custom.insert(name, text)),
        }
    }
    (item != ResourceItem::default()).then_some(item)
}

/// The canonical text of an amount.
pub(super) fn amount(written: &Value) -> Option<String> {
    match written {
        Value::String(text) => canonical_text(text),
        Value::Number(number) => canonical_text(&number.to_string()),
        _ => None,
    }
}

/// The canonical text of an amount that is written like this.
fn canonical_text(written: &str) -> Option<String> {
    // Most amounts are short integers, which are canonical unless they could have a suffix.
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let is_integer = matches!(written.len(), 1..=15) && !written.starts_with('0') && written.bytes().all(is_digit);
    if (is_integer && !written.ends_with("000")) || written == "0" {
        return Some(written.to_owned());
    }
    written.parse::<Amount>().ok().map(|amount| amount.to_string())
}

/// The claims, if v1alpha1 has all of their fields.
fn plain_claims(claims: &Value) -> Option<Vec<ResourceClaim>> {
    let read = Vec::<ResourceClaim>::deserialize(claims).ok()?;
    same(&json!(read), claims).then_some(read)
}

/// Whether a round trip would lose any of these resources: it takes a type of GPU, an amount that isn't in canonical text,
/// and an amount under a name that has a field of its own for something else.
pub(super) fn are_lost(resources: &Resources) -> bool {
    let is_canonical = |text: &String| canonical_text(text).as_ref() == Some(text);
    let comes_back = |item: &ResourceItem| {
        let mut own = [&item.cpu, &item.memory, &item.gpu].into_iter().filter(|text| !text.is_empty());
        let has_field = |name: &str| matches!(name, "cpu" | "memory" | GPU_RESOURCE);
        *item != ResourceItem::default()
            && item.gpu_type.is_empty()
            && own.all(is_canonical)
            && item.custom.iter().all(|(name, text)| !has_field(name) && is_canonical(text))
    };
    *resources == Resources::default() || !BLOCKS.into_iter().filter_map(|block| item(resources, block)).all(comes_back)
}

/// Whether the hub has none of these resources.
pub(super) fn are_invisible(resources: &Resources) -> bool {
    let has_amounts = |block| item(resources, block).is_some_and(|item| amounts(item).next().is_some());
    resources.claims.is_empty() && !BLOCKS.into_iter().any(has_amounts)
}

/// Whether both are the same amounts of the same resources, in any notation.
pub(super) fn are_equal_amounts(one: &Value, other: &Value) -> bool {
    same(&canonical(one), &canonical(other))
}

fn canonical(resources: &Value) -> Value {
    let mut canonical = resources.clone();
    for block in BLOCKS {
        let amounts = canonical.get_mut(block).and_then(Value::as_object_mut);
        for written in amounts.into_iter().flatten().map(|(_, written)| written) {
            if let Some(text) = amount(written) {
                *written = text.into();
            }
        }
    }
    canonical
}

/// Maps resources that the container lacks to the service's flat field.
fn record(flat: Option<&Resources>, over: &Value, mapper: &mut PathMapper<'_>) {
    if !mapper.is_recording() || !(over.is_object() || over.is_null()) {
        return;
    }
    let main = mapper.main();
    if over.is_null() {
        mapper.moved(|at| main(at) / "resources", |at| at / "resources");
    }
    for member in BLOCKS.into_iter().chain(["claims"]).filter(|member| over[*member].is_null()) {
        mapper.moved(|at| main(at) / "resources" / member, |at| at / "resources" / member);
    }
    for block in BLOCKS.into_iter().filter(|block| over[*block].is_object() || over[*block].is_null()) {
        let amounts = flat.and_then(|flat| item(flat, block)).into_iter().flat_map(amounts);
        for (name, _, member) in amounts.filter(|(name, ..)| over[block][*name].is_null()) {
            let written = |at: FieldPath| at / "resources" / block / member;
            mapper.made(
                |at| (main(at) / "resources" / block).key(name.to_owned()),
                |at| if member == "custom" { written(at).key(name.to_owned()) } else { written(at) },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_map;
    use proptest::option::weighted;
    use proptest::prelude::*;

    use super::*;

    fn amount() -> impl Strategy<Value = String> {
        prop::sample::select(vec!["", "0", "1", "01", "1000", "1k", "500m", "0.5", "4Gi", "4096Mi", "1e3", "abc", "-1"])
            .prop_map(str::to_owned)
    }

    fn blocks() -> impl Strategy<Value = Option<ResourceItem>> {
        let gpu_type = prop::sample::select(vec!["", "", "", GPU_RESOURCE, "amd.com/gpu"]).prop_map(str::to_owned);
        let name =
            prop::sample::select(vec!["cpu", "memory", GPU_RESOURCE, "amd.com/gpu", "disk"]).prop_map(str::to_owned);
        let item = (amount(), amount(), amount(), gpu_type, btree_map(name, amount(), 0..2));
        let item =
            item.prop_map(|(cpu, memory, gpu, gpu_type, custom)| ResourceItem { cpu, memory, gpu, gpu_type, custom });
        weighted(0.7, item)
    }

    proptest! {
        #[test]
        fn resources_are_lost_where_they_do_not_come_back(limits in blocks(), requests in blocks(), claims in 0..3_usize) {
            let claim = ResourceClaim { name: Some("otter".into()), request: String::new() };
            let resources = Resources { limits, requests, claims: vec![claim; claims] };
            let mut container = Map::from_iter([("resources".to_owned(), Value::Object(native(&resources)))]);
            let back = from_hub(&mut container);
            prop_assert_eq!(are_lost(&resources), back.as_ref() != Some(&resources), "{:?}", resources);
        }
    }
}
