//! Damage to objects, the same in each run.

use serde_json::{Map, Value, json};

/// A source of damage.
pub struct Damage {
    state: u64,
}

impl Damage {
    /// Equal seeds do equal damage.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A copy with one to three faults somewhere in its spec.
    pub fn done_to(&mut self, object: &Value) -> Value {
        let mut object = object.clone();
        for _ in 0..=self.below(3) {
            self.hit(&mut object["spec"]);
        }
        object
    }

    /// A number below a bound (an LCG's upper half; Knuth's constants).
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap() % bound
    }

    /// Walks down for a while and then does harm.
    fn hit(&mut self, node: &mut Value) {
        let deeper = self.below(8) > 0;
        match node {
            Value::Object(members) if !members.is_empty() => {
                let name = members.keys().nth(self.below(members.len())).unwrap().clone();
                if deeper { self.hit(&mut members[&name]) } else { self.harm_member(members, &name) }
            }
            Value::Array(items) if !items.is_empty() => {
                let index = self.below(items.len());
                if deeper { self.hit(&mut items[index]) } else { self.harm_item(items, index) }
            }
            node => *node = self.other_value(),
        }
    }

    fn harm_member(&mut self, members: &mut Map<String, Value>, name: &str) {
        match self.below(3) {
            0 => drop(members.remove(name)),
            1 => drop(members.insert("misspelt".into(), self.other_value())),
            _ => drop(members.insert(name.into(), self.other_value())),
        }
    }

    fn harm_item(&mut self, items: &mut Vec<Value>, index: usize) {
        match self.below(3) {
            0 => drop(items.remove(index)),
            1 => items.push(items[index].clone()),
            _ => items[index] = self.other_value(),
        }
    }

    fn other_value(&mut self) -> Value {
        let values = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(7),
            json!(1.5),
            json!(1_099_511_627_776_u64),
            json!(""),
            json!("x"),
            json!("Not A_Name!"),
            json!("1Gi"),
            json!("x".repeat(400)),
            json!([]),
            json!([null]),
            json!(["x", "x"]),
            json!([{}]),
            json!({}),
            json!({"x": null}),
            json!({"x": "y"}),
            json!({"name": "x"}),
        ];
        values[self.below(values.len())].clone()
    }
}
