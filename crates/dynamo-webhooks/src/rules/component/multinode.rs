//! Components whose instances span several nodes.

use dynamo_api::v1beta1::{ComponentSpec, ComponentType};
use gateward::{BadValue, CREATE_AND_UPDATE, Issues, Rule, UPDATE};
use serde_json::{Value, json};

use super::context::{ComponentContext, ComponentOperation, ComponentUpdate, on_components};
use crate::rules::grove::nodes;

const SUPPORTED: Rule = rule! {
    id: "SHARED-44",
    summary: "only workers, prefill and decode workers span several nodes",
    ..on_components(CREATE_AND_UPDATE)
};

const TOGGLED: Rule = rule! {
    id: "SHARED-60",
    summary: "a component on one node stays on one, one on several stays on several",
    ..on_components(UPDATE)
};

const NODE_COUNT: Rule = rule! {
    id: "SHARED-61",
    summary: "the number of nodes of an instance stays as it is",
    help: "keep the stored number of nodes; another one needs another component",
    ..on_components(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&SUPPORTED, &TOGGLED, &NODE_COUNT];

pub(super) fn supported(context: &ComponentContext, operation: ComponentOperation, issues: &mut Issues) {
    if context.component.multinode.is_none()
        || can_span_nodes(context.component)
        || is_stored(context.component, operation)
    {
        return;
    }
    let (message, help) = match context.component.component_type {
        None => ("may not be set without a type", "set the type worker, prefill or decode, or remove it"),
        Some(_) => {
            ("may not be set for a component of this type", "remove it; accepted types: worker, prefill, decode")
        }
    };
    issues.add(SUPPORTED.forbidden(context.at / "multinode").message(message).help(help));
}

/// Judges the change of the number of nodes; whether the rules on the change of roles apply.
pub(super) fn unchanged(change: &ComponentUpdate, issues: &mut Issues) -> bool {
    let [old, new] = [change.old, change.new].map(nodes);
    if (old > 1) != (new > 1) && !drops_unsupported(change) {
        let value = change.new.multinode.as_ref().map_or(Value::Null, |_| json!({"nodeCount": new}));
        let issue = TOGGLED.invalid(change.at / "multinode", BadValue::Json(value));
        issues.add(issue.message("may not change between one node and several").help("create another component"));
        return false;
    }
    let both = change.old.multinode.is_some() && change.new.multinode.is_some();
    if both && old != new && can_span_nodes(change.new) {
        let path = change.at / "multinode" / "nodeCount";
        issues.add(NODE_COUNT.invalid(path, new).message(format!("field is immutable: it is {old}")));
    }
    true
}

/// What the rule forbids may have been stored before there was one; it may stay as it is.
fn is_stored(component: &ComponentSpec, operation: ComponentOperation) -> bool {
    let ComponentOperation::Update(Some(old)) = operation else { return false };
    let same = old.multinode.is_some() && nodes(old) == nodes(component);
    same && old.component_type == component.component_type
}

/// ... or go.
fn drops_unsupported(change: &ComponentUpdate) -> bool {
    let stored = change.old.multinode.is_some() && !can_span_nodes(change.old);
    stored && change.new.multinode.is_none() && change.old.component_type == change.new.component_type
}

fn can_span_nodes(component: &ComponentSpec) -> bool {
    component.component_type.as_ref().is_some_and(ComponentType::is_worker_class)
}
