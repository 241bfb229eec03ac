//! Manifests in another version, offline: with the conversion that the server answers with.

mod place;
mod remark;
mod round_trip;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::path::Path;

use gateward_core::rule::INCOMPLETE;
use gateward_core::{
    ConversionError, Converted, Declaration, FieldPath, GroupVersionKind, Issue, Issues, Ordered, Webhooks,
};
use gateward_lint::yaml::{self, Document, Source};

pub(crate) use remark::Remark;
pub(crate) use round_trip::Change;

use place::Place;

use crate::check::subject::{gvk_of, may_be, objects};

/// The version that objects shall have: `v1beta1`, or `nvidia.com/v1beta1` for the kinds of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    group: Option<String>,
    version: String,
}

impl From<&str> for Target {
    fn from(text: &str) -> Self {
        match text.rsplit_once('/') {
            Some((group, version)) => Self { group: Some(group.into()), version: version.into() },
            None => Self { group: None, version: text.into() },
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.group {
            Some(group) => write!(f, "{group}/{}", self.version),
            None => f.write_str(&self.version),
        }
    }
}

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Its documents, converted as far as that went.
    pub documents: Vec<Ordered>,
    /// What people should know of it.
    pub notes: Vec<Remark>,
    /// What could not be converted.
    pub errors: Vec<Remark>,
    /// What a round trip changes.
    pub changes: Vec<Change>,
    /// How many objects were of our kinds.
    pub objects: usize,
    /// How many objects were not.
    pub skipped: usize,
}

/// Converts manifests of the kinds of a webhooks.
#[derive(Clone, Copy)]
pub(crate) struct Converter<'p> {
    webhooks: &'p Webhooks,
}

impl<'p> Converter<'p> {
    pub(crate) fn new(webhooks: &'p Webhooks) -> Self {
        Self { webhooks }
    }

    /// The versions that some kind is converted to, each once.
    pub(crate) fn versions(self) -> Vec<String> {
        let converted = self.webhooks.declarations().filter(|declared| declared.converts);
        let mut versions: Vec<String> = converted
            .flat_map(|declared| declared.versions.iter().map(|version| format!("{}/{version}", declared.hub.group)))
            .collect();
        versions.sort();
        versions.dedup();
        versions
    }

    /// Whether any kind is converted to this version.
    pub(crate) fn knows(self, target: &Target) -> bool {
        self.versions().iter().any(|known| {
            let (group, version) = known.rsplit_once('/').unwrap_or_default();
            target.version == version && target.group.as_ref().is_none_or(|asked| asked == group)
        })
    }

    /// The documents of a file, each object in version `target`. Objects of other kinds pass.
    pub(crate) fn convert(self, file: &str, source: &Source, target: &Target) -> Outcome {
        let mut outcome = Outcome::default();
        for (document, place) in numbered(file, source) {
            let mut converted = document.in_order();
            for (at, gvk, object) in each(document, &mut converted) {
                let place = place.of(document, &at, &gvk);
                match self.one(object, &gvk, target) {
                    One::Converted(json, issues) => {
                        outcome.objects += 1;
                        outcome.notes.extend(place.notes(document, &issues));
                        *object = json.arranged_like(object);
                    }
                    One::Passed(why) => {
                        outcome.skipped += 1;
                        outcome.notes.push(place.remark(document, &FieldPath::root(), why));
                    }
                    One::Refused(error) => outcome.errors.push(place.refusal(document, &error)),
                }
            }
            outcome.documents.push(converted);
        }
        outcome
    }

    /// What changes when the objects of a file go to each other version of their kinds and back.
    pub(crate) fn round_trip(self, file: &str, source: &Source) -> Outcome {
        let mut outcome = Outcome::default();
        for (document, place) in numbered(file, source) {
            for (at, gvk, object) in each(document, &mut document.in_order()) {
                let place = place.of(document, &at, &gvk);
                let Some(declared) = self.converted(&gvk) else {
                    outcome.skipped += 1;
                    continue;
                };
                outcome.objects += 1;
                for via in others(declared, &gvk) {
                    match round_trip::of(self.webhooks, &object.to_string(), &gvk, via) {
                        Ok(differences) => outcome.changes.extend(place.changes(document, via, differences)),
                        Err(error) => outcome.errors.push(place.refusal(document, &error)),
                    }
                }
            }
        }
        outcome
    }

    fn one(self, object: &Ordered, gvk: &GroupVersionKind, target: &Target) -> One {
        let (group, version) = (&gvk.group, &target.version);
        if self.converted(gvk).is_none() {
            return One::Passed("this kind is not converted; it passes as it is".into());
        }
        if target.group.as_ref().is_some_and(|asked| asked != group && !group.is_empty()) {
            return One::Passed("this kind is of another group than the one asked for; it passes as it is".into());
        }
        let desired = GroupVersionKind { version: version.clone(), ..gvk.clone() }.api_version();
        match self.webhooks.convert(&object.to_string(), &desired) {
            // In a cluster a read must not fail; a file is its author's to mend.
            Ok(converted) if !converted.left_out.is_empty() => One::Refused(left_out(&converted)),
            Ok(converted) => match serde_json::from_str(&converted.json) {
                Ok(json) => One::Converted(json, converted.issues),
                Err(error) => One::Refused(unreadable(&error)),
            },
            Err(error) => One::Refused(error),
        }
    }

    /// The kind that the author may have meant, if its objects are converted.
    fn converted(self, gvk: &GroupVersionKind) -> Option<&'p Declaration> {
        self.webhooks.declarations().find(|declared| declared.converts && may_be(gvk, &declared.hub))
    }
}

/// The versions of a kind beside the object's own. From a version that there isn't, one way is enough to say so.
fn others(declared: &Declaration, gvk: &GroupVersionKind) -> Vec<&'static str> {
    let mut others = declared.versions.clone();
    others.retain(|version| *version != gvk.version);
    let known = others.len() < declared.versions.len();
    others.truncate(if known { others.len() } else { 1 });
    others
}

/// What became of one object.
enum One {
    Converted(Ordered, Issues),
    Passed(String),
    Refused(ConversionError),
}

fn left_out(converted: &Converted) -> ConversionError {
    let note = converted.issues.iter().find(|issue| issue.rule == INCOMPLETE.id);
    let message = note.map_or_else(|| "the other version has no room for it".to_owned(), Issue::detail);
    ConversionError { path: converted.left_out.first().cloned().unwrap_or_default(), message }
}

fn unreadable(error: &serde_json::Error) -> ConversionError {
    let message = format!("what the conversion made can't be read: {error}");
    ConversionError { path: FieldPath::root(), message }
}

/// Reads a file, by its name as JSON or as YAML.
pub(crate) fn read(file: &Path, text: &[u8]) -> Source {
    if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        yaml::read_json(text)
    } else {
        yaml::read(text)
    }
}

fn numbered<'s>(file: &'s str, source: &'s Source) -> impl Iterator<Item = (&'s Document, Place<'s>)> {
    source.documents.iter().enumerate().map(move |(index, document)| (document, Place::document(file, index + 1)))
}

/// The objects of a document, or those of the list that it is, each with its place in the document.
fn each<'d>(
    document: &Document,
    converted: &'d mut Ordered,
) -> impl Iterator<Item = (FieldPath, GroupVersionKind, &'d mut Ordered)> {
    let found: Vec<(FieldPath, GroupVersionKind)> =
        objects(&document.value).map(|(at, object)| (at, gvk_of(object))).collect();
    let alone = found.iter().all(|(at, _)| at.is_root());
    let ordered = if alone { std::slice::from_mut(converted) } else { items_of(converted) };
    found.into_iter().zip(ordered).map(|((at, gvk), object)| (at, gvk, object))
}

fn items_of(list: &mut Ordered) -> &mut [Ordered] {
    match list.member_mut("items") {
        Some(Ordered::Items(items)) => items,
        _ => &mut [],
    }
}
