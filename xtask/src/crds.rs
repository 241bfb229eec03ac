//! The CRDs of dynamo-api as files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use dynamo_api::schema::{self, manifest::Definition};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;

/// What the API server takes for one object, in bytes of JSON.
const LIMIT: usize = 1024 * 1024;

/// Writes all CRDs and prints their sizes.
pub fn write() -> anyhow::Result<()> {
    for definition in schema::definitions()? {
        let file = folder().join(format!("{}.json", definition.plural));
        let text = text(&definition)?;
        fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
        let json = definition.document.to_string().len();
        println!("{:<40} {:>7} bytes of JSON ({:>2} % of the limit)", definition.plural, json, json * 100 / LIMIT);
    }
    Ok(())
}

/// The file's text: a member a line, so that changes can be read, and no indentation, which the program would carry along.
fn text(definition: &Definition) -> anyhow::Result<String> {
    let mut text = Vec::new();
    let mut lines = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b""));
    definition.document.serialize(&mut lines)?;
    text.push(b'\n');
    Ok(String::from_utf8(text)?)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/dynamo-api/crds")
}

#[cfg(test)]
mod tests {
    use dynamo_api::crds;

    use super::*;

    #[test]
    fn the_files_are_what_the_types_say() {
        for (definition, kept) in schema::definitions().unwrap().iter().zip(crds::all()) {
            assert_eq!(definition.plural, kept.plural);
            assert!(
                text(definition).unwrap() == kept.json,
                "{} is stale: run `cargo xtask generate crds`",
                kept.plural
            );
        }
    }

    #[test]
    fn the_api_server_can_store_every_crd() {
        for definition in schema::definitions().unwrap() {
            let size = definition.document.to_string().len();
            assert!(size < LIMIT, "{} has {size} bytes", definition.plural);
        }
    }
}
