//! What conversion between versions goes by: schemas, annotations, and when two objects say the same. A conversion itself is
//! a [`Convert`](crate::Convert).

pub use gateward_core::conversion::{
    ANNOTATION_LIMIT, ConversionKeys, Strictness, StructuralSchemas, equivalence, raw_parts,
};
