//! Making an object smaller while it stays an object of its kind.

use std::sync::Arc;

use proptest::strategy::ValueTree;
use serde_json::Value;

use super::object_schema::ObjectSchema;

/// An object, and where it is cut next.
#[derive(Debug, Clone)]
pub struct Shrinking {
    kind: Arc<ObjectSchema>,
    object: Value,
    /// Before the last cut.
    whole: Option<Value>,
    next: usize,
    /// Whether something was cut for good since the walk through the object began.
    progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Some,
    None,
}

impl Shrinking {
    pub(super) fn new(kind: Arc<ObjectSchema>, object: Value) -> Self {
        Self { kind, object, whole: None, next: 0, progress: Progress::None }
    }

    /// Cuts at the next place that allows it.
    fn cut(&mut self) -> bool {
        while let Some(place) = places(&self.object).into_iter().nth(self.next) {
            let mut smaller = self.object.clone();
            remove(&mut smaller, &place);
            if self.kind.admits(&smaller) {
                self.whole = Some(std::mem::replace(&mut self.object, smaller));
                return true;
            }
            self.next += 1;
        }
        false
    }
}

impl ValueTree for Shrinking {
    type Value = Value;

    fn current(&self) -> Value {
        self.object.clone()
    }

    fn simplify(&mut self) -> bool {
        if self.whole.take().is_some() {
            self.progress = Progress::Some;
        }
        if self.cut() {
            return true;
        }
        let again = self.progress == Progress::Some;
        (self.next, self.progress) = (0, Progress::None);
        again && self.cut()
    }

    fn complicate(&mut self) -> bool {
        let Some(whole) = self.whole.take() else { return false };
        self.object = whole;
        self.next += 1;
        true
    }
}

/// A step into a value.
#[derive(Debug, Clone)]
enum Step {
    Member(String),
    Item(usize),
}

/// All places but the root, each before those below it.
fn places(value: &Value) -> Vec<Vec<Step>> {
    let mut places = Vec::new();
    collect(value, &mut Vec::new(), &mut places);
    places
}

fn collect(value: &Value, above: &mut Vec<Step>, places: &mut Vec<Vec<Step>>) {
    let below: Vec<(Step, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, value)| (Step::Member(name.clone()), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (Step::Item(index), value)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in below {
        above.push(step);
        places.push(above.clone());
        collect(value, above, places);
        above.pop();
    }
}

fn remove(value: &mut Value, place: &[Step]) {
    match (place, value) {
        ([Step::Member(name)], Value::Object(members)) => drop(members.remove(name)),
        ([Step::Item(index)], Value::Array(items)) if *index < items.len() => drop(items.remove(*index)),
        ([Step::Member(name), rest @ ..], Value::Object(members)) => {
            members.get_mut(name).into_iter().for_each(|below| remove(below, rest));
        }
        ([Step::Item(index), rest @ ..], Value::Array(items)) => {
            items.get_mut(*index).into_iter().for_each(|below| remove(below, rest));
        }
        _ => {}
    }
}
