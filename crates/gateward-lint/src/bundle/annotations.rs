//! The annotations of a bundle and its dependencies.

use semver::Version;

use super::field::Field;
use super::files::{Bundle, MANIFESTS, METADATA};
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, v1, validator};

const MEDIA_TYPE: &str = "operators.operatorframework.io.bundle.mediatype.v1";
const MANIFESTS_KEY: &str = "operators.operatorframework.io.bundle.manifests.v1";
const METADATA_KEY: &str = "operators.operatorframework.io.bundle.metadata.v1";
pub(super) const PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";
pub(super) const CHANNELS: &str = "operators.operatorframework.io.bundle.channels.v1";
pub(super) const DEFAULT_CHANNEL: &str = "operators.operatorframework.io.bundle.channel.default.v1";

/// The type of a bundle that has a CSV.
const REGISTRY: &str = "registry+v1";

static PRESENT: BundleRule = BundleRule {
    id: "OLM-META-01",
    summary: "metadata/ holds a file of annotations",
    help: "write metadata/annotations.yaml with the mapping `annotations`",
    refused_by: &[validator(Stage::Format, "Could not find annotations file")],
    ..ERROR
};

static KEYS: BundleRule = BundleRule {
    id: "OLM-META-02",
    summary: "the annotations name the type, the two folders, the package and the channels",
    refused_by: &[validator(Stage::Format, "Missing annotation")],
    ..ERROR
};

static TYPE: BundleRule = BundleRule {
    id: "OLM-META-03",
    summary: "the type of the bundle is registry+v1",
    help: "write registry+v1",
    refused_by: &[validator(Stage::Format, "Expecting annotation")],
    ..ERROR
};

static FILLED: BundleRule = BundleRule {
    id: "OLM-META-04",
    summary: "the channels, and the default channel where there is one, are not empty",
    refused_by: &[validator(Stage::Format, "to have non-empty value")],
    ..ERROR
};

static PATHS: BundleRule = BundleRule {
    id: "OLM-META-05",
    summary: "the annotations name the folders manifests/ and metadata/; the validators don't look at the values",
    ..ERROR
};

static PACKAGE_NAME: BundleRule = BundleRule {
    id: "OLM-META-06",
    summary: "the package has a name",
    help: "write the name of the package, such as my-operator",
    refused_by: &[v1(Stage::BundleValidate, "package name is empty")],
    ..ERROR
};

static DEPENDENCIES: BundleRule = BundleRule {
    id: "OLM-META-07",
    summary: "each dependency is of a known type and says what it needs",
    refused_by: &[validator(Stage::Format, "Unsupported dependency type")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[&PRESENT, &KEYS, &TYPE, &FILLED, &PATHS, &PACKAGE_NAME, &DEPENDENCIES];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    if bundle.files_in(METADATA).next().is_none() {
        return;
    }
    match bundle.annotations() {
        Some(annotations) => check_annotations(&annotations, found),
        None => found.add(PRESENT.of_file(METADATA, "no file of metadata/ has annotations")),
    }
    for manifest in bundle.files_in(METADATA).flat_map(|file| &file.documents) {
        for dependency in Field::root(manifest).at("dependencies").items() {
            check_dependency(&dependency, found);
        }
    }
}

fn check_annotations(annotations: &Field<'_>, found: &mut Findings) {
    let folders = [(MANIFESTS_KEY, MANIFESTS), (METADATA_KEY, METADATA)];
    for key in [MEDIA_TYPE, MANIFESTS_KEY, METADATA_KEY, PACKAGE, CHANNELS] {
        if annotations.entry(key).is_absent() {
            let says = format!("Missing annotation {key:?}");
            let broken = KEYS.at(annotations, format!("the annotation {key} is missing"));
            found.add(broken.says(Judge::Validators, &says).help(format!("add {key}: {}", example(key))));
        }
    }
    let media_type = annotations.entry(MEDIA_TYPE);
    if !media_type.is_absent() && media_type.text() != REGISTRY {
        let says = format!(
            "Expecting annotation {MEDIA_TYPE:?} to have value {REGISTRY:?} instead of {:?}",
            media_type.text()
        );
        let message = format!("a bundle with a CSV is of the type {REGISTRY}, not {:?}", media_type.text());
        found.add(TYPE.at(&media_type, message).says(Judge::Validators, &says));
    }
    for key in [CHANNELS, DEFAULT_CHANNEL] {
        let value = annotations.entry(key);
        if annotations.value.get(key).is_some() && value.text().is_empty() && !(key == CHANNELS && value.is_absent()) {
            let says = format!("Expecting annotation {key:?} to have non-empty value");
            let help = if key == CHANNELS { "name a channel, such as stable" } else { "name a channel, or remove it" };
            let message = format!("the annotation {key} is empty");
            found.add(FILLED.at(&value, message).says(Judge::Validators, &says).help(help));
        }
    }
    for (key, folder) in folders {
        let value = annotations.entry(key);
        if !value.is_absent() && value.text().trim_end_matches('/') != folder.trim_end_matches('/') {
            let message = format!("the annotation {key} names {:?}", value.text());
            found.add(PATHS.at(&value, message).help(format!("write {folder}")));
        }
    }
    let package = annotations.entry(PACKAGE);
    if package.text().is_empty() {
        found.add(PACKAGE_NAME.at(&package, "the package has no name"));
    }
}

fn example(key: &str) -> &'static str {
    match key {
        MEDIA_TYPE => REGISTRY,
        MANIFESTS_KEY => MANIFESTS,
        METADATA_KEY => METADATA,
        PACKAGE => "my-operator",
        _ => "stable",
    }
}

/// Comparisons of versions, all of which hold between two `||`: `>=1.0.0 <2.0.0 || 3.x`.
fn is_range(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_wild = |version: &str| {
        let parts: Vec<&str> = version.split('.').collect();
        let numbers = parts.iter().take_while(|part| is_number(part)).count();
        (2..=3).contains(&parts.len()) && numbers > 0 && parts.iter().skip(numbers).all(|part| *part == "x")
    };
    let holds = |one: &str| {
        let version = one.trim_start_matches(['=', '<', '>', '!']);
        let is_operator =
            matches!(one.strip_suffix(version), Some("" | "=" | "==" | ">" | ">=" | "<" | "<=" | "!" | "!="));
        is_operator && (Version::parse(version).is_ok() || is_wild(version))
    };
    text.split("||").all(|alternative| {
        let mut parts = alternative.split_whitespace().peekable();
        parts.peek().is_some() && parts.all(holds)
    })
}

fn check_dependency(dependency: &Field<'_>, found: &mut Findings) {
    let (kind, value) = (dependency.at("type"), dependency.at("value"));
    let needed: &[&'static str] = match kind.text() {
        "olm.gvk" => &["group", "kind", "version"],
        "olm.package" => &["packageName", "version"],
        "olm.label" => &["label"],
        "olm.constraint" => return constraint(&value, found),
        other => {
            let says = format!("Unsupported dependency type {other}");
            let broken = DEPENDENCIES.at(&kind, format!("{other:?} is no type of a dependency"));
            let help = "write olm.gvk, olm.package, olm.label or olm.constraint";
            found.add(broken.says(Judge::Validators, &says).help(help));
            return;
        }
    };
    let range = value.at("version");
    if kind.text() == "olm.package" && !range.text().is_empty() && !is_range(range.text()) {
        let says = format!("Invalid semver format version {}", range.text());
        let broken = DEPENDENCIES.at(&range, format!("{} is no range of versions", range.shown()));
        found.add(broken.says(Judge::Validators, &says).help("write a range such as >=1.0.0 <2.0.0"));
    }
    for &name in needed {
        let member = value.at(name);
        if member.text().is_empty() {
            let message = format!("a dependency of the type {} needs {name}", kind.text());
            found.add(DEPENDENCIES.at(&member, message).says(Judge::Validators, "").help(format!("add {name}")));
        }
    }
}

/// A constraint says what has to hold.
fn constraint(value: &Field<'_>, found: &mut Findings) {
    let bodies: [(&'static str, &'static [&'static str]); 6] = [
        ("cel", &["rule"]),
        ("package", &["packageName", "versionRange"]),
        ("gvk", &["group", "kind", "version"]),
        ("all", &["constraints"]),
        ("any", &["constraints"]),
        ("not", &["constraints"]),
    ];
    let mut given = bodies.into_iter().filter(|(body, _)| !value.at(body).is_absent()).peekable();
    if given.peek().is_none() {
        let broken = DEPENDENCIES.at(value, "the constraint doesn't say what has to hold");
        found.add(broken.says(Judge::Validators, "").help("add one of cel, package, gvk, all, any and not"));
    }
    for member in given.flat_map(|(body, needed)| needed.iter().copied().map(move |name| value.at(body).at(name))) {
        if member.is_empty() {
            let broken = DEPENDENCIES.at(&member, format!("{} is missing", member.path));
            found.add(broken.says(Judge::Validators, "").help(format!("add {}", member.path)));
        }
    }
}
