//! Cases of the patch alone.

use gateward::json::patch::diff;
use serde_json::{Value, json};

use crate::{Case, Outcome, same};

/// The fewest operations is what is promised. Which of two patches of that length it is, is not: they are compared by
/// what they make.
pub fn judge(case: &Case) -> Outcome {
    let (before, after) = (&case.rest["before"], &case.rest["after"]);
    let (source, target) = (before.to_string(), after.to_string());
    let patch = diff(&source, &target, &source).map_err(|error| error.to_string())?;
    let mut made = before.clone();
    patch.apply(&mut made).map_err(|error| error.to_string())?;
    same("the patched object", &made, after)?;
    let expected = case.expect["patch"].as_array().map_or(0, Vec::len);
    same("operations", &json!(patch.len()), &json!(expected))?;
    let equal = serde_json::to_value(&patch).unwrap() == case.expect["patch"];
    if equal || replaces_whole(&case.expect["patch"]) { Ok(()) } else { Err(format!("the patch is {patch:?}")) }
}

/// Whether the case's patch writes a list whole, beside which an operation on one element is as good.
fn replaces_whole(patch: &Value) -> bool {
    patch.as_array().into_iter().flatten().any(|operation| operation["value"].is_array())
}
