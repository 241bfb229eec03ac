//! A policy on the Pods that CronTabs start: their images come from one registry.

use crate::REGISTRY;
use gateward::label;
use gateward::prelude::*;
use k8s_openapi::api::core::v1::Pod;

/// The images of all containers.
pub const IMAGES: Rule = Rule {
    id: "CRON-11",
    summary: "the Pods of a CronTab run images of one registry",
    help: "push the image to registry.example.com",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The rule on Pods: containers of all three sorts.
pub fn images(new: &Pod, _: &Request) -> Issues {
    let Some(spec) = &new.spec else { return Issues::new() };
    let containers = spec.containers.iter().map(|container| container.image.as_deref());
    let init = spec.init_containers.iter().flatten().map(|container| container.image.as_deref());
    let ephemeral = spec.ephemeral_containers.iter().flatten().map(|container| container.image.as_deref());
    foreign("containers", containers)
        .chain(foreign("initContainers", init))
        .chain(foreign("ephemeralContainers", ephemeral))
        .collect()
}

/// A finding for each image in the list `field` that comes from elsewhere.
fn foreign<'p>(
    field: &'static str,
    images: impl Iterator<Item = Option<&'p str>> + 'p,
) -> impl Iterator<Item = Issue> + 'p {
    let elsewhere = |image: &&str| !image.starts_with(REGISTRY);
    images.enumerate().filter_map(move |(index, image)| Some((index, image.filter(elsewhere)?))).map(
        move |(index, image)| {
            let at = (FieldPath::field("spec") / field).index(index) / "image";
            IMAGES.invalid(at, image).message(format!("must come from {REGISTRY}"))
        },
    )
}

/// The label of the Pods of a CronTab. The operator's own Pods don't carry it: nobody could admit the first of them.
pub const LABEL: &str = "stable.example.com/crontab";

/// The Pods that bear the label.
pub fn webhook() -> Webhook<Pod> {
    Webhook::new().validator(images).object_selector(label(LABEL).exists()).rules([&IMAGES])
}

/// `kubectl debug` adds a container to a running Pod by way of a subresource.
pub fn debug_containers() -> Webhook<Pod> {
    webhook().subresource_of::<Pod>("ephemeralcontainers")
}
