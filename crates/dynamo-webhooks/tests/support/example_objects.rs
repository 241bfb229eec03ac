//! The objects of the rules' examples, as manifests.

use std::fs;
use std::path::Path;

/// A folder with the object of each example in a file of its own.
pub fn folder() -> tempfile::TempDir {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dynamo-webhooks/src/rules/examples");
    let copies = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().skip_while(|line| *line != "object:").skip(1);
        let object = lines.take_while(|line| line.is_empty() || line.starts_with("  "));
        let object: String = object.map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned() + "\n").collect();
        fs::write(copies.path().join(path.file_name().unwrap()), object).unwrap();
    }
    copies
}
