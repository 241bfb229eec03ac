//! The binary as people and Pods run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cluster_tests::Bed;
use serde_json::Value;

/// The Service that converts, and its namespace.
pub const SERVICE: &str = "river-dynamo-operator-webhook-service";
pub const NAMESPACE: &str = "river-system";

/// Two releases. Large CRDs cost the API server much, so tests apply the same ones where they can.
pub const OLDER: &str = "0.1.0";
pub const NEWER: &str = "0.2.0";

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// It ended well; gives what it printed.
    pub fn well(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    /// What it printed as one document.
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

/// Somebody who runs commands against the bed.
pub struct Person<'a> {
    bed: &'a Bed,
    kubeconfig: PathBuf,
}

impl<'a> Person<'a> {
    /// Who may do everything.
    pub fn admin(bed: &'a Bed) -> Self {
        Self { bed, kubeconfig: bed.folder().join("kubeconfig") }
    }

    /// The user of a kubeconfig.
    pub fn of(bed: &'a Bed, kubeconfig: &Path) -> Self {
        Self { bed, kubeconfig: kubeconfig.into() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bed.programs().gateward();
        command.args(arguments).env("KUBECONFIG", &self.kubeconfig).stdin(Stdio::null());
        command
    }

    /// Runs a command of the binary.
    pub async fn runs(&self, arguments: &[&str]) -> Ended {
        let mut command = self.command(arguments);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Runs the step that installs CRDs.
    pub async fn applies(&self, version: &str) -> Ended {
        let service = ["--conversion-webhook-service-name", SERVICE];
        let namespace = ["--conversion-webhook-service-namespace", NAMESPACE];
        let version = ["--operator-version", version];
        self.runs(&[&["crds", "apply"], &version[..], &service, &namespace].concat()).await
    }

    /// Prepares the end of the release.
    pub async fn uninstalls(&self, options: &[&str]) -> Ended {
        let command = ["uninstall", "--release", "river", "--namespace", NAMESPACE, "--output", "json"];
        self.runs(&[&command, options].concat()).await
    }
}
