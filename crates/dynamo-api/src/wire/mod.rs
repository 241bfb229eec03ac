//! How the types read and write JSON: as the Go types of the API do.

use std::collections::BTreeMap;

use gateward::Raw;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A member of an object: it may be absent, and `null` is another way to be absent.
pub trait Member: Default + PartialEq + for<'de> Deserialize<'de> {
    /// Reads the member where it is present.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or_default())
    }

    /// Whether the member is left out when the object is written.
    fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

impl Member for bool {}
impl Member for String {}
impl<T: PartialEq + for<'de> Deserialize<'de>> Member for Vec<T> {}
impl<T: PartialEq + for<'de> Deserialize<'de>> Member for BTreeMap<String, T> {}

impl<T: Part> Member for Option<T> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::deserialize(deserializer)?.filter(|value| !value.is_unset()))
    }
}

/// A value of an optional member.
pub trait Part: PartialEq + for<'de> Deserialize<'de> {
    /// Whether Go would read this value as the zero value of a member that it omits when empty.
    fn is_unset(&self) -> bool {
        false
    }
}

impl Part for bool {}
impl Part for i32 {}
impl Part for i64 {}
impl Part for f64 {}
impl Part for String {}
impl Part for crate::Quantity {}
impl<T> Part for Raw<T> {}
impl<T: PartialEq + for<'de> Deserialize<'de>> Part for Vec<T> {}

/// Writes a number without a point where it is whole, as Go does.
#[expect(clippy::ref_option, reason = "serde hands the field over so")]
pub fn number<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    /// Up to here a double represents integers exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match *number {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number within the limit")]
        Some(whole) if whole.fract() == 0.0 && whole.abs() < EXACT => serializer.serialize_i64(whole as i64),
        number => number.serialize(serializer),
    }
}

/// Lets a struct be read from an object only. What serde derives for it is named after `remote = "Self"`: functions of
/// the type itself, which these implementations call.
macro_rules! strict {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize(gateward::json::StrictObjects(deserializer))
            }
        }
    };
}

/// Declares a struct whose fields are members of a JSON object in camel case, each of which may be absent.
///
/// With `of TYPE` behind its name the struct is a lean view of that Kubernetes type, whose schema it has.
macro_rules! object {
    ($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        object! {
            @members
            $(#[$meta])*
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            $name { $($fields)* }
        }
    };
    ($(#[$meta:meta])* pub struct $name:ident of $kubernetes:ident { $($fields:tt)* }) => {
        object! { @members $(#[$meta])* $name { $($fields)* } }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <crate::schema::kubernetes::types::$kubernetes as schemars::JsonSchema>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <crate::schema::kubernetes::types::$kubernetes as schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
    (@members $(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase", remote = "Self")]
        pub struct $name {
            $(
                $(#[$field_meta])*
                #[serde(
                    default,
                    deserialize_with = "crate::wire::Member::read",
                    skip_serializing_if = "crate::wire::Member::is_absent"
                )]
                pub $field: $type,
            )*
        }

        strict!($name);

        impl crate::wire::Part for $name {}

        impl crate::wire::Member for $name {}
    };
}

/// Declares an enumeration of strings that keeps the values it doesn't know.
macro_rules! string_enum {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
            /// A value that the API doesn't name, as it was written.
            Other(String),
        }

        impl $name {
            /// The values that the API names, in its order.
            pub const VALUES: &[&str] = &[$($text),*];

            /// The value as it is written.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    _ => Self::Other(text.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;

                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a string")
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        Ok(text.into())
                    }
                }

                deserializer.deserialize_str(Text)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": Self::VALUES})
            }
        }

        impl crate::wire::Part for $name {
            fn is_unset(&self) -> bool {
                self.as_str().is_empty()
            }
        }
    };
}

/// Declares one version of a kind: the root object, its identity and the bounds that its schema sets to lists and maps.
macro_rules! kind {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $version:literal as $plural:literal $(with bounds $bounds:expr,)? {
            $(#[$spec_meta:meta])* spec: $spec:ty,
            $($(#[$status_meta:meta])* status: $status:ty,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase", remote = "Self")]
        pub struct $name {
            /// Group and version, as written.
            #[serde(
                default,
                deserialize_with = "crate::wire::Member::read",
                skip_serializing_if = "crate::wire::Member::is_absent"
            )]
            pub api_version: String,
            /// The kind, as written.
            #[serde(
                default,
                deserialize_with = "crate::wire::Member::read",
                skip_serializing_if = "crate::wire::Member::is_absent"
            )]
            pub kind: String,
            /// Name, namespace, labels, annotations and what the API server keeps about the object.
            #[serde(default, deserialize_with = "crate::wire::Member::read")]
            pub metadata: crate::meta::ObjectMeta,
            $(#[$spec_meta])*
            #[serde(default, deserialize_with = "crate::wire::Member::read")]
            pub spec: $spec,
            $(
                $(#[$status_meta])*
                #[serde(
                    default,
                    deserialize_with = "crate::wire::Member::read",
                    skip_serializing_if = "crate::wire::Member::is_absent"
                )]
                pub status: Option<$status>,
            )?
        }

        strict!($name);

        impl gateward::Resource for $name {
            fn group() -> std::borrow::Cow<'static, str> {
                crate::constants::GROUP.into()
            }

            fn version() -> std::borrow::Cow<'static, str> {
                $version.into()
            }

            fn kind() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn plural() -> std::borrow::Cow<'static, str> {
                $plural.into()
            }

            fn scope() -> gateward::Scope {
                gateward::Scope::Namespaced
            }

            $(fn bounds() -> &'static [gateward::Bound] {
                $bounds
            })?

            fn metadata_ref(&self) -> Option<gateward::MetadataRef<'_>> {
                let crate::meta::ObjectMeta { name, labels, annotations, .. } = &self.metadata;
                Some(gateward::MetadataRef { name, labels, annotations })
            }
        }
    };
}
