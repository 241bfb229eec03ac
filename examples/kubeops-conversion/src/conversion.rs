//! From each version to the stored one and back, without a loss.

use gateward::prelude::*;
use serde::{Deserialize, Serialize};

use crate::names::Names;
use crate::v3::MiddleName;
use crate::{v1, v2, v3};

/// In an object of an older version: what v3 said and that version can't.
const REST: Stash = Stash::new("conversionwebhook.dev/v3").form(1);

/// In an object of v3: the name as v1 wrote it, where first and last name don't make it again.
const WHOLE: Stash = Stash::new("conversionwebhook.dev/v1").form(1);

/// What [`REST`] holds.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rest {
    /// First and last name, where the whole name would be parted elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Names>,
    #[serde(skip_serializing_if = "MiddleName::is_absent")]
    middle_name: MiddleName,
}

/// What [`WHOLE`] holds.
#[derive(Debug, Serialize, Deserialize)]
struct Whole {
    name: String,
}

/// v1, where the name is one.
pub struct WholeName;

impl Convert<v1::TestEntity, v3::TestEntity> for WholeName {
    fn to_hub(
        &self,
        whole: &v1::TestEntity,
        provenance: &mut Provenance,
        issues: &mut Issues,
    ) -> Result<v3::TestEntity, ConversionError> {
        let (mut metadata, name) = (whole.metadata.clone(), &whole.spec.name);
        let rest: Rest = REST.take(&mut metadata.annotations, issues).unwrap_or_default();
        // What was kept holds as long as the name is unchanged: the live field wins.
        let kept = rest.names.filter(|names| names.whole() == *name);
        let names = kept.unwrap_or_else(|| Names::of(name.as_deref()));
        metadata.annotations.remove(WHOLE.annotation());
        if let Some(name) = name.clone().filter(|_| names.whole() != *name) {
            WHOLE.put(&mut metadata.annotations, &Whole { name });
        }
        provenance.made(|| (spec() / "firstname", spec() / "name"));
        provenance.made(|| (spec() / "lastname", spec() / "name"));
        provenance.made(|| (spec() / "middleName", REST.path()));
        let Names { firstname, lastname } = names;
        let spec = v3::TestEntitySpec { firstname, lastname, middle_name: rest.middle_name };
        Ok(v3::TestEntity { metadata, spec })
    }

    fn from_hub(&self, parted: &v3::TestEntity, issues: &mut Issues) -> Result<v1::TestEntity, ConversionError> {
        let mut metadata = parted.metadata.clone();
        let v3::TestEntitySpec { firstname, lastname, middle_name } = parted.spec.clone();
        let names = Names { firstname, lastname };
        let kept: Option<Whole> = WHOLE.take(&mut metadata.annotations, issues);
        let kept = kept.map(|whole| whole.name).filter(|name| Names::of(Some(name)) == names);
        let name = kept.or_else(|| names.whole());
        let names = Some(names).filter(|names| Names::of(name.as_deref()) != *names);
        metadata.annotations.remove(REST.annotation());
        REST.put(&mut metadata.annotations, &Rest { names, middle_name });
        Ok(v1::TestEntity { metadata, spec: v1::TestEntitySpec { name } })
    }
}

/// v2, which lacks the middle name.
pub struct TwoNames;

impl Convert<v2::TestEntity, v3::TestEntity> for TwoNames {
    fn to_hub(
        &self,
        two: &v2::TestEntity,
        provenance: &mut Provenance,
        issues: &mut Issues,
    ) -> Result<v3::TestEntity, ConversionError> {
        let mut metadata = two.metadata.clone();
        let v2::TestEntitySpec { firstname, lastname } = two.spec.clone();
        let Rest { middle_name, .. } = REST.take(&mut metadata.annotations, issues).unwrap_or_default();
        provenance.made(|| (spec() / "middleName", REST.path()));
        Ok(v3::TestEntity { metadata, spec: v3::TestEntitySpec { firstname, lastname, middle_name } })
    }

    fn from_hub(&self, three: &v3::TestEntity, _: &mut Issues) -> Result<v2::TestEntity, ConversionError> {
        let mut metadata = three.metadata.clone();
        let v3::TestEntitySpec { firstname, lastname, middle_name } = three.spec.clone();
        metadata.annotations.remove(REST.annotation());
        REST.put(&mut metadata.annotations, &Rest { names: None, middle_name });
        Ok(v2::TestEntity { metadata, spec: v2::TestEntitySpec { firstname, lastname } })
    }
}

fn spec() -> FieldPath {
    FieldPath::field("spec")
}
