//! Admission of DynamoModel: MODEL-01 to MODEL-07. Values are compared byte by byte.

use dynamo_api::crds;
use dynamo_api::v1alpha1::{DynamoModel, DynamoModelSpec, ModelType};
use gateward::{
    CREATE_AND_UPDATE, DeletingObjects, Endpoint, FieldPath, Issues, Redacted, Request, Rule, UPDATE, Validator,
    Webhook, handler,
};

/// How the URI of a LoRA's weights may begin.
const SOURCE_PREFIXES: [&str; 3] = ["s3://", "hf://", "file:///"];

const ON_MODELS: Rule = Rule {
    kinds: &["DynamoModel"],
    versions: &["v1alpha1"],
    page: "docs/rule-book/model.md",
    ..Rule::on(CREATE_AND_UPDATE)
};

pub(crate) const MODEL_NAME: Rule = rule! {
    id: "MODEL-01",
    summary: "a model has the name that requests ask for",
    help: "write the name that clients send in their requests, such as Qwen/Qwen3-0.6B",
    ..ON_MODELS
};

pub(crate) const BASE_MODEL_NAME: Rule = rule! {
    id: "MODEL-02",
    summary: "a model names the base model whose workers serve it",
    help: "write the name of the model that the workers serve, such as Qwen/Qwen3-0.6B",
    ..ON_MODELS
};

pub(crate) const LORA_SOURCE: Rule = rule! {
    id: "MODEL-03",
    summary: "a LoRA has a source",
    ..ON_MODELS
};

pub(crate) const LORA_SOURCE_URI: Rule = rule! {
    id: "MODEL-04",
    summary: "the source of a LoRA has a URI",
    help: "write where the weights are, such as hf://org/adapter or s3://bucket/adapter",
    ..ON_MODELS
};

pub(crate) const LORA_SOURCE_FORM: Rule = rule! {
    id: "MODEL-05",
    summary: "the URI of a LoRA's source starts with s3://, hf:// or file:///",
    ..ON_MODELS
};

pub(crate) const SAME_MODEL_TYPE: Rule = rule! {
    id: "MODEL-06",
    summary: "the type of a model never changes",
    help: "keep the stored type, or create a model of another name",
    operations: UPDATE,
    ..ON_MODELS
};

pub(crate) const SAME_BASE_MODEL: Rule = rule! {
    id: "MODEL-07",
    summary: "the base model of a model never changes",
    help: "keep the stored base model, or create a model of another name",
    operations: UPDATE,
    ..ON_MODELS
};

pub(crate) const RULES: &[&Rule] = &[
    &MODEL_NAME,
    &BASE_MODEL_NAME,
    &LORA_SOURCE,
    &LORA_SOURCE_URI,
    &LORA_SOURCE_FORM,
    &SAME_MODEL_TYPE,
    &SAME_BASE_MODEL,
];

/// The declaration of DynamoModel.
pub(crate) fn kind() -> Webhook<DynamoModel> {
    let endpoint = Endpoint::new().name("vdynamomodel.kb.io").path("/validate-nvidia-com-v1alpha1-dynamomodel");
    Webhook::new()
        .validator(ModelValidator)
        .validating_at(endpoint)
        .crd(crds::MODEL.json)
        .deleting_objects(DeletingObjects::Skip)
        .rules(RULES.iter().copied())
}

/// The rules of DynamoModel.
struct ModelValidator;

#[handler]
impl Validator<DynamoModel> for ModelValidator {
    async fn create(&self, new: &DynamoModel, _: &Request) -> Issues {
        stateless(&new.spec)
    }

    async fn update(&self, old: &DynamoModel, new: &DynamoModel, _: &Request) -> Issues {
        let mut issues = stateless(&new.spec);
        unchanged(&old.spec, &new.spec, &mut issues);
        issues
    }
}

fn stateless(spec: &DynamoModelSpec) -> Issues {
    let mut issues = Issues::new();
    if spec.model_name.is_empty() {
        issues.add(MODEL_NAME.required(at("modelName")).message("must be set"));
    }
    if spec.base_model_name.is_empty() {
        let issue = BASE_MODEL_NAME.required(at("baseModelName"));
        issues.add(issue.message("must be set"));
    }
    if spec.model_type == Some(ModelType::Lora) {
        source(spec, &mut issues);
    }
    issues
}

/// What is demanded of a LoRA's source. Its URI may hold credentials: no text shows it.
fn source(spec: &DynamoModelSpec, issues: &mut Issues) {
    let Some(source) = &spec.source else {
        let issue = LORA_SOURCE.required(at("source")).message("must be set for a LoRA");
        return issues.add(issue.help("set source.uri, such as s3://bucket/adapter"));
    };
    let uri = at("source") / "uri";
    if source.uri.is_empty() {
        issues.add(LORA_SOURCE_URI.required(uri).message("must be set for a LoRA"));
    } else if !SOURCE_PREFIXES.iter().any(|prefix| source.uri.starts_with(prefix)) {
        let issue = LORA_SOURCE_FORM
            .invalid(uri, Redacted)
            .message("unsupported scheme: must start with s3://, hf:// or file:///");
        issues.add(issue.help("accepted: s3://bucket/path, hf://organisation/name, file:///path"));
    }
}

fn unchanged(old: &DynamoModelSpec, new: &DynamoModelSpec, issues: &mut Issues) {
    if new.base_model_name != old.base_model_name {
        let path = at("baseModelName");
        let issue = SAME_BASE_MODEL.invalid(path.clone(), new.base_model_name.as_str());
        issues.add(issue.message("field is immutable").help("delete the model and recreate it"));
        let text = "spec.baseModelName: with another base model the endpoints that serve this model are not found";
        issues.add(SAME_BASE_MODEL.warning(path, text));
    }
    if new.model_type != old.model_type {
        let path = at("modelType");
        let issue = SAME_MODEL_TYPE.invalid(path.clone(), new.model_type.as_ref().map_or("", ModelType::as_str));
        issues.add(issue.message("field is immutable").help("delete the model and recreate it"));
        let text = "spec.modelType: workers may treat a model that changes its type in unexpected ways";
        issues.add(SAME_MODEL_TYPE.warning(path, text));
    }
}

fn at(field: &'static str) -> FieldPath {
    FieldPath::field("spec") / field
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{create, object, update, with};

    fn model(spec: &Value) -> Value {
        let spec = with(json!({"modelName": "otter-legal", "baseModelName": "otter"}), spec.clone());
        object("v1alpha1", "DynamoModel", json!({"name": "otter", "namespace": "river"}), spec)
    }

    fn lora(uri: &str) -> Value {
        model(&json!({"modelType": "lora", "source": {"uri": uri}}))
    }

    #[test]
    fn never_shows_the_uri() {
        let findings = create(&lora("https://user:hunter2@example.org/a"));
        let body = String::from_utf8(findings.answer().body.clone()).unwrap();
        assert!(body.contains("<redacted>") && !body.contains("hunter2") && !body.contains("example.org"), "{body}");
        assert!(!format!("{:?}", findings.answer().decision).contains("hunter2"));
    }

    #[test]
    fn reports_the_base_model_before_the_type_with_a_warning_each() {
        let old = model(&json!({"modelType": "base"}));
        let new = model(&json!({"modelType": "adapter", "baseModelName": "badger"}));
        let findings = update(&old, &new);
        findings.only(&[&SAME_BASE_MODEL, &SAME_MODEL_TYPE]);
        assert_eq!(findings.paths(), ["spec.baseModelName", "spec.modelType"]);
        let warnings = findings.warnings();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("baseModelName") && warnings[1].contains("modelType"), "{warnings:?}");
    }

    #[test]
    fn a_field_of_the_wrong_type_is_a_finding() {
        let findings = create(&model(&json!({"modelName": 5, "source": "s3://a"})));
        assert_eq!(findings.paths().len(), 2);
    }
}
