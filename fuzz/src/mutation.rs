//! Changes to JSON documents. Bytes that are changed at random are hardly ever JSON again, and the code behind the parser
//! would never be reached.

use serde_json::{Map, Value, json};

/// A source of numbers that depends on its seed alone, as libFuzzer demands of mutations.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn throw(&mut self, sides: usize) -> usize {
        // Numbers of Steele and Vigna's SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33;
        usize::try_from(mixed).unwrap_or_default() % sides.max(1)
    }
}

/// Changes a node or a few of the JSON document at the start of `data`, in place, and returns the new length. `None` where
/// it is no JSON or grew beyond `longest`.
pub fn mutate_json(data: &mut [u8], size: usize, longest: usize, seed: u32) -> Option<usize> {
    let mut document: Value = serde_json::from_slice(data.get(..size)?).ok()?;
    let mut dice = Dice(u64::from(seed));
    for _ in 0..=dice.throw(3) {
        let donor = document.clone();
        let donated = descend(&donor, &mut dice).clone();
        change(descend_mut(&mut document, &mut dice), donated, &mut dice);
    }
    let text = document.to_string();
    if text.len() > longest {
        return None;
    }
    data.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    Some(text.len())
}

/// Some node of the document, the deeper ones as likely as those above.
fn descend<'v>(node: &'v Value, dice: &mut Dice) -> &'v Value {
    let children: Vec<&Value> = match node {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    };
    if children.is_empty() || dice.throw(4) == 0 {
        return node;
    }
    descend(children[dice.throw(children.len())], dice)
}

fn descend_mut<'v>(node: &'v mut Value, dice: &mut Dice) -> &'v mut Value {
    let count = match node {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if count == 0 || dice.throw(4) == 0 {
        return node;
    }
    let chosen = dice.throw(count);
    let child = match node {
        Value::Array(items) => &mut items[chosen],
        Value::Object(members) => members.values_mut().nth(chosen).expect("it was counted"),
        _ => unreachable!("a scalar has no children"),
    };
    descend_mut(child, dice)
}

fn change(node: &mut Value, donated: Value, dice: &mut Dice) {
    match node {
        Value::Array(items) if dice.throw(2) == 0 => change_items(items, donated, dice),
        Value::Object(members) if dice.throw(2) == 0 => change_members(members, donated, dice),
        Value::String(text) if dice.throw(2) == 0 => *text = changed_text(text, dice),
        node if dice.throw(2) == 0 => *node = donated,
        node => *node = interesting(dice),
    }
}

fn change_items(items: &mut Vec<Value>, donated: Value, dice: &mut Dice) {
    let at = dice.throw(items.len() + 1);
    match dice.throw(3) {
        0 if at < items.len() => drop(items.remove(at)),
        1 if at < items.len() => items.insert(at, items[at].clone()),
        _ => items.insert(at, donated),
    }
}

fn change_members(members: &mut Map<String, Value>, donated: Value, dice: &mut Dice) {
    let names: Vec<String> = members.keys().cloned().collect();
    let name = names.get(dice.throw(names.len())).cloned().unwrap_or_default();
    match dice.throw(3) {
        0 => drop(members.remove(&name)),
        1 => drop(members.insert(changed_text(&name, dice), donated)),
        _ => drop(members.insert(name, donated)),
    }
}

fn changed_text(text: &str, dice: &mut Dice) -> String {
    let at = text.floor_char_boundary(dice.throw(text.len() + 1));
    let (head, tail) = text.split_at(at);
    match dice.throw(4) {
        0 => head.to_owned(),
        1 => tail.to_owned(),
        2 => format!("{head}{}{tail}", ["/", "~", "-", ".", "\u{0}", "ä", " ", "0"][dice.throw(8)]),
        _ => format!("{tail}{head}"),
    }
}

fn interesting(dice: &mut Dice) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.0),
        json!(1e300),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(""),
        json!("0"),
        json!("1Gi"),
        json!([]),
        json!({}),
        json!("x".repeat(300)),
        json!("vllm"),
        json!("2026-11-21T10:00:00Z"),
    ];
    values[dice.throw(values.len())].clone()
}
