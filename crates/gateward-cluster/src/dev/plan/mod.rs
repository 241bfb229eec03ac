//! What is done about an object, to have it lead here and to put it back.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::record::{Before, DevHolder, Record};
use crate::crds::{converted_by, service_name};
use crate::injection::InjectableKind;

/// What the annotation says that names the Service which converts, so that no release writes its stanza meanwhile.
const CONVERTED_BY_DEV: &str = "dev";

/// Whose objects are put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of the process that had them: only the holder of the lease may.
    Anyones,
    /// Those of this process.
    Own,
}

/// How objects are marked.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    record: String,
    converted_by: String,
    holder: DevHolder,
}

/// What is done about an object so that it leads here.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Take {
    /// It concerns nothing that is served here.
    Nothing,
    /// It is being deleted: once it is gone, it is created.
    Wait,
    /// It isn't there.
    Create(DynamicObject),
    /// It is there.
    Replace(DynamicObject),
}

/// Why an object can't lead here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Obstacle {
    #[error("there is one of this name that `dev` has not made; delete or rename it")]
    OfOthers,
    #[error("it leads to {0} already")]
    Held(DevHolder),
    #[error("its annotation {annotation} can't be read: {why}; put `spec.conversion` right and remove the annotation")]
    Unreadable { annotation: String, why: String },
}

/// What is done about an object so that it is as before.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PutBack {
    /// It is none of ours.
    Nothing,
    /// It was made here, and nothing hangs on it.
    Delete,
    /// A CRD that was made here: with its objects it stays, as `kept`.
    DeleteUnlessUsed { kept: Box<DynamicObject> },
    /// It is as before then.
    Restore(Box<DynamicObject>),
    /// Somebody else has written it meanwhile: only the marks go.
    Unmark(Box<DynamicObject>),
}

impl Marks {
    /// The marks of an operator whose annotations begin with a prefix.
    pub(super) fn new(prefix: &str, holder: DevHolder) -> Self {
        Self { record: format!("{prefix}/dev"), converted_by: converted_by(prefix), holder }
    }

    /// Whether an object is marked, by whomever.
    pub(super) fn are_on(&self, annotations: &BTreeMap<String, String>) -> bool {
        annotations.contains_key(&self.record)
    }

    pub(super) fn take(
        &self,
        kind: InjectableKind,
        found: Option<&DynamicObject>,
        wanted: &DynamicObject,
    ) -> Result<Take, Obstacle> {
        let Some(found) = found else { return Ok(Take::Create(self.created(wanted))) };
        if found.metadata.deletion_timestamp.is_some() {
            return Ok(Take::Wait);
        }
        if let Some(record) = self.record(found)? {
            return Err(Obstacle::Held(record.holder));
        }
        match (kind, conversion_url(wanted)) {
            (InjectableKind::Crd, Some(url)) => Ok(Take::Replace(self.redirected(found, wanted, url))),
            (InjectableKind::Crd, None) => Ok(Take::Nothing),
            (InjectableKind::Validating | InjectableKind::Mutating, _) => Err(Obstacle::OfOthers),
        }
    }

    pub(super) fn put_back(
        &self,
        kind: InjectableKind,
        found: &DynamicObject,
        whose: Whose,
    ) -> Result<PutBack, Obstacle> {
        let Some(record) = self.record(found)? else { return Ok(PutBack::Nothing) };
        if whose == Whose::Own && record.holder != self.holder {
            return Ok(PutBack::Nothing);
        }
        let is_leaving = found.metadata.deletion_timestamp.is_some();
        Ok(match record.before {
            Before::Absent { .. } if is_leaving || kind != InjectableKind::Crd => PutBack::Delete,
            Before::Absent { url } => self.created_crd(found, url.as_deref()),
            Before::Conversion { url, stanza, converted_by } if conversion_url(found) == Some(&url) => {
                PutBack::Restore(Box::new(self.with_stanza(found, stanza, converted_by)))
            }
            Before::Conversion { converted_by, .. } => PutBack::Unmark(Box::new(self.unmarked(found, converted_by))),
        })
    }

    /// A CRD that was made here. The API server counts the changes of its specification from one on.
    fn created_crd(&self, found: &DynamicObject, url: Option<&str>) -> PutBack {
        if conversion_url(found) != url {
            return PutBack::Unmark(Box::new(self.unmarked(found, None)));
        }
        let kept = match url {
            Some(_) => self.with_stanza(found, json!({"strategy": "None"}), None),
            None => self.unmarked(found, None),
        };
        if found.metadata.generation.is_some_and(|generation| generation > 1) {
            return PutBack::Unmark(Box::new(kept));
        }
        PutBack::DeleteUnlessUsed { kept: Box::new(kept) }
    }

    fn record(&self, object: &DynamicObject) -> Result<Option<Record>, Obstacle> {
        let annotations = object.metadata.annotations.as_ref();
        let Some(text) = annotations.and_then(|annotations| annotations.get(&self.record)) else { return Ok(None) };
        let unreadable =
            |why: serde_json::Error| Obstacle::Unreadable { annotation: self.record.clone(), why: why.to_string() };
        serde_json::from_str(text).map(Some).map_err(unreadable)
    }

    fn created(&self, wanted: &DynamicObject) -> DynamicObject {
        self.marked(wanted.clone(), Before::Absent { url: conversion_url(wanted).map(str::to_owned) })
    }

    fn redirected(&self, found: &DynamicObject, wanted: &DynamicObject, url: &str) -> DynamicObject {
        let annotations = found.metadata.annotations.as_ref();
        let before = Before::Conversion {
            url: url.to_owned(),
            stanza: conversion(found).cloned().unwrap_or_default(),
            converted_by: annotations.and_then(|annotations| annotations.get(&self.converted_by)).cloned(),
        };
        let mut redirected = self.marked(found.clone(), before);
        redirected.data["spec"]["conversion"] = conversion(wanted).cloned().unwrap_or_default();
        redirected
    }

    fn marked(&self, mut object: DynamicObject, before: Before) -> DynamicObject {
        let converts = !matches!(before, Before::Absent { url: None });
        let record = Record { holder: self.holder.clone(), before };
        let annotations = object.metadata.annotations.get_or_insert_default();
        annotations.insert(self.record.clone(), json!(record).to_string());
        if converts {
            annotations.insert(self.converted_by.clone(), CONVERTED_BY_DEV.to_owned());
        }
        object
    }

    fn with_stanza(&self, found: &DynamicObject, stanza: Value, converted_by: Option<String>) -> DynamicObject {
        let mut object = self.unmarked(found, converted_by);
        match (object.data["spec"].as_object_mut(), stanza) {
            (Some(spec), Value::Null) => drop(spec.remove("conversion")),
            (Some(spec), stanza) => drop(spec.insert("conversion".to_owned(), stanza)),
            (None, _) => {}
        }
        object
    }

    /// The object without marks; the annotation of another converter stays.
    fn unmarked(&self, found: &DynamicObject, converted_by: Option<String>) -> DynamicObject {
        let mut object = found.clone();
        let annotations = object.metadata.annotations.get_or_insert_default();
        annotations.remove(&self.record);
        if annotations.get(&self.converted_by).is_some_and(|converter| converter == CONVERTED_BY_DEV) {
            annotations.remove(&self.converted_by);
            annotations.extend(converted_by.map(|converter| (self.converted_by.clone(), converter)));
        }
        object
    }
}

/// How the objects of a CRD are converted, for people.
pub(super) fn converter(crd: &DynamicObject) -> String {
    let config = conversion(crd).and_then(|conversion| conversion.pointer("/webhook/clientConfig"));
    match (config.and_then(|config| service_name(&config["service"])), conversion_url(crd)) {
        (Some(service), _) => format!("the Service {service} converted them"),
        (None, Some(url)) => format!("{url} converted them"),
        (None, None) => "only their apiVersion was changed".to_owned(),
    }
}

fn conversion(crd: &DynamicObject) -> Option<&Value> {
    crd.data.pointer("/spec/conversion")
}

fn conversion_url(crd: &DynamicObject) -> Option<&str> {
    conversion(crd)?.pointer("/webhook/clientConfig/url")?.as_str()
}
