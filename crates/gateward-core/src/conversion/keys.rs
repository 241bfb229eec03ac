//! The keys under which conversion writes into the metadata of objects.

/// The keys of the annotations and of the label that conversion writes. Each begins with the prefix of the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionKeys {
    preserved: String,
    incomplete: String,
    incomplete_fields: String,
}

impl ConversionKeys {
    pub(crate) fn of(prefix: &str) -> Self {
        let key = |name: &str| format!("{prefix}/{name}");
        Self { preserved: key("preserved"), incomplete: key("incomplete"), incomplete_fields: key("incomplete-fields") }
    }

    /// The annotation that keeps what the version of an object can't say.
    pub fn preserved(&self) -> &str {
        &self.preserved
    }

    /// The label of a view that lacks something. Conversion alone sets and removes it.
    pub fn incomplete(&self) -> &str {
        &self.incomplete
    }

    /// The annotation of such a view that names what it lacks, by paths of the version that was read.
    pub fn incomplete_fields(&self) -> &str {
        &self.incomplete_fields
    }
}
