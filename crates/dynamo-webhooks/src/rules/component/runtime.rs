//! Which runtime a component runs, and whether its endpoint picker fits: RT-01 to RT-08, section 9.3.
//!
//! The rules are those of both versions: a [`Runtime`] is what either says, with its own paths.

use dynamo_api::v1alpha1;
use dynamo_api::v1beta1::{ComponentSpec, EppConfig};
use gateward::{CREATE, FieldPath, Issue, Issues, Rule, UPDATE};

use super::context::{DeploymentKind, on_components};
use super::pod_view::{Pod, container_path};
use crate::rules::runtime_version::{RuntimeVersion, unversioned};

pub(crate) const NO_CONFIG_WHERE_OPERATED: Rule = rule! {
    id: "RT-01",
    summary: "an endpoint picker of runtime 1.5.0 or later is configured by the operator, not by eppConfig",
    ..on_components(CREATE)
};

pub(crate) const CONFIG_WHERE_NOT_OPERATED: Rule = rule! {
    id: "RT-02",
    summary: "an endpoint picker of a runtime before 1.5.0 has an eppConfig",
    ..on_components(CREATE)
};

pub(crate) const IMAGE: Rule = rule! {
    id: "RT-03",
    summary: "a component's main container has an image",
    ..on_components(CREATE)
};

pub(crate) const VERSION: Rule = rule! {
    id: "RT-04",
    summary: "the runtime's version comes from the image's tag or by runtimeVersionOverride",
    ..on_components(CREATE)
};

pub(crate) const IMAGE_STAYS: Rule = rule! {
    id: "RT-06",
    summary: "an image that was there isn't taken away",
    ..on_components(UPDATE)
};

pub(crate) const VERSION_OF_CHANGED_IMAGE: Rule = rule! {
    id: "RT-07",
    summary: "a changed image or override tells the runtime's version",
    ..on_components(UPDATE)
};

pub(crate) const CONFIG_OF_CHANGED_PICKER: Rule = rule! {
    id: "RT-08",
    summary: "a changed endpoint picker has an eppConfig before runtime 1.5.0 and none from there on",
    ..on_components(UPDATE)
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

/// The fields of a component that choose its runtime.
#[derive(Debug)]
pub(crate) struct Runtime<'a> {
    component_type: &'a str,
    image: &'a str,
    version_override: &'a str,
    epp_config: Option<&'a EppConfig>,
    image_location: ImageLocation,
}

/// The location of the main container's image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImageLocation {
    /// In this one of the pod's containers.
    Container(usize),
    /// In none of them.
    NoContainer,
    /// There is no pod template.
    NoTemplate,
    /// In the `mainContainer` of v1alpha1.
    MainContainer,
    /// There is no `mainContainer` of v1alpha1.
    NoMainContainer,
}

/// How the configuration of an endpoint picker doesn't fit its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EppConfigMismatch {
    /// It has one that the runtime ignores.
    Superfluous,
    /// It lacks one.
    Missing,
}

/// `None` where a value that decides it has the wrong JSON type.
fn main_image(component: &ComponentSpec) -> Option<(&str, ImageLocation)> {
    let pod = Pod::of(component);
    match (pod, pod.main_container()) {
        (Pod::Absent, _) => Some(("", ImageLocation::NoTemplate)),
        (_, None) => pod.has_read_names().then_some(("", ImageLocation::NoContainer)),
        (_, Some((index, main))) => {
            let is_read = pod.has_read(&(container_path(index) / "image"));
            is_read.then_some((main.image.as_str(), ImageLocation::Container(index)))
        }
    }
}

fn main_image_of_v1alpha1(component: &v1alpha1::ComponentSpec) -> Option<(&str, ImageLocation)> {
    let Some(raw) = &component.extra_pod_spec else { return Some(("", ImageLocation::NoMainContainer)) };
    let pod = raw.lenient_view()?;
    if !pod.has_read(&(FieldPath::field("mainContainer") / "image")) {
        return None;
    }
    let main = pod.value.main_container.as_ref();
    Some(main.map_or(("", ImageLocation::NoMainContainer), |main| (&main.image, ImageLocation::MainContainer)))
}

impl<'a> Runtime<'a> {
    /// What a component of v1beta1 says; `None` where the images of its pod can't be read.
    pub(crate) fn of(component: &'a ComponentSpec) -> Option<Self> {
        let (image, image_location) = main_image(component)?;
        Some(Self {
            component_type: component.component_type.as_ref().map_or("", |known| known.as_str()),
            image,
            version_override: &component.runtime_version_override,
            epp_config: component.epp_config.as_ref(),
            image_location,
        })
    }

    /// What a component of v1alpha1 says; `None` where the image of its pod can't be read.
    pub(crate) fn of_v1alpha1(component: &'a v1alpha1::ComponentSpec) -> Option<Self> {
        let (image, image_location) = main_image_of_v1alpha1(component)?;
        Some(Self {
            component_type: &component.component_type,
            image,
            version_override: &component.runtime_version_override,
            epp_config: component.epp_config.as_ref(),
            image_location,
        })
    }

    fn is_picker(&self) -> bool {
        self.component_type == "epp"
    }

    /// RT-05: a component on its own may run any image, unless it is an endpoint picker.
    fn may_be_unversioned(&self, kind: DeploymentKind) -> bool {
        kind == DeploymentKind::Component && !self.is_picker()
    }

    fn is_versioned(&self) -> bool {
        !self.version_override.is_empty() || RuntimeVersion::of_image(self.image).is_some()
    }

    fn mismatch(&self) -> Option<EppConfigMismatch> {
        if !self.is_picker() {
            return None;
        }
        let version = RuntimeVersion::of(self.image, self.version_override)?;
        let operated = version >= RuntimeVersion::OPERATED_PICKER;
        match self.epp_config {
            Some(_) if operated => Some(EppConfigMismatch::Superfluous),
            None if !operated => Some(EppConfigMismatch::Missing),
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
        match self.image_location {
            ImageLocation::Container(index) => containers().index(index) / "image",
            ImageLocation::NoContainer | ImageLocation::NoTemplate => containers(),
            ImageLocation::MainContainer | ImageLocation::NoMainContainer => {
                at / "extraPodSpec" / "mainContainer" / "image"
            }
        }
    }

    /// Findings on v1alpha1 carry the paths of v1alpha1 already.
    fn add(&self, issue: Issue, issues: &mut Issues) {
        let is_v1alpha1 = matches!(self.image_location, ImageLocation::MainContainer | ImageLocation::NoMainContainer);
        issues.add(if is_v1alpha1 { issue.as_written() } else { issue });
    }

    fn add_missing_image(&self, rule: &Rule, at: &FieldPath, issues: &mut Issues) {
        let message = match self.image_location {
            ImageLocation::Container(_) | ImageLocation::MainContainer => "must be set",
            ImageLocation::NoContainer => "the pod template has no container named `main`",
            ImageLocation::NoTemplate => "the component has no podTemplate",
            ImageLocation::NoMainContainer => "there is no extraPodSpec.mainContainer",
        };
        let help = "set the image of the container `main`; where an overlay adds it, check what is applied: \
                    `kustomize build . | gateward check -`";
        self.add(rule.required(self.image_path(at)).message(message).help(help), issues);
    }

    fn add_missing_version(&self, rule: &Rule, at: &FieldPath, issues: &mut Issues) {
        let issue = rule.required(at / "runtimeVersionOverride").anchor(self.image_path(at));
        self.add(unversioned(issue, self.image), issues);
    }

    fn add_mismatch(&self, rule: &Rule, mismatch: EppConfigMismatch, at: &FieldPath, issues: &mut Issues) {
        let path = at / "eppConfig";
        let issue = match mismatch {
            EppConfigMismatch::Superfluous => rule
                .forbidden(path)
                .message("may not be set for an endpoint picker of runtime 1.5.0 or later")
                .help("remove it, or run an earlier endpoint picker"),
            EppConfigMismatch::Missing => rule
                .required(path)
                .message("must be set for an endpoint picker of a runtime before 1.5.0")
                .help("set configMapRef or config, or run an endpoint picker of 1.5.0 or later"),
        };
        self.add(issue, issues);
    }
}

/// Judges the runtime of a new component: RT-01 to RT-04.
pub(crate) fn on_create(new: &Runtime, at: &FieldPath, kind: DeploymentKind, issues: &mut Issues) {
    if let Some(mismatch) = new.mismatch() {
        let rule = match mismatch {
            EppConfigMismatch::Superfluous => &NO_CONFIG_WHERE_OPERATED,
            EppConfigMismatch::Missing => &CONFIG_WHERE_NOT_OPERATED,
        };
        new.add_mismatch(rule, mismatch, at, issues);
    }
    if new.image.is_empty() {
        new.add_missing_image(&IMAGE, at, issues);
    } else if !new.is_versioned() && !new.may_be_unversioned(kind) {
        new.add_missing_version(&VERSION, at, issues);
    }
}

/// Judges a change of the runtime: RT-06 to RT-08. What was wrong already and stays as it is passes.
pub(crate) fn on_update(old: &Runtime, new: &Runtime, at: &FieldPath, kind: DeploymentKind, issues: &mut Issues) {
    if new.image.is_empty() && !old.image.is_empty() {
        new.add_missing_image(&IMAGE_STAYS, at, issues);
    } else if !new.is_versioned() && !new.may_be_unversioned(kind) && !new.same_source(old) {
        new.add_missing_version(&VERSION_OF_CHANGED_IMAGE, at, issues);
    }
    match new.mismatch() {
        Some(mismatch) if !new.same_picker(old) => new.add_mismatch(&CONFIG_OF_CHANGED_PICKER, mismatch, at, issues),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Runtime, on_create, on_update};
    use crate::rules::component::DeploymentKind;
    use dynamo_api::v1alpha1;
    use gateward::{FieldPath, Issues, Reading};

    #[test]
    fn a_wrong_node_elsewhere_in_the_pod_does_not_hide_its_image() {
        let pod = |args: Value, image: Value| json!({"mainContainer": {"args": args, "image": image}});
        let runtime = |pod: Value| {
            let component: v1alpha1::ComponentSpec = serde_json::from_value(json!({"extraPodSpec": pod})).unwrap();
            Runtime::of_v1alpha1(&component).map(|runtime| runtime.image.to_owned())
        };
        assert_eq!(runtime(pod(json!(5), json!("e:latest"))).as_deref(), Some("e:latest"));
        assert_eq!(runtime(pod(json!([]), json!(5))), None);
        assert_eq!(runtime(json!({"mainContainer": 5})), None);
    }

    #[test]
    fn v1alpha1_has_paths_of_its_own() {
        let read = |text: Value| serde_json::from_value::<v1alpha1::ComponentSpec>(text).unwrap();
        let at = FieldPath::field("c");
        let image = |image: &str| read(json!({"extraPodSpec": {"mainContainer": {"image": image}}}));
        let mut issues = Issues::new();
        on_create(&Runtime::of_v1alpha1(&read(json!({}))).unwrap(), &at, DeploymentKind::Graph, &mut issues);
        on_create(&Runtime::of_v1alpha1(&image("e:nightly")).unwrap(), &at, DeploymentKind::Graph, &mut issues);
        let picker = read(json!({"componentType": "epp", "runtimeVersionOverride": "1.4.0"}));
        on_update(
            &Runtime::of_v1alpha1(&image("e:1.4.2")).unwrap(),
            &Runtime::of_v1alpha1(&picker).unwrap(),
            &at,
            DeploymentKind::Graph,
            &mut issues,
        );
        let found: Vec<String> = issues.iter().map(|issue| format!("{} {}", issue.rule, issue.path)).collect();
        let expected = [
            "RT-03 c.extraPodSpec.mainContainer.image",
            "RT-04 c.runtimeVersionOverride",
            "RT-06 c.extraPodSpec.mainContainer.image",
            "RT-08 c.eppConfig",
        ];
        assert_eq!(found, expected);
        assert!(issues.iter().all(|issue| issue.reading == Reading::Written));
    }
}
