//! What one version can't say, kept in an annotation of the other.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use crate::conversion::ANNOTATION_LIMIT;
use crate::json::decode;
use crate::json::reading::Allowance;
use crate::json::shallow::{tree_takes_at_most, trees_fit};
use crate::rule::STASH;
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;

/// An annotation that keeps, as JSON, what the version of the object can't say.
///
/// A conversion takes it at its start and puts what is left over at its end, so that nothing old stays behind. Damage is
/// noted and otherwise counts as absence: an object with a broken annotation must still convert, or it could neither be
/// read nor deleted.
///
/// ```
/// use std::collections::BTreeMap;
/// use gateward_core::{Issues, Stash};
/// use serde_json::{Value, json};
///
/// const REST: Stash = Stash::new("example.org/rest");
///
/// let (mut annotations, mut issues) = (BTreeMap::new(), Issues::new());
/// REST.put(&mut annotations, &json!({"middleName": "Maria"}));
/// assert_eq!(REST.take::<Value>(&mut annotations, &mut issues), Some(json!({"middleName": "Maria"})));
/// assert!(annotations.is_empty());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stash {
    annotation: &'static str,
    form: Option<u32>,
}

/// What a tree of an annotation may take, in bytes. A conversion has one at a time.
const MOST_TREE: usize = 12 << 20;

/// What a stash of a certain form holds.
#[derive(Serialize, Deserialize)]
struct Formed<T> {
    form: u32,
    kept: T,
}

impl Stash {
    /// The stash under this annotation key.
    pub const fn new(annotation: &'static str) -> Self {
        Self { annotation, form: None }
    }

    /// Marks what is kept with the number of its form. What bears another number is not read, so that a release whose
    /// remainder has another shape can't misread what an earlier or a later one has kept.
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// # use gateward_core::{Issues, Stash};
    /// # use serde_json::{Value, json};
    /// let (old, new) = (Stash::new("example.org/rest").form(1), Stash::new("example.org/rest").form(2));
    /// let (mut annotations, mut issues) = (BTreeMap::new(), Issues::new());
    /// old.put(&mut annotations, &json!({"middleName": "Maria"}));
    /// assert_eq!(new.take::<Value>(&mut annotations, &mut issues), None);
    /// ```
    pub const fn form(self, form: u32) -> Self {
        Self { form: Some(form), ..self }
    }

    /// The annotation's key.
    pub const fn annotation(&self) -> &'static str {
        self.annotation
    }

    /// Where the annotation stands in an object.
    pub fn path(&self) -> FieldPath {
        (FieldPath::field("metadata") / "annotations").key(self.annotation)
    }

    /// Takes the annotation away and reads it. `None` where it is absent or empty, or can't be read, or would take more
    /// than 12 MiB as a tree; both are noted. A list of short environment variables as long as an API server stores them
    /// takes 9 MiB.
    pub fn take<T: DeserializeOwned>(
        &self,
        annotations: &mut BTreeMap<String, String>,
        issues: &mut Issues,
    ) -> Option<T> {
        let text = annotations.remove(self.annotation).filter(|text| !text.is_empty())?;
        let kept = tree_takes_at_most(MOST_TREE, &text).then(|| self.read(&text)).flatten();
        if kept.is_none() {
            self.note_damage(issues);
        }
        kept
    }

    /// Reads the annotation and leaves it where it is, for rules on what is kept. `None` where it is absent, can't be read,
    /// or would take far more memory than its text: the user who writes the object writes it.
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// # use gateward_core::Stash;
    /// # use serde_json::{Value, json};
    /// const REST: Stash = Stash::new("example.org/rest");
    /// let mut annotations = BTreeMap::new();
    /// REST.put(&mut annotations, &json!({"middleName": "Maria"}));
    /// assert_eq!(REST.get::<Value>(&annotations), Some(json!({"middleName": "Maria"})));
    /// ```
    pub fn get<T: DeserializeOwned>(&self, annotations: &BTreeMap<String, String>) -> Option<T> {
        let text = annotations.get(self.annotation)?;
        trees_fit(text, 1).then(|| self.read(text)).flatten()
    }

    /// Reads a part that was taken as text, as a type whose lists and maps may take three times the text and 4 MB: many an
    /// entry is far larger than its text. `None` where it can't be read, or takes more.
    ///
    /// ```
    /// # use gateward_core::Stash;
    /// assert_eq!(Stash::part::<Vec<String>>(r#"["Maria"]"#), Some(vec!["Maria".to_owned()]));
    /// assert_eq!(Stash::part::<Vec<String>>(r#"["Maria",5]"#), None);
    /// ```
    pub fn part<T: DeserializeOwned>(text: &str) -> Option<T> {
        decode::within(text, &Allowance::of(text.len()))
    }

    fn read<T: DeserializeOwned>(&self, text: &str) -> Option<T> {
        let Some(form) = self.form else { return read_from(text) };
        let formed: Formed<T> = read_from(text)?;
        (formed.form == form).then_some(formed.kept)
    }

    /// Writes the annotation, unless there is nothing to keep: null or an empty object.
    pub fn put<T: Serialize>(&self, annotations: &mut BTreeMap<String, String>, remainder: &T) {
        // A remainder that JSON can't hold, such as a map with keys that are no text, was never read from JSON.
        let Ok(text) = to_raw_value(remainder) else { return };
        if text.get() == "null" || text.get() == "{}" {
            return;
        }
        let text = match self.form {
            None => Ok(text.get().to_owned()),
            Some(form) => serde_json::to_string(&Formed { form, kept: text }),
        };
        annotations.extend(text.map(|text| (self.annotation.to_owned(), text)));
    }

    /// Notes that what stands in the annotation can't be used.
    pub fn note_damage(&self, issues: &mut Issues) {
        note_damage_of(self.annotation, issues);
    }
}

/// Reads what an annotation holds. A text that no API server stores is damage: what it makes of a tree would be a great
/// multiple of it.
pub(crate) fn read_from<T: DeserializeOwned>(text: &str) -> Option<T> {
    if text.len() > ANNOTATION_LIMIT { None } else { serde_json::from_str(text).ok() }
}

/// Notes that what stands in an annotation of conversion can't be used.
pub(crate) fn note_damage_of(key: &str, issues: &mut Issues) {
    let text = "conversion can't read what it kept here; it is dropped, and the live fields stand alone";
    issues.add(STASH.note(FieldPath::annotation(key.to_owned()), text));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const REST: Stash = Stash::new("example.org/rest");

    fn annotations(text: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(REST.annotation().to_owned(), text.to_owned())])
    }

    #[test]
    fn damage_is_noted_and_taken_away() {
        for text in ["{", "[1", "\u{0}", "{\"a\":1}x"] {
            let (mut annotations, mut issues) = (annotations(text), Issues::new());
            assert_eq!(REST.take::<Value>(&mut annotations, &mut issues), None, "{text}");
            assert!(annotations.is_empty());
            let paths: Vec<String> = issues.iter().map(|issue| issue.path.to_string()).collect();
            assert_eq!(paths, ["metadata.annotations[example.org/rest]"]);
        }
    }

    #[test]
    fn what_was_kept_in_another_form_is_noted_and_taken_away() {
        const FORMED: Stash = REST.form(2);
        let mut kept = BTreeMap::new();
        FORMED.put(&mut kept, &json!({"a": 1}));
        assert_eq!(kept[REST.annotation()], r#"{"form":2,"kept":{"a":1}}"#);
        let mut issues = Issues::new();
        assert_eq!(FORMED.take::<Value>(&mut kept.clone(), &mut issues), Some(json!({"a": 1})));
        assert!(issues.is_empty());
        for text in [r#"{"form":1,"kept":{"a":1}}"#, r#"{"a":1}"#, r#"{"form":2}"#] {
            let (mut annotations, mut issues) = (annotations(text), Issues::new());
            assert_eq!(FORMED.take::<Value>(&mut annotations, &mut issues), None, "{text}");
            assert!(annotations.is_empty() && !issues.is_empty());
        }
    }

    #[test]
    fn what_would_be_a_great_tree_counts_as_absent() {
        let objects = |count: usize| format!("[{}0]", r#"{"b":1},"#.repeat(count));
        assert!(REST.get::<Value>(&annotations(&objects(5_000))).is_some());
        assert_eq!(REST.get::<Value>(&annotations(&objects(10_000))), None);
        assert_eq!(REST.get::<Value>(&annotations(&format!("{:?}", "a".repeat(ANNOTATION_LIMIT)))), None);
    }

    #[test]
    fn variables_as_many_as_an_annotation_holds_are_taken_and_a_nest_as_long_is_damage() {
        let taken = |text: String| {
            assert!((ANNOTATION_LIMIT - 64..=ANNOTATION_LIMIT).contains(&text.len()), "{}", text.len());
            let mut issues = Issues::new();
            let kept = REST.take::<Value>(&mut annotations(&text), &mut issues);
            assert_eq!(kept.is_some(), issues.is_empty());
            kept.is_some()
        };
        let list = |item: &str| format!("[{}0]", format!("{item},").repeat((ANNOTATION_LIMIT - 3) / (item.len() + 1)));
        assert!(taken(list(r#"{"name":"A","value":"1"}"#)));
        assert!(!taken(list(r#"{"a":[{"a":[{"a":[1]}]}]}"#)));
    }

    #[test]
    fn an_empty_annotation_is_no_damage() {
        let (mut annotations, mut issues) = (annotations(""), Issues::new());
        assert_eq!(REST.take::<Value>(&mut annotations, &mut issues), None);
        assert!(annotations.is_empty() && issues.is_empty());
    }

    #[test]
    fn nothing_to_keep_writes_nothing() {
        let mut annotations = BTreeMap::new();
        REST.put(&mut annotations, &json!({}));
        REST.put(&mut annotations, &json!(null));
        REST.form(1).put(&mut annotations, &json!({}));
        assert!(annotations.is_empty());
    }
}
