//! Which runtime a component runs, and whether its endpoint picker fits: RT-01 to RT-08, section 9.3.
//!
//! The rules are those of both versions: a [`Runtime`] is what either says, with its own paths.

use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::v1alpha1;
use dynamo_api::v1beta1::{ComponentSpec, EppConfig};
use gateward_core::{CREATE, FieldPath, Issue, Issues, Rule, UPDATE};

use super::runtime_version::RuntimeVersion;
use super::{OwnerKind, rule};

pub(crate) const NO_CONFIG_WHERE_OPERATED: Rule = Rule {
    id: "RT-01",
    summary: "an endpoint picker of runtime 1.5.0 or later is configured by the operator, not by eppConfig",
    bad: include_str!("../examples/shared/rt-01.bad.yaml"),
    good: include_str!("../examples/shared/rt-01.good.yaml"),
    ..rule(CREATE)
};

pub(crate) const CONFIG_WHERE_NOT_OPERATED: Rule = Rule {
    id: "RT-02",
    summary: "an endpoint picker of a runtime before 1.5.0 has an eppConfig",
    bad: include_str!("../examples/shared/rt-02.bad.yaml"),
    good: include_str!("../examples/shared/rt-02.good.yaml"),
    ..rule(CREATE)
};

pub(crate) const IMAGE: Rule = Rule {
    id: "RT-03",
    summary: "a component's main container has an image",
    bad: include_str!("../examples/shared/rt-03.bad.yaml"),
    good: include_str!("../examples/shared/rt-03.good.yaml"),
    ..rule(CREATE)
};

pub(crate) const VERSION: Rule = Rule {
    id: "RT-04",
    summary: "the runtime's version is told by the image's tag or by runtimeVersionOverride",
    bad: include_str!("../examples/shared/rt-04.bad.yaml"),
    good: include_str!("../examples/shared/rt-04.good.yaml"),
    ..rule(CREATE)
};

pub(crate) const IMAGE_STAYS: Rule = Rule {
    id: "RT-06",
    summary: "an image that was there isn't taken away",
    bad: include_str!("../examples/shared/rt-06.bad.yaml"),
    good: include_str!("../examples/shared/rt-06.good.yaml"),
    ..rule(UPDATE)
};

pub(crate) const VERSION_OF_CHANGED_IMAGE: Rule = Rule {
    id: "RT-07",
    summary: "a changed image or override tells the runtime's version",
    bad: include_str!("../examples/shared/rt-07.bad.yaml"),
    good: include_str!("../examples/shared/rt-07.good.yaml"),
    ..rule(UPDATE)
};

pub(crate) const CONFIG_OF_CHANGED_PICKER: Rule = Rule {
    id: "RT-08",
    summary: "a changed endpoint picker has an eppConfig before runtime 1.5.0 and none from there on",
    bad: include_str!("../examples/shared/rt-08.bad.yaml"),
    good: include_str!("../examples/shared/rt-08.good.yaml"),
    ..rule(UPDATE)
};

pub(crate) const RULES: &[&Rule] = &[
    &NO_CONFIG_WHERE_OPERATED,
    &CONFIG_WHERE_NOT_OPERATED,
    &IMAGE,
    &VERSION,
    &IMAGE_STAYS,
    &VERSION_OF_CHANGED_IMAGE,
    &CONFIG_OF_CHANGED_PICKER,
];

/// What a component says about its runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runtime<'a> {
    component_type: &'a str,
    image: &'a str,
    version_override: &'a str,
    epp_config: Option<&'a EppConfig>,
    image_at: ImageAt,
}

/// Where the image of the main container stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImageAt {
    /// In this one of the pod's containers.
    Container(usize),
    /// In none of them.
    NoContainer,
    /// In the `mainContainer` of v1alpha1.
    MainContainer,
}

/// What an endpoint picker does wrong with its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misfit {
    /// It has one that nobody would read.
    Superfluous,
    /// It lacks one.
    Missing,
}

impl<'a> Runtime<'a> {
    /// What a component of v1beta1 says; `None` where its pod can't be read.
    pub(crate) fn of(component: &'a ComponentSpec) -> Option<Self> {
        let pod = match &component.pod_template {
            Some(raw) => Some(raw.view().ok()?),
            None => None,
        };
        let main = pod.and_then(|pod| pod.spec.container(MAIN_CONTAINER));
        Some(Self {
            component_type: component.component_type.as_ref().map_or("", |known| known.as_str()),
            image: main.map_or("", |(_, container)| &container.image),
            version_override: &component.runtime_version_override,
            epp_config: component.epp_config.as_ref(),
            image_at: main.map_or(ImageAt::NoContainer, |(index, _)| ImageAt::Container(index)),
        })
    }

    /// What a component of v1alpha1 says; `None` where its pod can't be read.
    pub(crate) fn of_v1alpha1(component: &'a v1alpha1::ComponentSpec) -> Option<Self> {
        let pod = match &component.extra_pod_spec {
            Some(raw) => Some(raw.view().ok()?),
            None => None,
        };
        let main = pod.and_then(|pod| pod.main_container.as_ref());
        Some(Self {
            component_type: &component.component_type,
            image: main.map_or("", |container| &container.image),
            version_override: &component.runtime_version_override,
            epp_config: component.epp_config.as_ref(),
            image_at: ImageAt::MainContainer,
        })
    }

    fn is_picker(&self) -> bool {
        self.component_type == "epp"
    }

    /// RT-05: a component on its own may run any image, unless it is an endpoint picker.
    fn may_be_unversioned(&self, kind: OwnerKind) -> bool {
        kind == OwnerKind::Component && !self.is_picker()
    }

    fn is_versioned(&self) -> bool {
        !self.version_override.is_empty() || RuntimeVersion::of_image(self.image).is_some()
    }

    fn misfit(&self) -> Option<Misfit> {
        if !self.is_picker() {
            return None;
        }
        let version = RuntimeVersion::of(self.image, self.version_override)?;
        let operated = version >= RuntimeVersion::OPERATED_PICKER;
        match self.epp_config {
            Some(_) if operated => Some(Misfit::Superfluous),
            None if !operated => Some(Misfit::Missing),
            _ => None,
        }
    }

    fn same_source(&self, other: &Self) -> bool {
        self.image == other.image && self.version_override == other.version_override
    }

    fn same_picker(&self, other: &Self) -> bool {
        self.component_type == other.component_type && self.same_source(other) && self.epp_config == other.epp_config
    }

    fn image_path(&self, at: &FieldPath) -> FieldPath {
        let containers = || at / "podTemplate" / "spec" / "containers";
        match self.image_at {
            ImageAt::Container(index) => containers().index(index) / "image",
            ImageAt::NoContainer => containers(),
            ImageAt::MainContainer => at / "extraPodSpec" / "mainContainer" / "image",
        }
    }

    /// Findings on v1alpha1 carry the paths of v1alpha1 already.
    fn add(&self, issue: Issue, issues: &mut Issues) {
        issues.add(if self.image_at == ImageAt::MainContainer { issue.as_written() } else { issue });
    }

    fn add_missing_image(&self, rule: &Rule, at: &FieldPath, issues: &mut Issues) {
        let issue = rule.required(self.image_path(at)).message("the main container has no image");
        self.add(issue.help("give the container `main` an image"), issues);
    }

    fn add_missing_version(&self, rule: &Rule, at: &FieldPath, issues: &mut Issues) {
        let issue = rule.required(at / "runtimeVersionOverride").message("the image's tag tells no runtime version");
        self.add(issue.help("use a tag such as 1.4.2, or state the version here"), issues);
    }

    fn add_misfit(&self, rule: &Rule, misfit: Misfit, at: &FieldPath, issues: &mut Issues) {
        let path = at / "eppConfig";
        let issue = match misfit {
            Misfit::Superfluous => rule
                .forbidden(path)
                .message("endpoint pickers of runtime 1.5.0 and later take no configuration")
                .help("leave it out, or run an earlier picker"),
            Misfit::Missing => rule
                .required(path)
                .message("endpoint pickers of a runtime before 1.5.0 need a configuration")
                .help("give configMapRef or config, or run a picker of 1.5.0 or later"),
        };
        self.add(issue, issues);
    }
}

/// Judges the runtime of a new component: RT-01 to RT-04.
pub(crate) fn on_create(new: &Runtime, at: &FieldPath, kind: OwnerKind, issues: &mut Issues) {
    match new.misfit() {
        Some(misfit @ Misfit::Superfluous) => new.add_misfit(&NO_CONFIG_WHERE_OPERATED, misfit, at, issues),
        Some(misfit @ Misfit::Missing) => new.add_misfit(&CONFIG_WHERE_NOT_OPERATED, misfit, at, issues),
        None => {}
    }
    if new.image.is_empty() {
        new.add_missing_image(&IMAGE, at, issues);
    } else if !new.is_versioned() && !new.may_be_unversioned(kind) {
        new.add_missing_version(&VERSION, at, issues);
    }
}

/// Judges a change of the runtime: RT-06 to RT-08. What was wrong already and stays as it is passes.
pub(crate) fn on_update(old: &Runtime, new: &Runtime, at: &FieldPath, kind: OwnerKind, issues: &mut Issues) {
    if new.image.is_empty() && !old.image.is_empty() {
        new.add_missing_image(&IMAGE_STAYS, at, issues);
    } else if !new.is_versioned() && !new.may_be_unversioned(kind) && !new.same_source(old) {
        new.add_missing_version(&VERSION_OF_CHANGED_IMAGE, at, issues);
    }
    match new.misfit() {
        Some(misfit) if !new.same_picker(old) => new.add_misfit(&CONFIG_OF_CHANGED_PICKER, misfit, at, issues),
        _ => {}
    }
}
