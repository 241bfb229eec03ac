//! What the fuzz targets share: changing JSON so that it stays JSON.

pub mod mutation;
