//! The main container's mounts: in v1alpha1 a flat list with a flag for the compilation cache, in v1beta1 those of the
//! container.

use std::collections::{HashMap, HashSet};

use dynamo_api::v1alpha1::VolumeMount;
use gateward::FieldPath;
use gateward::conversion::equivalence::same;
use serde_json::{Map, Value};

use super::merge::is_blank;
use super::path_mapper::PathMapper;

/// Merges the service's mounts, caches included, into those of the main container, which come first.
pub(super) fn merge_into(container: &mut Map<String, Value>, flat: &[VolumeMount], mapper: &mut PathMapper<'_>) {
    if !flat.is_empty() {
        let own = container.remove("volumeMounts").unwrap_or_default();
        if own.is_array() || is_blank(&own) {
            record(own.as_array().map_or(0, Vec::len), flat.len(), mapper);
        }
        container.insert("volumeMounts".into(), united(flat, own));
    }
}

/// Mounts of an unexpected JSON type stay unchanged.
fn united(flat: &[VolumeMount], own: Value) -> Value {
    match own {
        Value::Array(own) => own.into_iter().chain(flat.iter().map(native)).collect(),
        own if is_blank(&own) => flat.iter().map(native).collect(),
        odd => odd,
    }
}

/// The mount as Kubernetes has it.
pub(super) fn native(mount: &VolumeMount) -> Value {
    let mut members = Map::new();
    if let Some(name) = &mount.name {
        members.insert("name".into(), name.as_str().into());
    }
    members.insert("mountPath".into(), mount.mount_point.as_str().into());
    Value::Object(members)
}

fn record(own_count: usize, flat_count: usize, mapper: &mut PathMapper<'_>) {
    let main = mapper.main();
    let are_many = !mapper.has_room_for(flat_count);
    if own_count == 0 || are_many {
        mapper.made(|at| main(at) / "volumeMounts", |at| at / "volumeMounts");
    }
    if are_many {
        return;
    }
    for index in 0..flat_count {
        let lifted = |at| (main(at) / "volumeMounts").index(own_count + index);
        let flat = |at: FieldPath| (at / "volumeMounts").index(index);
        mapper.moved(lifted, flat);
        mapper.moved(|at| lifted(at) / "mountPath", |at| flat(at) / "mountPoint");
    }
}

/// Moves the container's mounts to the flat list, each volume at each path once. If one of them is no mount, all stay.
pub(super) fn from_hub(container: &mut Map<String, Value>, flat: &mut Vec<VolumeMount>) {
    let written = container.get("volumeMounts").and_then(Value::as_array);
    let Some(mounts) = written.and_then(|mounts| mounts.iter().map(plain).collect::<Option<Vec<_>>>()) else { return };
    container.remove("volumeMounts");
    add_new(flat, mounts);
}

/// Adds the mounts that aren't there, each volume at each path once.
fn add_new(flat: &mut Vec<VolumeMount>, mounts: Vec<VolumeMount>) {
    let mut known: HashSet<NameAndPath> = flat.iter().map(name_and_path).collect();
    let is_new: Vec<bool> = mounts.iter().map(|mount| known.insert(name_and_path(mount))).collect();
    drop(known);
    flat.extend(mounts.into_iter().zip(is_new).filter_map(|(mount, is_new)| is_new.then_some(mount)));
}

/// Name and path of a mount; v1alpha1 lacks its other fields.
fn plain(mount: &Value) -> Option<VolumeMount> {
    let members = mount.as_object()?;
    let text = |name: &str| match members.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text.clone())),
        Some(_) => None,
    };
    let mount_point = text("mountPath")?.unwrap_or_default();
    Some(VolumeMount { name: text("name")?, mount_point, use_as_compilation_cache: false })
}

/// Volume and path of a mount, the key of lookups: lists may be too long for a linear search.
type NameAndPath<'a> = (Option<&'a str>, &'a str);

fn name_and_path(mount: &VolumeMount) -> NameAndPath<'_> {
    (mount.name.as_deref(), &mount.mount_point)
}

/// The mount of the compilation cache.
fn cache(flat: &[VolumeMount]) -> Option<&VolumeMount> {
    flat.iter().find(|mount| mount.use_as_compilation_cache)
}

/// The places of all mounts of the compilation cache.
fn caches(flat: &[VolumeMount]) -> HashSet<NameAndPath<'_>> {
    flat.iter().filter(|mount| mount.use_as_compilation_cache).map(name_and_path).collect()
}

/// Whether a round trip would lose this flat list.
pub(super) fn are_lost(flat: &[VolumeMount], own: &Value) -> bool {
    let mut back: Vec<VolumeMount> = cache(flat).cloned().into_iter().collect();
    // Caches alone make no pod template.
    if flat.iter().any(|mount| !mount.use_as_compilation_cache)
        && let Some(mut mounts) = own_mounts(own)
    {
        mounts.extend(flat.iter().map(|mount| VolumeMount { use_as_compilation_cache: false, ..mount.clone() }));
        add_new(&mut back, mounts);
    }
    back != flat
}

/// The container's own mounts; `None` if one of them is no mount.
fn own_mounts(own: &Value) -> Option<Vec<VolumeMount>> {
    match own {
        Value::Array(own) => own.iter().map(plain).collect(),
        own => is_blank(own).then(Vec::new),
    }
}

/// The preserved flat list, as far as `live`, the main container's mounts, still has it. `current` is the live
/// compilation cache, `own` are the mounts of the preserved `mainContainer`. Once the live cache is another one, the
/// preserved caches are ordinary mounts.
pub(super) fn restored(
    flat: &[VolumeMount],
    own: &Value,
    live: &Value,
    current: Option<&VolumeMount>,
) -> Option<Vec<VolumeMount>> {
    if flat.is_empty() && is_blank(own) {
        return None;
    }
    let keeps_cache = cache(flat).map(name_and_path) == current.map(name_and_path);
    let left = still_shown(flat, live, keeps_cache);
    let left = if keeps_cache { left } else { with_cache(left, current) };
    is_unedited(&left, own, live).then_some(left)
}

/// The flat list without the caches that `live` lacks, but with the first one if `keeps_cache`.
fn still_shown(flat: &[VolumeMount], live: &Value, keeps_cache: bool) -> Vec<VolumeMount> {
    let live: Vec<VolumeMount> = live.as_array().into_iter().flatten().filter_map(plain).collect();
    let shown: HashSet<NameAndPath> = live.iter().map(name_and_path).collect();
    let first = flat.iter().position(|mount| mount.use_as_compilation_cache).filter(|_| keeps_cache);
    let is_left = |(index, mount): &(usize, &VolumeMount)| {
        !mount.use_as_compilation_cache || Some(*index) == first || shown.contains(&name_and_path(mount))
    };
    flat.iter().enumerate().filter(is_left).map(|(_, mount)| mount.clone()).collect()
}

/// The flat list with `current` as its only cache.
fn with_cache(mut flat: Vec<VolumeMount>, current: Option<&VolumeMount>) -> Vec<VolumeMount> {
    flat.retain(|mount| current.is_none_or(|current| name_and_path(current) != name_and_path(mount)));
    for mount in &mut flat {
        mount.use_as_compilation_cache = false;
    }
    current.cloned().into_iter().chain(flat).collect()
}

/// Whether `live` are the mounts that the flat list and `own` become together, but for those of caches.
fn is_unedited<'v>(flat: &[VolumeMount], own: &'v Value, live: &'v Value) -> bool {
    let list = |mounts: &'v Value, is_none: bool| match mounts {
        Value::Array(mounts) => Some(mounts.as_slice()),
        _ => is_none.then_some(&[][..]),
    };
    let (Some(own), Some(live)) = (list(own, is_blank(own)), list(live, live.is_null())) else {
        return same(&united(flat, own.clone()), live);
    };
    let caches = caches(flat);
    let is_at_a_cache = |mount: &VolumeMount| caches.contains(&name_and_path(mount));
    let stays = |mount: &&Value| !plain(mount).is_some_and(|mount| is_at_a_cache(&mount));
    let of_flat = flat.iter().filter(|mount| !is_at_a_cache(mount)).map(native);
    let mut live = live.iter().filter(stays);
    own.iter().filter(stays).all(|mount| live.next().is_some_and(|live| same(live, mount)))
        && of_flat.into_iter().all(|mount| live.next().is_some_and(|live| same(live, &mount)))
        && live.next().is_none()
}

/// The preserved caches of a service that never had a main container, if the first is the live one.
pub(super) fn restored_caches(flat: &[VolumeMount], current: Option<&VolumeMount>) -> Option<Vec<VolumeMount>> {
    (current.is_some() && cache(flat).map(name_and_path) == current.map(name_and_path)).then(|| flat.to_vec())
}

/// Removes the flat list from a preserved service. It is read typed alone; a tree of so small items takes fifty times
/// their text.
pub(super) fn forget_flat(sparse: &mut Map<String, Value>) {
    sparse.remove("volumeMounts");
}

/// Restores the fields of the main container's mounts that v1alpha1 lacks. `own` are the mounts of `mainContainer`, which
/// stay unchanged; `hub` are the preserved mounts of the hub.
pub(super) fn restore(container: &mut Map<String, Value>, flat: &[VolumeMount], own: &Value, hub: &Value) {
    if container.get("volumeMounts").is_some_and(|mounts| !mounts.is_array()) {
        return;
    }
    let hub_mounts = hub.as_array().map_or(&[][..], Vec::as_slice);
    let mounts =
        if is_blank(own) && is_projection(flat, hub) { hub_mounts.to_vec() } else { enriched(flat, own, hub_mounts) };
    if mounts.is_empty() {
        container.remove("volumeMounts");
    } else {
        container.insert("volumeMounts".into(), mounts.into());
    }
}

/// Whether the flat list is the one that the hub's mounts are converted to.
fn is_projection(flat: &[VolumeMount], hub: &Value) -> bool {
    let mut lowered: Vec<VolumeMount> = cache(flat).cloned().into_iter().collect();
    let mut container = Map::from_iter([("volumeMounts".to_owned(), hub.clone())]);
    from_hub(&mut container, &mut lowered);
    lowered == flat
}

/// The mounts with the further fields that they had in the hub, and without the cache's unless the hub had it. A cache
/// that the container itself mounts isn't added again.
fn enriched(flat: &[VolumeMount], own: &Value, hub_mounts: &[Value]) -> Vec<Value> {
    let own = own.as_array().map_or(&[][..], Vec::as_slice);
    let mounts: Vec<VolumeMount> = own.iter().filter_map(plain).collect();
    let caches = caches(flat);
    let mounted: HashSet<NameAndPath> = mounts.iter().map(name_and_path).filter(|it| caches.contains(it)).collect();
    let hub_mounts = HubMounts::of(hub_mounts);
    let first = flat.iter().position(|mount| mount.use_as_compilation_cache);
    let is_shown = |(index, mount): &(usize, &VolumeMount)| {
        !mounted.contains(&name_and_path(mount)) && (Some(*index) != first || hub_mounts.at(mount).is_some())
    };
    let shown = flat.iter().enumerate().filter(is_shown).map(|(_, mount)| hub_mounts.applied_to(mount));
    own.iter().cloned().chain(shown).collect()
}

/// The mounts of the hub, found by name and path or by a unique name.
struct HubMounts<'a> {
    by_place: HashMap<(Option<String>, String), &'a Value>,
    by_name: HashMap<Option<&'a str>, Option<&'a Value>>,
}

impl<'a> HubMounts<'a> {
    fn of(mounts: &'a [Value]) -> Self {
        let (mut by_place, mut by_name) = (HashMap::new(), HashMap::new());
        for mount in mounts {
            if let Some(VolumeMount { name, mount_point, .. }) = plain(mount) {
                by_place.entry((name, mount_point)).or_insert(mount);
            }
            by_name.entry(mount["name"].as_str()).and_modify(|only| *only = None).or_insert(Some(mount));
        }
        Self { by_place, by_name }
    }

    fn at(&self, mount: &VolumeMount) -> Option<&'a Value> {
        self.by_place.get(&(mount.name.clone(), mount.mount_point.clone())).copied()
    }

    fn applied_to(&self, mount: &VolumeMount) -> Value {
        let hub = self.at(mount).or_else(|| *self.by_name.get(&mount.name.as_deref())?);
        let mut enriched = native(mount);
        if let (Some(Value::Object(leaves)), Value::Object(members)) = (hub, &mut enriched) {
            for (name, leaf) in leaves.iter().filter(|(name, _)| !matches!(name.as_str(), "name" | "mountPath")) {
                members.insert(name.clone(), leaf.clone());
            }
        }
        enriched
    }
}
