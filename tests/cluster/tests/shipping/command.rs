//! Commands, and objects as their files.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use cluster_tests::Bed;
use serde_json::{Value, json};

/// What a command prints that ends well.
pub fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// kubectl as the administrator.
pub fn kubectl(bed: &Bed, arguments: &[&str]) -> String {
    output(bed.kubectl().args(arguments))
}

/// kubectl as the administrator, about objects.
pub fn kubectl_with(bed: &Bed, arguments: &[&str], objects: &[Value]) {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    if objects.is_empty() {
        return;
    }
    let file = bed.folder().join(format!("objects-{}.json", FILES.fetch_add(1, Ordering::Relaxed)));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    std::fs::write(&file, list.to_string()).unwrap();
    output(bed.kubectl().args(arguments).arg("-f").arg(file));
}

/// The program of the example `crontab`, as the administrator runs it.
pub fn crontab(bed: &Bed, arguments: &[&str]) -> String {
    let mut command = bed.programs().example("crontab").unwrap_or_else(|| panic!("crontab is not built"));
    command.env("KUBECONFIG", bed.folder().join("kubeconfig")).env("HOME", bed.folder());
    output(command.args(arguments))
}
