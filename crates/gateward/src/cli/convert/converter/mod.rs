//! Manifests in another version, offline: with the conversion that the server answers with.

mod annotations;
mod bare;
mod origin;
mod place;
mod remark;
mod round_trip;
#[cfg(test)]
pub(crate) mod tests;
mod there_and_back;

use std::fmt;
use std::path::Path;

use gateward_core::rule::INCOMPLETE;
use gateward_core::{
    ConversionError, Converted, Declaration, FieldPath, GroupVersionKind, Issue, Issues, Ordered, Origins, Webhooks,
};
use gateward_lint::schema::SchemaFinding;
use gateward_lint::yaml::{self, Document, Replacement, Source};

pub(crate) use annotations::Annotations;
pub(crate) use remark::Remark;
pub(crate) use round_trip::Change;

use annotations::{Bare, Lost};
use origin::{ConvertedObject, Origin, origin};
use place::Place;

use crate::check::Schemas;
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
    /// Its text, with the objects converted as far as that went; the rest is as it was, byte for byte.
    pub text: String,
    /// The same, document by document.
    pub documents: Vec<Ordered>,
    /// What people should know of it.
    pub notes: Vec<Remark>,
    /// What could not be converted.
    pub errors: Vec<Remark>,
    /// What a round trip changes.
    pub changes: Vec<Change>,
    /// How many objects were of our kinds.
    pub objects: usize,
    /// How many of them have another version now.
    pub converted: usize,
    /// Objects that are not of our kinds.
    pub skipped: Vec<Remark>,
    /// Whether a part of the file can't be read.
    pub has_gaps: bool,
}

impl Outcome {
    /// Whether the whole file could be read and converted.
    pub(crate) fn is_whole(&self) -> bool {
        self.errors.is_empty() && !self.has_gaps
    }
}

/// Converts manifests of the kinds of a webhooks.
#[derive(Clone, Copy)]
pub(crate) struct Converter<'p> {
    webhooks: &'p Webhooks,
    schemas: &'p Schemas,
    annotations: Annotations,
}

impl<'p> Converter<'p> {
    pub(crate) fn new(webhooks: &'p Webhooks, schemas: &'p Schemas, annotations: Annotations) -> Self {
        Self { webhooks, schemas, annotations }
    }

    /// The versions that some kind is converted to, each once.
    pub(crate) fn versions(self) -> Vec<String> {
        let converted = self.webhooks.declarations().filter(|declared| declared.converts());
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
        let documents = numbered(file, source);
        let converted: Vec<_> =
            documents.map(|(document, place)| self.document(document, &place, target, &mut outcome)).collect();
        let origins: Vec<Option<Origin<'_>>> =
            converted.iter().map(|new| new.as_ref().map(|new| origin(&new.objects))).collect();
        let mut replacements = Vec::with_capacity(converted.len());
        for ((document, new), origin) in source.documents.iter().zip(&converted).zip(&origins) {
            let new = new.as_ref().zip(origin.as_ref());
            outcome.documents.push(match new {
                Some((new, origin)) => document.in_order_of(&new.value, origin.as_ref()),
                None => document.in_order(),
            });
            replacements.push(new.map(|(new, origin)| Replacement {
                value: &new.value,
                origin: origin.as_ref(),
                head: &new.head,
            }));
        }
        outcome.text = source.rewritten(&replacements);
        outcome
    }

    /// A document with its objects in version `target`; `None` where nothing changes.
    fn document(
        self,
        document: &Document,
        place: &Place<'_>,
        target: &Target,
        outcome: &mut Outcome,
    ) -> Option<ConvertedDocument> {
        let mut new = ConvertedDocument { value: document.in_order(), objects: Vec::new(), head: Vec::new() };
        for (at, gvk, object) in each(document, &mut new.value) {
            let place = place.of(document, &at, &gvk);
            match self.one(object, &gvk, target) {
                One::Converted { value, origins, issues, lost } => {
                    outcome.objects += 1;
                    outcome.converted += 1;
                    outcome.notes.extend(place.notes(document, &issues));
                    if let Some(lost) = &lost {
                        outcome.notes.extend(place.losses(document, lost));
                        new.head.push(place.head(lost));
                    }
                    *object = value;
                    new.objects.push((at, origins));
                }
                One::AsItWas => outcome.objects += 1,
                One::Passed(why) => outcome.skipped.push(place.remark(document, &FieldPath::root(), why)),
                One::Refused(error) => outcome.errors.push(place.refusal(document, &error)),
            }
        }
        (!new.objects.is_empty()).then_some(new)
    }

    /// What changes when the objects of a file go to each other version of their kinds and back.
    pub(crate) fn round_trip(self, file: &str, source: &Source) -> Outcome {
        let mut outcome = Outcome::default();
        for (document, place) in numbered(file, source) {
            for (at, gvk, object) in each(document, &mut document.in_order()) {
                let place = place.of(document, &at, &gvk);
                let Some(declared) = self.converted(&gvk) else {
                    outcome.skipped.push(place.remark(document, &FieldPath::root(), NOT_CONVERTED));
                    continue;
                };
                outcome.objects += 1;
                for via in others(declared, &gvk) {
                    match self.there_and_back(declared, &object.to_string(), &gvk, via) {
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
        let Some(declared) = self.converted(gvk) else { return One::Passed(NOT_CONVERTED) };
        if target.group.as_ref().is_some_and(|asked| asked != group && !group.is_empty()) {
            return One::Passed("this kind is of another group than the one asked for; it passes as it is");
        }
        let desired = GroupVersionKind { version: version.clone(), ..gvk.clone() };
        let tried = if *gvk == desired {
            self.in_its_version(object, gvk, declared)
        } else {
            self.in_another_version(&object.to_string(), gvk, &desired, declared)
        };
        tried.unwrap_or_else(One::Refused)
    }

    fn in_its_version(
        self,
        object: &Ordered,
        gvk: &GroupVersionKind,
        declared: &Declaration,
    ) -> Result<One, ConversionError> {
        let text = object.to_string();
        self.webhooks.convert(&text, &gvk.api_version())?;
        let other = others(declared, gvk).into_iter().next();
        let Some(of) = other.filter(|_| self.annotations == Annotations::LeftOut) else { return Ok(One::AsItWas) };
        Ok(match self.bare(declared, &text, gvk, of)? {
            Some(Bare { object: value, lost }) => {
                One::Converted { value, origins: Origins::default(), issues: Issues::new(), lost }
            }
            None => One::AsItWas,
        })
    }

    fn in_another_version(
        self,
        object: &str,
        own: &GroupVersionKind,
        desired: &GroupVersionKind,
        declared: &Declaration,
    ) -> Result<One, ConversionError> {
        let converted = self.webhooks.convert(object, &desired.api_version())?;
        if !converted.left_out.is_empty() {
            // In a cluster a read must not fail; a file is its author's to mend.
            return Err(self.left_out(&converted, object, own));
        }
        let origins = self.webhooks.origins(object, &converted.json)?;
        let bare = self.bare(declared, &converted.json, desired, &own.version)?;
        let is_left_out = |bare: &Bare| self.annotations == Annotations::LeftOut || bare.lost.is_none();
        let (value, lost) = match bare.filter(is_left_out) {
            Some(bare) => (bare.object, bare.lost),
            None => (serde_json::from_str(&converted.json).map_err(|error| unreadable(&error))?, None),
        };
        Ok(One::Converted { value, origins, issues: converted.issues, lost })
    }

    /// Why a part of the object can't be converted. The schema says of a node of the wrong type what it is and must be.
    fn left_out(self, converted: &Converted, object: &str, gvk: &GroupVersionKind) -> ConversionError {
        let path = converted.left_out.first().cloned().unwrap_or_default();
        let schema = match self.schemas.of(gvk) {
            Ok(schema) => schema,
            Err(error) => return error.into(),
        };
        let found = schema.zip(serde_json::from_str(object).ok()).and_then(|(version, object)| {
            let mut found = version.schema.validate(&object).into_iter();
            found.find(|found| found.path.strip_prefix(&path).is_some())
        });
        if let Some(SchemaFinding { path, fault }) = found {
            return ConversionError { path, message: fault.help().into_owned() };
        }
        let note = converted.issues.iter().find(|issue| issue.rule == INCOMPLETE.id);
        let message = note.map_or_else(|| "the other version has no room for it".to_owned(), Issue::detail);
        ConversionError { path, message }
    }

    /// The kind that the author may have meant, if its objects are converted.
    fn converted(self, gvk: &GroupVersionKind) -> Option<&'p Declaration> {
        self.webhooks.declarations().find(|declared| declared.converts() && may_be(gvk, &declared.hub))
    }
}

/// The versions of a kind beside the object's own. From a version that there isn't, one way is enough to say so.
fn others<'d>(declared: &'d Declaration, gvk: &GroupVersionKind) -> Vec<&'d str> {
    let mut others: Vec<&str> = declared.versions.iter().map(AsRef::as_ref).collect();
    others.retain(|version| *version != gvk.version);
    let known = others.len() < declared.versions.len();
    others.truncate(if known { others.len() } else { 1 });
    others
}

const NOT_CONVERTED: &str = "this kind is not converted; it passes as it is";

/// A document of which objects were converted.
struct ConvertedDocument {
    value: Ordered,
    objects: Vec<ConvertedObject>,
    /// Lines to stand above it.
    head: Vec<String>,
}

/// What became of one object.
enum One {
    Converted { value: Ordered, origins: Origins, issues: Issues, lost: Option<Lost> },
    AsItWas,
    Passed(&'static str),
    Refused(ConversionError),
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
