//! v1 and v2, there and back. What v1 can't say, the language, Gateward keeps in an annotation.

use gateward::prelude::*;

use crate::v1::{__kind__ as V1, __kind__Spec as V1Spec};
use crate::v2::{__kind__ as V2, __kind__Spec as V2Spec};

/// The conversion between v1 and the hub.
pub struct Versions;

impl Convert<V1, V2> for Versions {
    fn to_hub(&self, old: &V1, at: &mut Provenance, _: &mut Issues) -> Result<V2, ConversionError> {
        let spec = || FieldPath::field("spec");
        // So that a finding at `spec.replicas` is shown at `spec.size` to those who write v1.
        at.moved(|| (spec() / "replicas", spec() / "size"));
        let V1Spec { text, size } = old.spec.clone();
        let spec = V2Spec { text, replicas: size, language: None };
        Ok(V2 { metadata: old.metadata.clone(), spec, status: old.status.clone() })
    }

    fn from_hub(&self, new: &V2, _: &mut Issues) -> Result<V1, ConversionError> {
        let V2Spec { text, replicas, language: _ } = new.spec.clone();
        let spec = V1Spec { text, size: replicas };
        Ok(V1 { metadata: new.metadata.clone(), spec, status: new.status.clone() })
    }
}
