//! What every object has, apart from its type: `apiVersion`, `kind` and `metadata`.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::json::members::{Name, each_member};
use crate::json::strict::Strict;
use crate::json::total_length::TotalLength;

/// What all annotations of an object may have together, in bytes; the API server's limit.
pub const ANNOTATION_LIMIT: usize = 256 * 1024;

/// The members of an object that its type does not decide.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope<'a> {
    /// Group and version.
    #[serde(borrow, default)]
    pub api_version: Cow<'a, str>,
    /// The kind.
    #[serde(borrow, default)]
    pub kind: Cow<'a, str>,
    /// The metadata as it came.
    #[serde(borrow, default)]
    pub metadata: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads them from an object.
    pub fn read(json: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Strict<Self>>(json).map(|Strict(envelope)| envelope)
    }

    /// Namespace and name, empty where there is none.
    pub fn names(&self) -> (String, String) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Names {
            namespace: Option<String>,
            name: Option<String>,
        }
        let names = self.metadata.and_then(|metadata| serde_json::from_str::<Option<Names>>(metadata.get()).ok());
        let names = names.flatten().unwrap_or_default();
        (names.namespace.unwrap_or_default(), names.name.unwrap_or_default())
    }

    /// Namespace and name, for messages.
    pub fn shown(&self) -> String {
        let (namespace, name) = self.names();
        if namespace.is_empty() { name } else { format!("{namespace}/{name}") }
    }
}

/// Labels or annotations: an object may have thousands of them, so they are parts of its text where nothing is escaped.
pub(crate) type Texts<'a> = BTreeMap<Cow<'a, str>, Cow<'a, str>>;

/// Labels or annotations, and what they were before somebody may have edited them: most are never compared.
#[derive(Default)]
pub(crate) struct Editable<'a> {
    texts: Texts<'a>,
    before: Option<Texts<'a>>,
}

impl<'a> From<Texts<'a>> for Editable<'a> {
    fn from(texts: Texts<'a>) -> Self {
        Self { texts, before: None }
    }
}

impl<'a> Editable<'a> {
    /// The texts, if they are not what they were.
    fn edited(&self) -> Option<&Texts<'a>> {
        self.before.as_ref().filter(|before| **before != self.texts).map(|_| &self.texts)
    }
}

impl<'a> Deref for Editable<'a> {
    type Target = Texts<'a>;

    fn deref(&self) -> &Texts<'a> {
        &self.texts
    }
}

impl<'a> DerefMut for Editable<'a> {
    fn deref_mut(&mut self) -> &mut Texts<'a> {
        self.before.get_or_insert_with(|| self.texts.clone());
        &mut self.texts
    }
}

/// Metadata whose labels and annotations can be changed, and nothing else.
#[derive(Default)]
pub(crate) struct Metadata<'a> {
    /// As it came: of its members only those are kept that somebody reads, for there may be a great many.
    raw: &'a str,
    name: Option<&'a RawValue>,
    own_labels: Option<&'a RawValue>,
    own_annotations: Option<&'a RawValue>,
    /// The labels.
    pub labels: Editable<'a>,
    /// The annotations; none where there are too many.
    pub annotations: Editable<'a>,
    /// The bytes of annotations that are more than any API server stores. They stay as they came, unread.
    oversized: Option<usize>,
}

impl<'a> Metadata<'a> {
    /// Reads metadata; absent and null are empty. `None` where it isn't of the usual shape, which the API server never
    /// lets pass.
    pub fn read(raw: Option<&'a str>) -> Option<Self> {
        Self::within(raw, usize::MAX)
    }

    /// The same of an object that somebody sent. Of more annotations than any API server stores none is read.
    pub fn read_storable(raw: Option<&'a str>) -> Option<Self> {
        Self::within(raw, ANNOTATION_LIMIT)
    }

    fn within(raw: Option<&'a str>, limit: usize) -> Option<Self> {
        let raw = raw.filter(|raw| *raw != "null").unwrap_or("{}");
        let mut metadata = Self { raw, ..Self::default() };
        // Of one that stands there twice the last counts.
        each_member(raw, |name, text| match name.as_ref() {
            "name" => metadata.name = Some(text),
            "labels" => metadata.own_labels = Some(text),
            "annotations" => metadata.own_annotations = Some(text),
            _ => {}
        })?;
        metadata.oversized = metadata.beyond(limit)?;
        metadata.labels = texts(metadata.own_labels)?.into();
        if !metadata.is_oversized() {
            metadata.annotations = texts(metadata.own_annotations)?.into();
        }
        Some(metadata)
    }

    /// The name as it came.
    pub fn name(&self) -> Option<&'a str> {
        self.name.map(RawValue::get)
    }

    /// The bytes of the annotations, where they are too many. `None` where they aren't texts by name.
    #[allow(clippy::option_option, reason = "what can't be read, and what isn't too large")]
    fn beyond(&self, limit: usize) -> Option<Option<usize>> {
        let Some(raw) = self.own_annotations.filter(|raw| raw.get().len() > limit) else { return Some(None) };
        let TotalLength(bytes) = serde_json::from_str(raw.get()).ok()?;
        Some(Some(bytes).filter(|bytes| *bytes > limit))
    }

    /// Whether the annotations are more than any API server stores, so that none of them is read.
    pub fn is_oversized(&self) -> bool {
        self.oversized.is_some()
    }

    /// The same without annotations.
    pub fn without_annotations(self) -> Self {
        Self { own_annotations: None, annotations: Editable::default(), oversized: None, ..self }
    }

    /// Whether labels or annotations are not what they were.
    pub fn is_edited(&self) -> bool {
        self.labels.edited().or_else(|| self.annotations.edited()).is_some()
    }

    /// The metadata as JSON. What was not edited stays as it came; a map that was emptied goes.
    pub fn to_json(&self) -> String {
        let (labels, annotations) = (self.labels.edited(), self.annotations.edited());
        let mut written = String::from("{");
        let mut write = |name: &str, text: &str| {
            let separator = if written.len() > 1 { "," } else { "" };
            for part in [separator, &json(&name), ":", text] {
                written.push_str(part);
            }
        };
        // What was read once is read again.
        let _ = each_member(self.raw, |name, text| {
            let text = match name.as_ref() {
                "labels" => self.own_labels.filter(|_| labels.is_none()),
                "annotations" => self.own_annotations.filter(|_| annotations.is_none()),
                _ => Some(text),
            };
            if let Some(text) = text {
                write(&name, text.get());
            }
        });
        for (name, texts) in [("labels", labels), ("annotations", annotations)] {
            if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
                write(name, &json(texts));
            }
        }
        written.push('}');
        written
    }

    /// The key of the longest annotation that is not what it was.
    pub fn largest_edited_annotation(&self) -> Option<Cow<'a, str>> {
        let before = self.annotations.before.as_ref()?;
        let edited = self.annotations.iter().filter(|(key, text)| before.get(*key) != Some(text));
        edited.max_by_key(|(_, text)| text.len()).map(|(key, _)| key.clone())
    }

    /// The bytes of all annotations together, keys and values, as the API server counts them.
    pub fn annotation_bytes(&self) -> usize {
        let read: usize = self.annotations.iter().map(|(key, text)| key.len() + text.len()).sum();
        self.oversized.unwrap_or_default() + read
    }
}

/// Takes over into `live` what differs between `before` and `after`. What stays isn't copied.
pub(crate) fn edit<T>(live: &mut Editable<'_>, before: &BTreeMap<T, T>, after: &BTreeMap<T, T>)
where
    T: Borrow<str> + Ord,
{
    let remove = |live: &mut Editable<'_>, key: &T| {
        if live.contains_key(key.borrow()) {
            live.remove(key.borrow());
        }
    };
    // Both are in the order of their keys.
    let mut before = before.iter().peekable();
    for (key, text) in after {
        while let Some((gone, _)) = before.next_if(|(earlier, _)| *earlier < key) {
            remove(live, gone);
        }
        let was = before.next_if(|(same, _)| *same == key).map(|(_, was)| was);
        let (key, text): (&str, &str) = (key.borrow(), text.borrow());
        if was.map(T::borrow) != Some(text) && live.get(key).is_none_or(|live| live != text) {
            live.insert(Cow::Owned(key.to_owned()), Cow::Owned(text.to_owned()));
        }
    }
    for (gone, _) in before {
        remove(live, gone);
    }
}

/// Labels or annotations; absent and null are empty. `None` where they aren't texts by name.
fn texts(raw: Option<&RawValue>) -> Option<Texts<'_>> {
    let Some(raw) = raw else { return Some(Texts::new()) };
    serde_json::from_str::<Option<Borrowed<'_>>>(raw.get()).ok().map(|read| read.map_or_else(Texts::new, |read| read.0))
}

/// Texts by name, of which none is copied that isn't escaped.
struct Borrowed<'a>(Texts<'a>);

impl<'de> Deserialize<'de> for Borrowed<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Borrowed<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Borrowed<'de>, A::Error> {
                let pairs = std::iter::from_fn(|| map.next_entry().transpose());
                pairs
                    .map(|pair| pair.map(|(Name(key), Name(text))| (key, text)))
                    .collect::<Result<_, _>>()
                    .map(Borrowed)
            }
        }

        from.deserialize_map(Pairs)
    }
}

/// A text or a map of texts always writes as JSON.
fn json(texts: &impl Serialize) -> String {
    serde_json::to_string(texts).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(text: &str) -> Metadata<'_> {
        Metadata::read_storable(Some(text)).unwrap()
    }

    #[test]
    fn members_that_nobody_edits_stay_byte_for_byte() {
        let text = r#"{"name":"otter","managedFields":[{"x": 1.0}],"a\"b":null,"annotations":{"n":"1"}}"#;
        assert_eq!(metadata(text).to_json(), text);
    }

    #[test]
    fn only_the_map_that_was_edited_is_written_anew() {
        let text = r#"{"labels":{ "b":"\u0041","a":"" },"annotations":null,"name":"otter"}"#;
        let mut metadata = metadata(text);
        assert!(!metadata.is_edited());
        assert_eq!(metadata.to_json(), text);
        metadata.annotations.insert("n".into(), "1".into());
        assert!(metadata.is_edited());
        let edited = r#"{"labels":{ "b":"\u0041","a":"" },"name":"otter","annotations":{"n":"1"}}"#;
        assert_eq!(metadata.to_json(), edited);
    }

    #[test]
    fn the_last_annotation_takes_the_map_with_it() {
        let mut metadata = metadata(r#"{"annotations":{"n":"1"},"name":"otter"}"#);
        metadata.annotations.clear();
        assert_eq!(metadata.to_json(), r#"{"name":"otter"}"#);
    }

    #[test]
    fn absent_null_and_empty_metadata_are_empty() {
        assert_eq!(Metadata::read(None).unwrap().to_json(), "{}");
        assert_eq!(metadata("null").to_json(), "{}");
        assert_eq!(metadata("{}").to_json(), "{}");
        assert!(metadata(r#"{"labels":null}"#).labels.is_empty());
    }

    #[test]
    fn odd_metadata_is_not_read() {
        for text in ["[]", "5", r#"{"annotations":[]}"#, r#"{"labels":{"a":1}}"#] {
            assert!(Metadata::read_storable(Some(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn more_annotations_than_can_be_stored_stay_unread_as_they_came() {
        let many: Vec<String> = (0..20_000).map(|number| format!(r#""example.org/{number}":"\u0061""#)).collect();
        let text = format!(r#"{{"annotations":{{{}}},"name":"otter"}}"#, many.join(","));
        let mut metadata = metadata(&text);
        assert!(metadata.is_oversized() && metadata.annotations.is_empty() && !metadata.is_edited());
        assert_eq!(metadata.annotation_bytes(), 20_000 * ("example.org/".len() + 1) + 88_890);
        metadata.labels.insert("a".into(), "b".into());
        assert_eq!(metadata.to_json(), text.replace(r#""otter"}"#, r#""otter","labels":{"a":"b"}}"#));
        assert_eq!(metadata.without_annotations().to_json(), r#"{"name":"otter","labels":{"a":"b"}}"#);
    }

    #[test]
    fn escapes_do_not_make_annotations_too_large() {
        let long = r"\u0061".repeat(ANNOTATION_LIMIT / 2);
        let text = format!(r#"{{"annotations":{{"a":"{long}"}}}}"#);
        assert!(!metadata(&text).is_oversized());
    }

    #[test]
    fn an_edit_leaves_alone_what_both_readings_agree_on() {
        let texts = |pairs: &[(&'static str, &'static str)]| -> Texts<'static> {
            pairs.iter().map(|(key, text)| ((*key).into(), (*text).into())).collect()
        };
        let mut live = Editable::from(texts(&[("a", "1"), ("b", "2"), ("c", "3")]));
        edit(&mut live, &texts(&[("a", "1"), ("b", "2")]), &texts(&[("b", "5"), ("d", "4")]));
        assert_eq!(*live, texts(&[("b", "5"), ("c", "3"), ("d", "4")]));
        let mut live = Editable::from(texts(&[("a", "1")]));
        edit(&mut live, &texts(&[("a", "2")]), &texts(&[("a", "1")]));
        assert!(live.before.is_none());
    }
}
