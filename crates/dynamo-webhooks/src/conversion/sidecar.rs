//! The frontend sidecar: a block in v1alpha1, a container of the pod in v1beta1.

use dynamo_api::Raw;
use dynamo_api::constants::FRONTEND_SIDECAR_CONTAINER;
use dynamo_api::v1alpha1::FrontendSidecar;
use serde_json::{Map, Value};

use super::main_container::secret_reference;
use super::merge::is_blank;
use super::path_mapper::{PathMapper, container};

/// The fields of the container that the block has too, and the name.
const OF_BLOCK: [&str; 4] = ["name", "image", "args", "env"];

/// Whether this is the sidecar's container.
pub(super) fn is_sidecar(container: &Value) -> bool {
    container["name"] == FRONTEND_SIDECAR_CONTAINER
}

/// The sidecar's container.
pub(super) fn to_hub(sidecar: &FrontendSidecar) -> Map<String, Value> {
    let mut container = Map::new();
    container.insert("name".into(), FRONTEND_SIDECAR_CONTAINER.into());
    if let Some(image) = sidecar.image.as_deref().filter(|image| !image.is_empty()) {
        container.insert("image".into(), image.into());
    }
    if !sidecar.args.is_empty() {
        container.insert("args".into(), sidecar.args.clone().into());
    }
    if !sidecar.envs.is_empty() {
        container.insert("env".into(), sidecar.envs.iter().map(Raw::to_value).collect());
    }
    if let Some(secret) = secret(sidecar) {
        container.insert("envFrom".into(), vec![secret_reference(secret)].into());
    }
    container
}

fn secret(sidecar: &FrontendSidecar) -> Option<&str> {
    sidecar.env_from_secret.as_deref().filter(|secret| !secret.is_empty())
}

/// Records where the container at `place` comes from.
pub(super) fn record(place: usize, mapper: &mut PathMapper<'_>) {
    mapper.made(|at| container(at, place), |at| at / "frontendSidecar");
    for (lifted, written) in [("image", "image"), ("args", "args"), ("env", "envs")] {
        mapper.moved(|at| container(at, place) / lifted, |at| at / "frontendSidecar" / written);
    }
    mapper.made(|at| container(at, place) / "envFrom", |at| at / "frontendSidecar" / "envFromSecret");
}

/// Restores the fields of the container that the block lacks from `hub`. Sources of variables are restored only if they
/// name the secret of the block.
pub(super) fn restore(container: &mut Map<String, Value>, sidecar: &FrontendSidecar, hub: &Map<String, Value>) {
    for (name, leaf) in hub.iter().filter(|(name, _)| !OF_BLOCK.contains(&name.as_str())) {
        if name != "envFrom" || secret(sidecar).is_none_or(|secret| names(leaf, secret)) {
            container.insert(name.clone(), leaf.clone());
        }
    }
}

fn names(sources: &Value, secret: &str) -> bool {
    let mut sources = sources.as_array().into_iter().flatten();
    sources.any(|source| source["secretRef"]["name"] == secret)
}

/// The fields of the container that the block lacks; `lifted` is the container that the block is converted to.
pub(super) fn leaves(container: &Map<String, Value>, lifted: &Map<String, Value>) -> Map<String, Value> {
    let is_said =
        |name: &str, leaf: &Value| OF_BLOCK.contains(&name) || is_blank(leaf) || lifted.get(name) == Some(leaf);
    let unsaid = container.iter().filter(|(name, leaf)| !is_said(name, leaf));
    unsaid.map(|(name, leaf)| (name.clone(), leaf.clone())).collect()
}

/// The block for the container; `None` if a block can't represent it. `preserved` is the previous block.
pub(super) fn from_hub(container: &Value, preserved: &FrontendSidecar) -> Option<FrontendSidecar> {
    let list = |name: &str| match &container[name] {
        Value::Null => Some(&[][..]),
        Value::Array(items) => Some(items.as_slice()),
        _ => None,
    };
    let image = match &container["image"] {
        Value::Null => String::new(),
        image => image.as_str()?.to_owned(),
    };
    let args = list("args")?.iter().map(|arg| arg.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let envs = list("env")?.iter().cloned().map(Raw::from).collect();
    let preserved = preserved.env_from_secret.clone().filter(String::is_empty);
    let env_from_secret = plain_secret(&container["envFrom"]).map(str::to_owned).or(preserved);
    Some(FrontendSidecar { image: Some(image), args, env_from_secret, envs })
}

/// The one secret whose keys all become variables, and nothing else.
fn plain_secret(sources: &Value) -> Option<&str> {
    let [source] = sources.as_array()?.as_slice() else { return None };
    let secret = source["secretRef"]["name"].as_str().filter(|name| !name.is_empty())?;
    (*source == secret_reference(secret)).then_some(secret)
}
