//! An object to convert, as text.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::conversion::ConversionError;
use crate::conversion::incomplete::mark;
use crate::conversion::keys::ConversionKeys;
use crate::conversion::serialized::Serialized;
use crate::conversion::tree::Tree;
use crate::rule::field::FieldPath;
use crate::rule::resource::Resource;
use crate::wire::envelope::{Envelope, Metadata};

/// An object to convert.
pub(crate) struct Source<'a> {
    /// The object.
    pub json: &'a str,
    /// What it says of itself.
    pub envelope: Envelope<'a>,
}

impl<'a> Source<'a> {
    /// Reads what an object says of itself.
    pub fn read(json: &'a str) -> Result<Self, ConversionError> {
        let envelope = Envelope::read(json).map_err(|error| {
            let message = format!("this is no object of Kubernetes: {error}");
            ConversionError { path: FieldPath::root(), message }
        })?;
        Ok(Self { json, envelope })
    }

    /// The metadata as it came.
    pub fn metadata(&self) -> &'a str {
        self.envelope.metadata.map_or("{}", RawValue::get)
    }

    /// The metadata, of which labels and annotations can be changed.
    pub fn read_metadata(&self) -> Result<Metadata<'a>, ConversionError> {
        Metadata::read_storable(self.envelope.metadata.map(RawValue::get)).ok_or_else(odd_metadata)
    }

    /// The text of the object without some of its annotations.
    pub fn without(&self, keys: &[&str]) -> Result<String, ConversionError> {
        let mut metadata = self.read_metadata()?;
        metadata.annotations.retain(|key, _| !keys.contains(&key.as_ref()));
        self.with(&metadata)
    }

    /// The text of the object without annotations.
    pub fn without_annotations(&self) -> Result<String, ConversionError> {
        self.with(&self.read_metadata()?.without_annotations())
    }

    /// The text of the object with the mark of what was left out of it.
    pub fn marked(&self, keys: &ConversionKeys, left_out: &[FieldPath]) -> Result<String, ConversionError> {
        let mut metadata = self.read_metadata()?;
        mark(&mut metadata, keys, left_out);
        self.with(&metadata)
    }

    fn with(&self, metadata: &Metadata<'_>) -> Result<String, ConversionError> {
        let metadata = RawValue::from_string(metadata.to_json()).map_err(|_| odd_metadata())?;
        let mut document = Tree::read(self.json).ok_or_else(odd_metadata)?;
        let members = document.members().ok_or_else(odd_metadata)?;
        members.insert("metadata".into(), Tree::Text(&metadata));
        Ok(document.to_json())
    }
}

/// The whole object: the members that the conversion made, behind the version of the result and this metadata.
pub(crate) fn whole<B: Resource>(source: &Source<'_>, metadata: &str, written: &Serialized) -> String {
    let (version, kind) = (B::gvk().api_version(), Value::from(source.envelope.kind.as_ref()).to_string());
    // A text that grows takes twice what it holds.
    [r#"{"apiVersion":""#, &version, r#"","kind":"#, &kind, r#","metadata":"#, metadata, &written.members, "}"].concat()
}

/// The API server never lets it pass. Labels and annotations that can't be read could not be edited either.
fn odd_metadata() -> ConversionError {
    let message = "must be an object whose labels and annotations are texts by name".into();
    ConversionError { path: FieldPath::field("metadata"), message }
}
