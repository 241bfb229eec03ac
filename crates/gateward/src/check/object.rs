//! One object of a file, from its text to its findings.

use gateward_core::{Answer, DECODE, FieldPath, GroupVersionKind, Operation, Outcome, Review, Segment};
use gateward_lint::yaml::Document;
use serde_json::{Value, json};

use super::finding::{CEL, Finding};
use super::{Checker, Defaults};

/// One object of a file.
pub(super) struct Subject<'a> {
    pub object: &'a Value,
    pub gvk: GroupVersionKind,
    pub document: &'a Document,
    /// Where in the document it stands: at its root, or in the items of a List.
    pub at: FieldPath,
    pub old: Option<&'a Value>,
    pub user: &'a Value,
}

/// What was found about an object.
pub(super) struct Findings {
    pub found: Vec<Finding>,
    /// The object as it was judged, defaults included.
    pub judged: Value,
}

/// The objects of a document: itself, or the items of a `v1` List, as kubectl takes them.
pub(super) fn in_document(document: &Value) -> impl Iterator<Item = (FieldPath, &Value)> {
    let is_list = text(document, "apiVersion") == "v1" && text(document, "kind") == "List";
    let items = document.get("items").and_then(Value::as_array).filter(|_| is_list);
    let alone = items.is_none().then(|| (FieldPath::root(), document));
    let list = || FieldPath::field("items");
    alone.into_iter().chain(items.into_iter().flatten().enumerate().map(move |(i, item)| (list().index(i), item)))
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        object: &'a Value,
        document: &'a Document,
        at: FieldPath,
        stored: &'a [Value],
        user: &'a Value,
    ) -> Self {
        let gvk = gvk_of(object);
        let same = |old: &&Value| gvk_of(old).same_kind(&gvk) && identity(old) == identity(object);
        let old = stored.iter().find(same);
        Self { object, gvk, document, at, old, user }
    }

    pub(super) fn namespace(&self) -> &str {
        meta(self.object, "namespace")
    }

    pub(super) fn name(&self) -> &str {
        match meta(self.object, "name") {
            "" => meta(self.object, "generateName"),
            name => name,
        }
    }

    /// The review that the API server would send about `object`.
    fn review(&self, object: &Value) -> String {
        let operation = if self.old.is_some() { Operation::Update } else { Operation::Create };
        let namespace = Some(self.namespace()).filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "check",
                "kind": self.gvk,
                "name": meta(object, "name"),
                "namespace": namespace,
                "operation": operation,
                "userInfo": self.user,
                "object": object,
                "oldObject": self.old,
            }
        })
        .to_string()
    }
}

impl Checker<'_> {
    pub(super) async fn judge(&self, subject: &Subject<'_>) -> Findings {
        let mut findings = Findings { found: Vec::new(), judged: subject.object.clone() };
        if self.unknown_version(subject, &mut findings) {
            return findings;
        }
        if self.defaults == Defaults::Applied {
            self.schema_defaults(subject, &mut findings);
            self.handler_defaults(subject, &mut findings).await;
        }
        self.schema(subject, &mut findings);
        self.rules(subject, &mut findings).await;
        findings
    }

    /// An object in a version that isn't served is refused before anything looks at it.
    fn unknown_version(&self, subject: &Subject<'_>, findings: &mut Findings) -> bool {
        let served = self.schemas.of(&subject.gvk).is_some() || self.registry.declaration_of(&subject.gvk).is_some();
        let old_differs = subject.old.is_some_and(|old| gvk_of(old) != subject.gvk);
        let message = match (served, old_differs) {
            (false, _) => format!("no such version of this kind: {}", subject.gvk.api_version()),
            (true, true) => "the stored object is of another version; give both in the same one".to_owned(),
            (true, false) => return false,
        };
        findings.found.push(Finding::schema(FieldPath::field("apiVersion"), message));
        true
    }

    fn schema_defaults(&self, subject: &Subject<'_>, findings: &mut Findings) {
        if let Some(schema) = self.schemas.of(&subject.gvk) {
            schema.apply_defaults(&mut findings.judged);
        }
    }

    async fn handler_defaults(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let answer = self.ask(Review::Mutate, subject, &findings.judged).await;
        // A patch that core made of this very object fits it; an object that it can't read is a finding of the rules.
        let _ = answer.record.patch.apply(&mut findings.judged);
    }

    fn schema(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let Some(schema) = self.schemas.of(&subject.gvk) else { return };
        findings.found.extend(schema.validate(&findings.judged).into_iter().map(Finding::from));
        let rules = schema.cel_rules_on(&findings.judged).len();
        if rules > 0 {
            let message = format!("{rules} CEL rules of the schema were not evaluated; the API server does");
            findings.found.push(Finding::note(CEL, FieldPath::root(), message));
        }
    }

    async fn rules(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let answer = self.ask(Review::Validate, subject, &findings.judged).await;
        if let Outcome::Undecided(why) = &answer.record.outcome {
            findings.found.push(Finding::schema(FieldPath::root(), why.to_string()));
        }
        let known: Vec<FieldPath> = findings.found.iter().map(|finding| finding.path.clone()).collect();
        // The schema has said it already, in the API server's words.
        let said = |issue: &gateward_core::Issue| issue.rule == DECODE.id && known.contains(&issue.path);
        let issues = answer.record.issues.into_iter().filter(|issue| !said(issue));
        findings.found.extend(issues.map(Finding::from));
    }

    async fn ask(&self, review: Review, subject: &Subject<'_>, object: &Value) -> Answer {
        let body = subject.review(object);
        self.registry.answer_by_kind(review, body.as_bytes(), &self.context()).await
    }
}

impl Findings {
    /// Whether the node at `path` is one that defaulting made.
    pub(super) fn was_defaulted(&self, path: &FieldPath, object: &Value) -> bool {
        path.find(object).is_none() && path.find(&self.judged).is_some()
    }
}

impl Subject<'_> {
    /// The path of a node of the object in its document.
    pub(super) fn in_file(&self, path: &FieldPath) -> FieldPath {
        let segments: &[Segment] = path.segments();
        self.at.join(segments)
    }
}

fn gvk_of(object: &Value) -> GroupVersionKind {
    GroupVersionKind::of(text(object, "apiVersion"), text(object, "kind"))
}

fn identity(object: &Value) -> (&str, &str) {
    (meta(object, "namespace"), meta(object, "name"))
}

fn text<'v>(object: &'v Value, member: &str) -> &'v str {
    object.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn meta<'v>(object: &'v Value, member: &str) -> &'v str {
    object.get("metadata").map_or("", |metadata| text(metadata, member))
}
