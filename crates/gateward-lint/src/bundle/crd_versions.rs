//! What a version of a CRD says beside its schema.

use std::collections::BTreeSet;

use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, v0, v1, validator};

/// How many fields of a version clients can select objects by.
const MOST_SELECTABLE: usize = 8;

/// How many bytes a warning has at most.
const LONGEST_WARNING: usize = 256;

static SOUND: BundleRule = BundleRule {
    id: "OLM-CRD-08",
    summary: "printer columns, subresources, selectable fields and the deprecation of a version are as the API server \
              demands",
    refused_by: &[validator(Stage::Crd, ""), v0(Stage::Install, ""), v1(Stage::ApiServer, "")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[&SOUND];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let crds = bundle.crds().filter(|crd| crd.manifest.api_version() == "apiextensions.k8s.io/v1");
    for version in crds.flat_map(|crd| crd.below(&["spec", "versions"]).items()) {
        deprecation(&version, found);
        scale(&version.below(&["subresources", "scale"]), found);
        for column in version.at("additionalPrinterColumns").items() {
            printer_column(&column, found);
        }
        selectable_fields(&version, found);
    }
}

fn deprecation(version: &Field<'_>, found: &mut Findings) {
    let warning = version.at("deprecationWarning");
    let text = warning.whole_text();
    let problem = if warning.is_absent() {
        return;
    } else if !version.at("deprecated").is_true() {
        ("warns, and the version isn't deprecated", "write deprecated: true beside it, or remove the warning")
    } else if text.is_empty() || text.len() > LONGEST_WARNING {
        ("is empty or too long", "write 1 to 256 characters, or remove it: clients are warned in any case")
    } else if text.chars().any(char::is_control) {
        ("holds what can't be printed", "write one line of text")
    } else {
        return;
    };
    found.add(SOUND.at(&warning, format!("{} {}", warning.path, problem.0)).help(problem.1));
}

/// Where the subresource `scale` reads and writes.
fn scale(scale: &Field<'_>, found: &mut Findings) {
    if scale.is_absent() {
        return;
    }
    let paths: [(Field<'_>, &[&str]); 3] = [
        (scale.at("specReplicasPath"), &[".spec."]),
        (scale.at("statusReplicasPath"), &[".status."]),
        (scale.at("labelSelectorPath"), &[".spec.", ".status."]),
    ];
    for (path, starts) in paths {
        let is_needed = !path.is_empty() || starts.len() == 1;
        if is_needed && !starts.iter().any(|start| path.text().starts_with(start)) {
            let broken = SOUND.at(&path, format!("{} is {}", path.path, path.shown()));
            let broken = broken.help(format!("write a path that begins with {}", starts.join(" or ")));
            // The validators leave out each finding at a path with `status` in it.
            found.add(broken.unless(starts == [".status."], Judge::Validators));
        }
    }
}

fn printer_column(column: &Field<'_>, found: &mut Findings) {
    let types = ["integer", "number", "string", "boolean", "date"];
    let formats = ["int32", "int64", "float", "double", "byte", "date", "date-time", "password"];
    let (name, kind, format, path) = (column.at("name"), column.at("type"), column.at("format"), column.at("jsonPath"));
    let problems = [
        (name.is_empty(), name, "name the column".to_owned()),
        (!types.contains(&kind.text()), kind, format!("write one of {}", types.join(", "))),
        (
            !format.is_empty() && !formats.contains(&format.text()),
            format,
            format!("write one of {}", formats.join(", ")),
        ),
        (!path.text().starts_with('.'), path, "write a path that begins with `.`, such as .spec.replicas".to_owned()),
    ];
    for (_, field, help) in problems.into_iter().filter(|(is_wrong, ..)| *is_wrong) {
        found.add(SOUND.at(&field, format!("{} is {}", field.path, field.shown())).help(help));
    }
}

fn selectable_fields(version: &Field<'_>, found: &mut Findings) {
    let schema = version.below(&["schema", "openAPIV3Schema"]);
    let fields = version.at("selectableFields");
    let mut known = BTreeSet::new();
    for path in fields.items().map(|field| field.at("jsonPath")) {
        let kind = selected(&schema, path.text()).map(|node| node.at("type").text());
        if !kind.is_some_and(|kind| ["string", "boolean", "integer"].contains(&kind)) {
            let broken = SOUND.at(&path, format!("{} is no field that objects are selected by", path.shown()));
            let help = "name a field of the schema that holds text, a boolean or an integer, such as .spec.colour";
            found.add(broken.help(help));
        } else if !known.insert(path.text()) {
            found.add(SOUND.at(&path, format!("{} is listed twice", path.text())).help("keep one of the two"));
        }
    }
    if known.len() > MOST_SELECTABLE {
        let broken = SOUND.at(&fields, format!("{} fields can be selected by", known.len()));
        found.add(broken.help(format!("keep {MOST_SELECTABLE} of them")));
    }
}

/// The node of a schema that a path such as `.spec.colour` leads to; none in the metadata.
fn selected<'b>(schema: &Field<'b>, path: &str) -> Option<Field<'b>> {
    let steps = path.strip_prefix('.').filter(|steps| steps.split('.').next() != Some("metadata"))?;
    let node = steps.split('.').try_fold(schema.clone(), |node, step| {
        let properties = node.at("properties");
        let next = if properties.is_absent() { node.at("additionalProperties") } else { properties.entry(step) };
        (!next.is_absent()).then_some(next)
    })?;
    Some(node)
}
