//! What the way there and back would change of an object.
//!
//! A difference says where it is, what comes back there, and what was there. It waits in an annotation until the object
//! is of its version again, and then holds only where the same comes back: it never contradicts an edit.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::conversion::step::{MAX_FIELDS, MAX_STEPS, Step, is_protected};
use crate::conversion::tree::Tree;
use crate::json::meaning::same;
use crate::json::members::{items, members};

/// A node that doesn't come back as it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Difference {
    /// The way to the node, its own step last.
    pub path: Vec<Step>,
    /// What comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reads: Option<Box<RawValue>>,
    /// What was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    was: Option<Box<RawValue>>,
}

/// The topmost nodes in which `back` differs from what `was` there, one more than [`MAX_FIELDS`] at most.
pub(crate) fn between(back: &RawValue, was: &RawValue) -> Vec<Difference> {
    let mut comparison = Comparison { path: Vec::new(), found: Vec::new(), most: MAX_FIELDS };
    comparison.members(back, was);
    comparison.found
}

/// A node below which more differ is one difference: their paths would be longer than the node.
const MANY: usize = 32;

/// Where the way to a node is longer, in bytes, as many differences are worth it as the way fits into the node. Names of
/// Kubernetes are shorter.
const LONG_WAY: usize = 1 << 10;

/// How far down a difference is looked for; what lies deeper is part of the node at this depth. No field of Kubernetes
/// has more steps, and each step looks at all that is below it.
const MAX_DEPTH: usize = 16;

struct Comparison {
    path: Vec<Step>,
    found: Vec<Difference>,
    /// With more found than this the node that is being compared is done.
    most: usize,
}

impl Comparison {
    fn node(&mut self, back: Option<&RawValue>, was: Option<&RawValue>) {
        if back.map(RawValue::get) == was.map(RawValue::get) {
            return;
        }
        if let (Some(back), Some(was)) = (back, was)
            && self.path.len() < MAX_DEPTH
        {
            let before = self.found.len();
            let most = if self.path.len() > 1 { before + self.worth(back, was) } else { MAX_FIELDS };
            let outer = std::mem::replace(&mut self.most, most);
            let is_compared = self.members(back, was) || self.items(back, was);
            self.most = outer;
            if is_compared {
                if self.found.len() > most && self.path.len() > 1 {
                    self.found.truncate(before);
                    self.push(Some(back), Some(was));
                }
                return;
            }
        }
        if !is_alike(back.map(RawValue::get), was.map(RawValue::get)) {
            self.push(back, was);
        }
    }

    /// How many differences below the node are worth their paths.
    fn worth(&self, back: &RawValue, was: &RawValue) -> usize {
        match self.path.iter().map(Step::bytes).sum() {
            0..=LONG_WAY => MANY,
            way => MANY.min(back.get().len().max(was.get().len()) / way),
        }
    }

    fn push(&mut self, back: Option<&RawValue>, was: Option<&RawValue>) {
        let (reads, was) = (back.map(ToOwned::to_owned), was.map(ToOwned::to_owned));
        self.found.push(Difference { path: self.path.clone(), reads, was });
    }

    /// Whether both are objects, which are compared then.
    fn members(&mut self, back: &RawValue, was: &RawValue) -> bool {
        let (Some(back), Some(was)) = (members(back.get()), members(was.get())) else { return false };
        let (mut back, mut added) = (back.into_iter().peekable(), Vec::new());
        for (name, was) in was {
            added.extend(std::iter::from_fn(|| back.next_if(|(other, _)| *other < name)));
            let back = back.next_if(|(other, _)| *other == name).map(|(_, text)| text);
            if back.map(RawValue::get) != Some(was.get()) {
                self.below(Step::Member(name.into_owned()), back, Some(was));
            }
        }
        for (name, back) in added.into_iter().chain(back) {
            self.below(Step::Member(name.into_owned()), Some(back), None);
        }
        true
    }

    /// Whether both are lists, which are compared then: as a whole where the names of their items differ, and so the items.
    fn items(&mut self, back: &RawValue, was: &RawValue) -> bool {
        let (Some(reads), Some(left)) = (items(back.get()), items(was.get())) else { return false };
        match differing([back, was], &reads, &left) {
            Some(differing) => {
                for (step, back, was) in differing {
                    self.below(step, Some(back), Some(was));
                }
            }
            None => self.push(Some(back), Some(was)),
        }
        true
    }

    fn below(&mut self, step: Step, back: Option<&RawValue>, was: Option<&RawValue>) {
        if (self.path.is_empty() && is_protected(&step)) || self.found.len() > self.most {
            return;
        }
        self.path.push(step);
        self.node(back, was);
        self.path.pop();
    }
}

/// The items in which two lists differ; `None` where there are more of them in one, or others by their names, or where
/// more than [`MANY`] differ.
fn differing<'a>(
    lists: [&RawValue; 2],
    back: &[&'a RawValue],
    was: &[&'a RawValue],
) -> Option<Vec<(Step, &'a RawValue, &'a RawValue)>> {
    if back.len() != was.len() {
        return None;
    }
    let [mut reads, mut left] = lists.map(Tree::Text);
    let others = || {
        let pairs = back.iter().copied().zip(was.iter().copied()).enumerate();
        pairs.filter(|(_, (back, was))| back.get() != was.get())
    };
    let mut differing: Vec<_> = others().take(MANY + 1).collect();
    // Few are compared below in any case.
    if differing.len() > MANY {
        let differs = |(_, (back, was)): &(usize, (&RawValue, &RawValue))| !is_alike(Some(back.get()), Some(was.get()));
        differing = others().filter(differs).take(MANY + 1).collect();
    }
    if differing.len() > MANY {
        return None;
    }
    let named = differing.into_iter().map(|(index, (back, was))| {
        let name = reads.items()?.own_name(index);
        let is_same = left.items()?.own_name(index) == name;
        is_same.then_some((name.map_or(Step::Index(index), |name| Step::Named { name }), back, was))
    });
    named.collect()
}

/// Whether both mean the same; null is another way to be absent. What nests too deep to be read differs.
fn is_alike(one: Option<&str>, other: Option<&str>) -> bool {
    same(one.unwrap_or("null"), other.unwrap_or("null"))
}

impl Difference {
    /// Puts back what was there, where the same comes back, and takes what it costs to see that off `room`. Whether the
    /// document is another now.
    pub fn apply<'a>(&'a self, document: &mut Tree<'a>, room: &mut usize) -> bool {
        let Some((last, way)) = self.path.split_last() else { return false };
        if self.path.len() > MAX_STEPS || self.path.first().is_some_and(is_protected) {
            return false;
        }
        if *room == 0 {
            return false;
        }
        let Some(parent) = way.iter().try_fold(document, |node, step| step.find(node)) else { return false };
        let live = last.find(parent).map(|node| node.to_json());
        let cost = live.as_ref().map_or(0, String::len) + self.reads.as_ref().map_or(0, |reads| reads.get().len());
        *room = room.saturating_sub(cost);
        if *room == 0 || !is_alike(live.as_deref(), self.reads.as_deref().map(RawValue::get)) {
            return false;
        }
        match (last, self.was.as_deref()) {
            (Step::Member(name), Some(was)) => {
                parent.members().map(|members| members.insert(name.into(), Tree::Text(was))).is_some()
            }
            (Step::Member(name), None) => {
                parent.members().is_some_and(|members| members.remove(name.as_str()).is_some())
            }
            (_, Some(was)) => last.find(parent).map(|item| *item = Tree::Text(was)).is_some(),
            (_, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(back: &str, was: &str) -> Vec<Difference> {
        between(serde_json::from_str(back).unwrap(), serde_json::from_str(was).unwrap())
    }

    fn applied(differences: &[Difference], to: &str) -> String {
        let mut tree = Tree::read(to).unwrap();
        for difference in differences {
            difference.apply(&mut tree, &mut 10_000);
        }
        tree.to_json()
    }

    #[test]
    fn what_comes_back_otherwise_is_put_back_where_it_still_does() {
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        let was =
            format!(r#"{{"spec":{{"a":[{{"b":1,"c":{{"d":2}},"name":"x"}},{{}}],"e":{{}},"f":1.0,"z":{deep}}}}}"#);
        let back = r#"{"spec":{"a":[{"b":2,"g":3,"name":"x"},null],"f":1,"h":null},"status":{"x":1}}"#;
        let differences = found(back, &was);
        let paths: Vec<String> =
            differences.iter().map(|difference| serde_json::to_string(&difference.path).unwrap()).collect();
        let of_x = |name: &str| format!(r#"["spec","a",{{"name":"x"}},"{name}"]"#);
        let expected = [
            of_x("b"),
            of_x("c"),
            of_x("g"),
            r#"["spec","a",1]"#.into(),
            r#"["spec","e"]"#.into(),
            r#"["spec","z"]"#.into(),
        ];
        assert_eq!(paths, expected);
        let expected = was
            .replace("1.0", "1")
            .replace(&format!(r#","z":{deep}}}"#), &format!(r#","h":null,"z":{deep}}},"status":{{"x":1}}"#));
        assert_eq!(applied(&differences, back), expected);
        let edited = r#"{"spec":{"a":[null,{"b":5,"g":3,"name":"x"}]}}"#;
        assert_eq!(applied(&differences[..3], edited), r#"{"spec":{"a":[null,{"b":5,"c":{"d":2},"name":"x"}]}}"#);
    }

    #[test]
    fn a_list_that_has_other_items_is_one_difference() {
        let back = r#"{"spec":{"a":[{"x":1},{"name":"y"}]}}"#;
        for was in
            [r#"[{"name":"n","x":1},{"name":"y"}]"#, r#"[{"x":1},{"name":"z"}]"#, r#"[{"x":1}]"#, r#"[{"x":1},{},{}]"#]
        {
            let differences = found(back, &format!(r#"{{"spec":{{"a":{was}}}}}"#));
            assert_eq!(differences.len(), 1, "{was}");
            assert_eq!(serde_json::to_string(&differences[0].path).unwrap(), r#"["spec","a"]"#);
            assert_eq!(applied(&differences, back), format!(r#"{{"spec":{{"a":{was}}}}}"#));
        }
    }

    #[test]
    fn no_difference_is_found_or_applied_in_what_conversion_may_not_touch() {
        for name in ["apiVersion", "kind", "metadata", "status"] {
            assert!(found(&format!(r#"{{"{name}":{{"x":1}}}}"#), "{}").is_empty());
            let forged = format!(r#"{{"path":["{name}","x"],"was":1}}"#);
            let text = format!(r#"{{"{name}":{{}}}}"#);
            assert_eq!(applied(&[serde_json::from_str(&forged).unwrap()], &text), text);
        }
    }

    #[test]
    fn a_forged_difference_changes_only_what_it_can_and_costs_no_more_than_there_is_room_for() {
        let text = r#"{"spec":{"a":[1]}}"#;
        for path in
            ["[]", r#"["spec","x","y"]"#, r#"["spec","a",7]"#, r#"["spec","a",{"name":"n"}]"#, r#"["spec","a","b"]"#]
        {
            let forged: Difference = serde_json::from_str(&format!(r#"{{"path":{path},"was":1}}"#)).unwrap();
            assert_eq!(applied(&[forged], text), text, "{path}");
        }
        let costly: Difference = serde_json::from_str(r#"{"path":["spec"],"reads":{"a":[1]},"was":1}"#).unwrap();
        assert!(!costly.apply(&mut Tree::read(text).unwrap(), &mut 10));
        assert!(costly.apply(&mut Tree::read(text).unwrap(), &mut 100));
    }
}
