//! Commands of the operators of `operators.rs`.

use std::process::Command;

/// The command line of an operator.
pub struct Program(Command);

impl Program {
    /// That of KubeOps' own tests.
    pub fn of_testapp() -> Self {
        Self(Command::new(env!("CARGO_BIN_EXE_kubeops-operators")))
    }

    /// KubeOps' conversion example.
    pub fn of_conversion() -> Self {
        let Self(mut command) = Self::of_testapp();
        command.env("OPERATOR", "conversion");
        Self(command)
    }

    /// Runs a command; gives what it printed, or its complaint.
    pub fn runs(mut self, arguments: &[&str]) -> Result<String, String> {
        let output = self.0.args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}
