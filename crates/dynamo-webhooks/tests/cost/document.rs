//! A document of which some parts are text that is sent unread: they may be large, deep or no JSON.

use serde_json::Value;

const MARK: &str = "@raw:";

/// An object in the making.
pub struct Document {
    pub value: Value,
    raw: Vec<String>,
}

impl Document {
    pub fn new(value: Value) -> Self {
        Self { value, raw: Vec::new() }
    }

    /// A value that stands for this text.
    pub fn raw(&mut self, text: String) -> Value {
        self.raw.push(text);
        Value::String(format!("{MARK}{}", self.raw.len() - 1))
    }

    /// The text of a value.
    pub fn text(&self, value: &Value) -> String {
        let written = value.to_string();
        let mark = format!("\"{MARK}");
        let mut parts = written.split(&mark);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, rest) = part.split_once('"').unwrap();
            text.push_str(&self.raw[number.parse::<usize>().unwrap()]);
            text.push_str(rest);
        }
        text
    }

    /// Changes what is at a path. A text that is JSON is gone into as what it says: annotations keep objects so.
    /// Where there is nothing, nothing changes.
    pub fn change(&mut self, path: &[String], change: impl FnOnce(&mut Self, &mut Value)) {
        let mut value = std::mem::take(&mut self.value);
        self.change_in(&mut value, path, change);
        self.value = value;
    }

    fn change_in(&mut self, value: &mut Value, path: &[String], change: impl FnOnce(&mut Self, &mut Value)) {
        let Some((first, rest)) = path.split_first() else { return change(self, value) };
        if let Some(mut inside) = within(value) {
            self.change_in(&mut inside, path, change);
            *value = Value::String(self.text(&inside));
        } else if let Some(child) = child(value, first) {
            self.change_in(child, rest, change);
        }
    }
}

/// The object that a text says.
pub fn within(value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|text| text.starts_with('{') && text.len() < 100_000)?;
    serde_json::from_str(text).ok()
}

fn child<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    match value {
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        Value::Object(members) => members.get_mut(name),
        _ => None,
    }
}
