//! Folders of kustomize, and the objects that come of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use cluster_tests::Sandbox;
use gateward_lint::yaml;
use serde_json::Value;

/// What a folder of the release runs.
const IMAGE: [&str; 2] = ["--image", "registry.example.org/operator:1.0.0"];
const POLICY: [&str; 3] = ["--network-policy", "--api-server-cidr", "10.0.0.0/8"];

/// Objects by kind, namespace and name.
pub type Objects = BTreeMap<(String, String, String), Value>;

/// A folder with a kustomization.
pub struct Folder<'a> {
    sandbox: &'a Sandbox,
    path: PathBuf,
}

impl<'a> Folder<'a> {
    /// The folder of this name that the command writes.
    pub fn generated(sandbox: &'a Sandbox, name: &str, arguments: &[&str]) -> Self {
        let path = sandbox.bed().folder().join(sandbox.namespace()).join(name);
        let folder = Self { sandbox, path };
        let out = ["generate", "kustomize", "--out", folder.path.to_str().unwrap()];
        folder.gateward(&[&out[..], &IMAGE, &POLICY, arguments].concat());
        folder
    }

    /// A folder beside this one, with this kustomization and no other file.
    pub fn beside(&self, name: &str, kustomization: &Value) -> Self {
        let path = self.path.with_file_name(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("kustomization.yaml"), kustomization.to_string()).unwrap();
        Self { path, ..*self }
    }

    /// What kustomize makes of it.
    pub fn built(&self) -> Objects {
        let documents = yaml::read(self.kubectl(&["kustomize"]).as_bytes()).documents;
        by_name(documents.into_iter().map(|document| document.value))
    }

    /// What the other commands print: those that know a Service by its release, and those that know the whole release.
    pub fn printed(&self, service: &[&str], release: &[&str]) -> Objects {
        let deployment = [&["deployment"][..], &IMAGE, &POLICY, release].concat();
        let commands = [
            [&["crds"][..], service].concat(),
            [&["rbac"][..], release].concat(),
            deployment,
            [&["webhooks"][..], service].concat(),
        ];
        let printed = commands.iter().flat_map(|command| {
            let text = self.gateward(&[&["generate"][..], command, &["--format", "json"]].concat());
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
        });
        by_name(printed)
    }

    /// Runs kubectl on the folder.
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        output(self.sandbox.bed().kubectl().args(arguments).arg(&self.path))
    }

    fn gateward(&self, arguments: &[&str]) -> String {
        output(self.sandbox.bed().programs().gateward().args(arguments))
    }
}

/// What a command prints that succeeds.
pub fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Objects under their names.
pub fn by_name(objects: impl Iterator<Item = Value>) -> Objects {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let key = |object: &Value| {
        let metadata = &object["metadata"];
        (text(&object["kind"]), text(&metadata["namespace"]), text(&metadata["name"]))
    };
    objects.map(|object| (key(&object), object)).collect()
}

/// The one object of a kind.
pub fn object<'o>(objects: &'o Objects, kind: &str) -> &'o Value {
    let mut found = objects.iter().filter(|((of, ..), _)| of == kind).map(|(_, object)| object);
    found.next().unwrap_or_else(|| panic!("no {kind}"))
}
