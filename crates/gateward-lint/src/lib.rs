//! YAML with spans, structural schemas and diagnostics.
