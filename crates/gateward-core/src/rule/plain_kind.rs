//! `resource!`: the identity of a plain serde type.

use std::marker::PhantomData;

use crate::dns::{is_service_name, is_subdomain};

/// Makes a plain serde type a [`Resource`](crate::Resource): its `apiVersion`, its kind and its plural. A fifth argument
/// says the [`Scope`](crate::Scope), where that isn't `Namespaced`.
///
/// ```
/// use gateward_core::{Resource, Scope, resource};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct TestEntity { spec: serde_json::Value }
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Zone { spec: serde_json::Value }
///
/// resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentities");
/// resource!(Zone, "webhook.dev/v1", "Zone", "zones", Cluster);
///
/// assert_eq!(TestEntity::gvk().to_string(), "webhook.dev/v1 TestEntity");
/// assert_eq!((Zone::plural().as_ref(), Zone::scope()), ("zones", Scope::Cluster));
/// ```
///
/// The names are checked by the compiler:
///
/// ```compile_fail
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct TestEntity {}
/// gateward_core::resource!(TestEntity, "webhook.dev/", "TestEntity", "testentities");
/// ```
///
/// A type that is to declare the bounds of its lists too implements [`Resource`](crate::Resource) by hand.
#[macro_export]
macro_rules! resource {
    ($type:ty, $api_version:expr, $kind:expr, $plural:expr $(,)?) => {
        $crate::resource!($type, $api_version, $kind, $plural, Namespaced);
    };
    ($type:ty, $api_version:expr, $kind:expr, $plural:expr, $scope:ident $(,)?) => {
        const _: () = {
            const NAMES: $crate::rule::plain_kind::PlainKind =
                $crate::rule::plain_kind::PlainKind::new($api_version, $kind, $plural);

            use $crate::rule::plain_kind::PlainProbe as _;

            impl $crate::Resource for $type {
                fn group() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(NAMES.group)
                }

                fn version() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(NAMES.version)
                }

                fn kind() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(NAMES.kind)
                }

                fn plural() -> ::std::borrow::Cow<'static, str> {
                    ::std::borrow::Cow::Borrowed(NAMES.plural)
                }

                fn scope() -> $crate::Scope {
                    $crate::Scope::$scope
                }
            }

            // The compiler alone would say that two implementations conflict, and show one that the author hasn't written.
            ::std::assert!(
                !$crate::rule::plain_kind::KubeProbe::<$type>::KNOWN,
                ::std::concat!(
                    "kube knows the group, version and kind of `",
                    ::std::stringify!($type),
                    "`: drop `resource!`, or `#[derive(CustomResource)]`"
                )
            );
        };
    };
}

/// Finds out whether kube knows a type: `KNOWN` is then a constant of this type's own, and else that of [`PlainProbe`].
#[doc(hidden)]
pub struct KubeProbe<T>(PhantomData<T>);

/// The constant of a type that kube doesn't know.
#[doc(hidden)]
pub trait PlainProbe {
    const KNOWN: bool = false;
}

impl<T> PlainProbe for KubeProbe<T> {}

/// What [`resource!`](crate::resource) was given, in its parts.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct PlainKind {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
}

impl PlainKind {
    /// The parts of the names.
    ///
    /// # Panics
    ///
    /// Where the API server would refuse a name. The macro has it evaluated by the compiler, so that this is a compile error.
    pub const fn new(api_version: &'static str, kind: &'static str, plural: &'static str) -> Self {
        let (group, version) = match slash(api_version.as_bytes()) {
            Some(at) => {
                let (group, rest) = api_version.split_at(at);
                assert!(is_subdomain(group), "the group in `apiVersion` must be a domain such as `webhook.dev`");
                (group, rest.split_at(1).1)
            }
            None => ("", api_version),
        };
        assert!(
            is_service_name(version),
            "`apiVersion` must be `group/version` such as `webhook.dev/v1`, or for the core group `v1`"
        );
        assert!(is_kind(kind.as_bytes()), "the kind must be in upper camel case, such as `TestEntity`");
        assert!(is_service_name(plural), "the plural must be in lower case, such as `testentities`");
        Self { group, version, kind, plural }
    }
}

const fn slash(text: &[u8]) -> Option<usize> {
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        if *byte == b'/' {
            return Some(text.len() - rest.len());
        }
        rest = tail;
    }
    None
}

pub(crate) const fn is_kind(text: &[u8]) -> bool {
    let [b'A'..=b'Z', rest @ ..] = text else { return false };
    let mut rest = rest;
    while let [byte, tail @ ..] = rest {
        if !byte.is_ascii_alphanumeric() {
            return false;
        }
        rest = tail;
    }
    text.len() <= 63
}
