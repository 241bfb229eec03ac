//! Structs of one version made from those of the other.

/// A struct with fields of the same name cloned from another, and those behind the semicolon as given. As in any struct
/// expression, every field is listed unless there is a base.
macro_rules! copy_fields {
    ($from:expr => $($to:ident)::+ {
        $($same:ident),+ $(; $($other:ident $(: $value:expr)?,)+ $(..$base:expr)?)?
    }) => {
        $($to)::+ { $($same: Clone::clone(&$from.$same),)+ $($($other $(: $value)?,)+ $(..$base)?)? }
    };
}

pub(in crate::conversion) use copy_fields;
