//! An operator of beavers' lodges, and a check of manifests with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{Crd, UserInfo};
use serde::{Deserialize, Serialize};

use crate::check::{Checker, Defaults, Report, Schemas};
use crate::prelude::*;

/// The kind with a schema and a status of its own.
pub const CRD: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: zoo.dev
  names: {kind: Lodge}
  versions:
    - name: v1
      served: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              x-kubernetes-validations:
                - {rule: "self.rooms > 0", message: some rooms}
                - {rule: "self.rooms >= oldSelf.rooms", message: never fewer rooms}
              properties:
                rooms: {type: integer, minimum: 1, default: 2}
                river: {type: string}
                colour: {type: string, default: red, enum: [brown, grey]}
                lodgers:
                  type: object
                  additionalProperties:
                    type: object
                    properties: {teeth: {type: integer}}
            status:
              type: object
              required: [phase]
              properties: {phase: {type: string}}
    - {name: v0, served: false, schema: {openAPIV3Schema: {type: object}}}
"#;

const FEW_ROOMS: Rule = Rule { id: "LODGE-1", ..Rule::on(CREATE_AND_UPDATE) };
const NAMED_RIVER: Rule = Rule { id: "LODGE-2", ..Rule::on(CREATE_AND_UPDATE) };
const NO_LESS: Rule = Rule { id: "LODGE-3", ..Rule::on(UPDATE) };
const FLOODS: Rule = Rule { id: "LODGE-4", ..Rule::on(CREATE_AND_UPDATE) };

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Lodge {
    spec: Spec,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<serde_json::Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Spec {
    #[serde(skip_serializing_if = "Option::is_none")]
    rooms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    river: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lodgers: BTreeMap<String, Lodger>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Lodger {
    #[serde(skip_serializing_if = "Option::is_none")]
    teeth: Option<i64>,
}

resource!(Lodge, "zoo.dev/v1", "Lodge", "lodges");

/// Rules on rooms and rivers, and what can be said without a rule.
struct Rules;

#[handler]
impl Validator<Lodge> for Rules {
    async fn create(&self, new: &Lodge, request: &Request) -> Verdict {
        judged(new, request)
    }

    async fn update(&self, old: &Lodge, new: &Lodge, request: &Request) -> Verdict {
        if new.spec.rooms < old.spec.rooms {
            let issue = NO_LESS.invalid(at("rooms"), new.spec.rooms).message("a lodge never loses rooms");
            return Issues::from_iter([issue]).into();
        }
        judged(new, request)
    }
}

fn judged(lodge: &Lodge, request: &Request) -> Verdict {
    match lodge.spec.river.as_deref() {
        Some("Styx") => return Verdict::deny("nobody lives there").warning("not even beavers"),
        Some("Lethe") => return Verdict::error(WebhookError::Unavailable("the river is forgotten".into())),
        _ => {}
    }
    let mut issues = Issues::new();
    if lodge.spec.rooms > Some(9) {
        issues.add(FEW_ROOMS.invalid(at("rooms"), lodge.spec.rooms).message("too many rooms").help("nine are enough"));
    }
    if lodge.spec.river.as_deref() == Some("unnamed") {
        issues.add(NAMED_RIVER.forbidden(at("river")).message("a river has a name"));
    }
    if lodge.spec.rooms == Some(1) {
        issues.add(FEW_ROOMS.warning(at("rooms"), "one room is lonely"));
    }
    if request.operation == Some(Update) && lodge.status.is_some() {
        issues.add(FLOODS.note(FieldPath::field("status"), "floods were not looked up"));
    }
    issues.into()
}

/// The default river.
fn rivers(mut lodge: Lodge, _: &Request) -> Result<Lodge, Verdict> {
    if lodge.spec.river.as_deref() == Some("Acheron") {
        return Err(Verdict::deny("no way back"));
    }
    lodge.spec.river.get_or_insert_with(|| "unnamed".to_owned());
    Ok(lodge)
}

fn at(field: &'static str) -> FieldPath {
    FieldPath::field("spec") / field
}

fn webhooks() -> Webhooks {
    let rules = [&FEW_ROOMS, &NAMED_RIVER, &NO_LESS, &FLOODS];
    Webhooks::new().register(Webhook::<Lodge>::new().validator(Rules).defaulter(rivers).rules(rules))
}

/// A check that is being set up.
pub struct Check {
    crds: Vec<Crd>,
    defaults: Defaults,
    old: Option<String>,
}

/// A check with the kind's CRD.
pub fn check() -> Check {
    Check { crds: vec![CRD.into()], defaults: Defaults::Applied, old: None }
}

impl Check {
    pub fn without_crd(mut self) -> Self {
        self.crds.clear();
        self
    }

    pub fn without_defaults(mut self) -> Self {
        self.defaults = Defaults::Skipped;
        self
    }

    pub fn old(mut self, old: &str) -> Self {
        self.old = Some(old.to_owned());
        self
    }

    /// The report on one file.
    pub fn report(&self, file: &str, text: &str) -> Report {
        let (webhooks, schemas) = (webhooks(), Schemas::read(&self.crds).unwrap());
        let checker = Checker::new(&webhooks, &schemas, Arc::new(()), SystemTime::UNIX_EPOCH);
        let mut checker = checker.defaults(self.defaults).command("lodges").user(&UserInfo::default());
        if let Some(old) = &self.old {
            checker = checker.stored(old.as_bytes()).unwrap();
        }
        let mut report = Report::new();
        gateward_core::testing::block_on(checker.check(file, text.as_bytes(), &mut report)).unwrap();
        report
    }

    /// The findings on one file: rule, line, column and path of each. Notes about CEL are left out.
    pub fn found(&self, text: &str) -> Vec<String> {
        let report = self.report("lodge.yaml", text);
        let of_interest = report.diagnostics().filter(|found| found.rule != "CEL");
        let shown = of_interest.map(|found| {
            let place = found.span.map_or((0, 0), |span| (span.line(), span.column()));
            format!("{} {}:{} {}", found.rule, place.0, place.1, found.path)
        });
        shown.collect()
    }

    /// What the findings on one file say, with their severities.
    pub fn said(&self, text: &str) -> Vec<String> {
        let report = self.report("lodge.yaml", text);
        report.diagnostics().map(|found| format!("{}: {}", found.severity.as_str(), found.message)).collect()
    }
}
