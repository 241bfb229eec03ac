//! Carrying operations out.

use serde_json::Value;

use super::operation::{ApplyError, Patch, PatchOperation};

impl Patch {
    /// Carries the patch out on `document`.
    pub fn apply(&self, document: &mut Value) -> Result<(), ApplyError> {
        self.0.iter().try_for_each(|operation| carry_out(operation, document))
    }
}

fn carry_out(operation: &PatchOperation, document: &mut Value) -> Result<(), ApplyError> {
    let done = match operation {
        PatchOperation::Add { path, value } => add(document, path, value),
        PatchOperation::Remove { path } => remove(document, path),
        PatchOperation::Replace { path, value } => replace(document, path, value),
    };
    done.ok_or_else(|| ApplyError { path: operation.path().to_owned() })
}

fn add(document: &mut Value, path: &str, value: &Value) -> Option<()> {
    let Some((parent, key)) = split(document, path) else {
        return replace(document, path, value);
    };
    match parent {
        Value::Object(members) => {
            members.insert(key, value.clone());
        }
        Value::Array(items) => {
            let index = if key == "-" { items.len() } else { position(&key)? };
            (index <= items.len()).then(|| items.insert(index, value.clone()))?;
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<()> {
    let (parent, key) = split(document, path)?;
    match parent {
        Value::Object(members) => members.remove(&key).map(drop),
        Value::Array(items) => {
            let index = position(&key)?;
            (index < items.len()).then(|| drop(items.remove(index)))
        }
        _ => None,
    }
}

fn replace(document: &mut Value, path: &str, value: &Value) -> Option<()> {
    *document.pointer_mut(path)? = value.clone();
    Some(())
}

fn split<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
    let (parent, key) = path.rsplit_once('/')?;
    Some((document.pointer_mut(parent)?, key.replace("~1", "/").replace("~0", "~")))
}

/// An array index as RFC 6901 has it: digits without a leading zero.
fn position(key: &str) -> Option<usize> {
    if key.len() > 1 && key.starts_with('0') || !key.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    key.parse().ok()
}
