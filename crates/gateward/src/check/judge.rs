//! One object, from its text to its findings.

use std::collections::BTreeSet;

use gateward_core::{FieldPath, GroupVersionKind, Operation, Review, ReviewResponse, Segment};
use gateward_lint::schema::{self, SchemaFault, SchemaFinding, StatusWrites, VersionSchema, malformed_metadata};
use serde_json::{Value, json};

use super::checked_object::CheckedObject;
use super::checker::{Checker, Defaults};
use super::finding::Finding;
use super::schemas::CrdError;
use super::subject::{Subject, gvk_of, meta};

/// Where an object goes that says no namespace.
pub(super) const NAMESPACE: &str = "default";

/// What the API server is asked to do with an object.
struct Write<'a> {
    subject: &'a Subject<'a>,
    schema: Option<&'a VersionSchema>,
    /// The stored object, if it is an update.
    old: Option<Value>,
}

impl Checker<'_> {
    /// Goes through the stations of the API server and takes in what each says; `old` is the stored object, if it is an
    /// update.
    pub(super) async fn judge(&self, subject: &Subject<'_>, old: Option<Value>) -> Result<CheckedObject, CrdError> {
        let mut judged =
            CheckedObject { found: Vec::new(), unevaluated: BTreeSet::new(), object: subject.object.clone() };
        let schema = self.schemas.of(&subject.gvk)?;
        if let Some(refusal) = self.not_served(subject, schema, old.as_ref()) {
            judged.found.push(refusal);
            return Ok(judged);
        }
        if old.is_none() && self.stored.is_some() {
            judged.found.push(Finding::not_stored());
        }
        let write = Write { subject, schema, old: old.map(|old| self.as_read(schema, old)) };
        judged.found.extend(self.unknown_fields(&write)?);
        if self.defaults == Defaults::Applied {
            self.default(&write, &mut judged).await;
        }
        judged.found.extend(malformed_metadata(&judged.object).into_iter().map(Finding::from));
        if let Some(version) = schema {
            let object = write.as_validated(version, &judged.object);
            write.validate(version, &object, &mut judged.found);
            judged.unevaluated = write.unevaluated(version, &object);
        }
        if !judged.unevaluated.is_empty() {
            judged.found.push(Finding::unevaluated(&judged.unevaluated));
        }
        let answer = self.ask(Review::Validate, &write, &judged.object).await;
        judged.take_in(answer.decision);
        Ok(self.help(judged.without_repetition().spelled_by(schema)))
    }

    /// What the schema doesn't know: found in the object as it is written, also in a status that is dropped later.
    fn unknown_fields(&self, write: &Write<'_>) -> Result<Vec<Finding>, CrdError> {
        let Some(version) = write.schema else { return Ok(Vec::new()) };
        let gvk = &write.subject.gvk;
        let mut found = version.schema.validate(write.subject.object).into_iter().filter(is_unknown).peekable();
        if found.peek().is_none() {
            return Ok(Vec::new());
        }
        let others = self.schemas.others(gvk)?;
        let helped = |found: SchemaFinding| {
            let known = self.renamed(version, gvk, &found.path).or_else(|| version.schema.nearest_field(&found.path));
            let known = known.map(|known| format!("did you mean {known}?"));
            let other = others.iter().find(|(_, other)| other.schema.knows(&found.path)).map(|(other, _)| {
                let (other, own) = (other.api_version(), gvk.api_version());
                format!("{other} has this field: write the object in that version, or convert it to {own}")
            });
            let instruction = is_patch_instruction(&found.path).then(|| PATCHED.to_owned());
            let help: Vec<String> = known.into_iter().chain(other).chain(instruction).collect();
            let finding = Finding::from(found);
            Finding { help: (!help.is_empty()).then(|| help.join(" ").into()).or(finding.help), ..finding }
        };
        Ok(found.map(helped).collect())
    }

    /// The field beside it that an unknown one is called in this version, by the declaration.
    fn renamed(&self, version: &VersionSchema, gvk: &GroupVersionKind, unknown: &FieldPath) -> Option<FieldPath> {
        let (last, parents) = unknown.segments().split_last()?;
        let name = last.name()?;
        let beside = |known: &'static str| FieldPath::root().join(parents) / known;
        let names = self.webhooks.declaration_of(gvk)?.renamed_fields.iter();
        let other = names.filter_map(|&(former, present)| match name {
            _ if name == former => Some(present),
            _ if name == present => Some(former),
            _ => None,
        });
        other.map(beside).find(|path| version.schema.knows(path))
    }

    /// An object of an unknown version is refused before anything looks at it.
    fn not_served(
        &self,
        subject: &Subject<'_>,
        schema: Option<&VersionSchema>,
        old: Option<&Value>,
    ) -> Option<Finding> {
        let GroupVersionKind { version, kind, .. } = &subject.gvk;
        let served = schema.is_some() || self.webhooks.declaration_of(&subject.gvk).is_some();
        let versions = || self.schemas.api_versions(kind);
        let (field, message, help) = match () {
            () if kind.is_empty() => {
                ("kind", "Required value: kind is not set".to_owned(), "name the kind of the object".to_owned())
            }
            () if version.is_empty() => {
                ("apiVersion", "Required value: apiVersion is not set".to_owned(), format!("write {}", versions()))
            }
            () if !served => {
                let message = format!("no matches for kind {kind:?} in version {:?}", subject.gvk.api_version());
                ("apiVersion", message, format!("write {}", versions()))
            }
            () if old.is_some_and(|old| gvk_of(old) != subject.gvk) => {
                let message = "the stored object is of another version; give both in the same one".to_owned();
                ("apiVersion", message, "convert one of the two".to_owned())
            }
            () => return None,
        };
        Some(Finding { help: Some(help.into()), ..Finding::refusal(FieldPath::field(field), message) })
    }

    /// A stored object as the API server hands it out: with the defaults of its schema.
    fn as_read(&self, schema: Option<&VersionSchema>, mut old: Value) -> Value {
        if let (Defaults::Applied, Some(version)) = (self.defaults, schema) {
            version.schema.apply_defaults(&mut old);
        }
        old
    }

    async fn default(&self, write: &Write<'_>, judged: &mut CheckedObject) {
        write.schema_defaults(&mut judged.object);
        let answer = self.ask(Review::Mutate, write, &judged.object).await;
        // A patch that core made of this very object fits it.
        let _ = answer.decision.patch.apply(&mut judged.object);
        write.schema_defaults(&mut judged.object);
        write.keep_status(&mut judged.object);
        judged.take_in(answer.decision);
    }

    /// Gives findings the help of their rules, where they have none of their own.
    fn help(&self, mut judged: CheckedObject) -> CheckedObject {
        for finding in judged.found.iter_mut().filter(|finding| finding.help.is_none()) {
            let rule = self.catalogue.get(finding.rule).filter(|rule| !rule.help.is_empty());
            finding.help = rule.map(|rule| rule.help.into());
        }
        judged
    }

    async fn ask(&self, review: Review, write: &Write<'_>, object: &Value) -> ReviewResponse {
        let body = write.review(object, &self.user);
        self.webhooks.handle_kind(review, body.as_bytes(), &self.context()).await
    }
}

impl Write<'_> {
    fn schema_defaults(&self, object: &mut Value) {
        if let Some(version) = self.schema {
            version.schema.apply_defaults(object);
        }
    }

    /// A status that has an endpoint of its own is not written with the object: the stored one stays.
    fn keep_status(&self, object: &mut Value) {
        let Some(members) = object.as_object_mut().filter(|_| self.status_is_apart()) else { return };
        members.remove("status");
        if let Some(status) = self.old.as_ref().and_then(|old| old.get("status")) {
            members.insert("status".into(), status.clone());
        }
    }

    fn status_is_apart(&self) -> bool {
        self.schema.is_some_and(|version| version.status == StatusWrites::Apart)
    }

    /// What the schema of the API server refuses.
    fn validate(&self, version: &VersionSchema, object: &Value, found: &mut Vec<Finding>) {
        let of_schema = match &self.old {
            Some(old) => version.schema.validate_update(old, object),
            None => version.schema.validate(object),
        };
        found.extend(of_schema.into_iter().filter(|finding| !is_unknown(finding)).map(Finding::from));
        let unscalable = version.unscalable(object);
        let unscalable = unscalable.filter(|fault| !found.iter().any(|found| found.is_schema_at(&fault.path)));
        found.extend(unscalable.map(Finding::from));
    }

    /// What the CEL rules say that the object may break.
    fn unevaluated(&self, version: &VersionSchema, object: &Value) -> BTreeSet<String> {
        let write = if self.old.is_some() { schema::WriteKind::Update } else { schema::WriteKind::Creation };
        let rules = version.schema.cel_rules_on(object, write);
        rules.into_iter().map(|rule| if rule.message.is_empty() { rule.rule } else { rule.message }).collect()
    }

    /// The object as the API server validates it: nulls that the schema doesn't allow are gone, and so is a status that
    /// has an endpoint of its own.
    fn as_validated(&self, version: &VersionSchema, object: &Value) -> Value {
        let mut object = object.clone();
        version.schema.drop_nulls(&mut object);
        if let Some(members) = object.as_object_mut().filter(|_| self.status_is_apart()) {
            members.remove("status");
        }
        object
    }

    /// The review that the API server would send.
    fn review(&self, object: &Value, user: &Value) -> String {
        let operation = if self.old.is_some() { Operation::Update } else { Operation::Create };
        let namespace = Some(self.subject.namespace()).filter(|namespace| !namespace.is_empty());
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "check",
                "kind": self.subject.gvk,
                "name": meta(object, "name"),
                "namespace": namespace.unwrap_or(NAMESPACE),
                "operation": operation,
                "userInfo": user,
                "object": object,
                "oldObject": self.old,
            }
        })
        .to_string()
    }
}

/// Whether it is what a strategic merge patch says of a list or a map, such as `$patch: delete`.
fn is_patch_instruction(path: &FieldPath) -> bool {
    path.segments().last().and_then(Segment::name).is_some_and(|name| name.starts_with('$'))
}

const PATCHED: &str = "this is a patch: check what is made of it, as by kustomize build";

fn is_unknown(finding: &SchemaFinding) -> bool {
    finding.fault == SchemaFault::UnknownField
}
