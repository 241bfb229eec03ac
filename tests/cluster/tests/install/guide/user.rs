//! A user who reads the page and types what it says.

use std::process::Child;
use std::time::{Duration, Instant};

use cluster_tests::{Sandbox, Shell, command_blocks};

const PAGE: &str = include_str!("../../../../../docs/troubleshooting.md");

/// Time enough for a machine that is busy.
pub const SOON: Duration = Duration::from_mins(2);
/// How soon a user tries again.
const PAUSE: Duration = Duration::from_millis(300);

/// The commands under a heading of the page.
pub fn commands(heading: &str) -> Vec<&'static str> {
    command_blocks(PAGE, heading).into_iter().flat_map(str::lines).collect()
}

/// A user with a shell.
pub struct User {
    shell: Shell,
    /// What has to be typed before all else: it names the release.
    names: String,
}

/// A command that goes on until this is dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl User {
    pub fn new(sandbox: &Sandbox) -> Self {
        let shell = Shell::new(&sandbox.shared_bed(), sandbox.namespace()).unwrap();
        Self { shell, names: command_blocks(PAGE, "# Troubleshooting").concat() }
    }

    /// What a command writes, and whether it has done what it was to do.
    pub fn types(&self, command: &str) -> (bool, String) {
        let output = self.shell.run(&format!("{}{command}", self.names));
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    /// Starts a command that goes on.
    fn starts(&self, command: &str) -> Started {
        // The command is the process that is ended, not the shell around it.
        Started(self.shell.start(&format!("{}exec {command}", self.names)))
    }

    /// A command succeeds and writes all of this.
    pub fn finds(&self, command: &str, wanted: &[&str]) {
        let (done, said) = self.types(command);
        assert!(done && has(&said, wanted), "{command}\n{wanted:?}\n{said}");
    }

    /// The same, after some time.
    pub async fn comes_to_find(&self, command: &str, wanted: &[&str]) {
        self.comes_to_find_by(command, wanted, async || self.types(command).1).await;
    }

    /// The same of a command that needs another one to go on meanwhile. That one ends where a Pod doesn't listen yet.
    pub async fn comes_to_find_through(&self, other: &str, command: &str, wanted: &[&str]) {
        let types = async || {
            let _other = self.starts(other);
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.types(command).1
        };
        self.comes_to_find_by(command, wanted, types).await;
    }

    async fn comes_to_find_by(&self, command: &str, wanted: &[&str], types: impl AsyncFn() -> String) {
        let (start, mut said) = (Instant::now(), types().await);
        while !has(&said, wanted) {
            assert!(start.elapsed() < SOON, "{command}\n{wanted:?}\n{said}");
            tokio::time::sleep(PAUSE).await;
            said = types().await;
        }
    }
}

fn has(text: &str, wanted: &[&str]) -> bool {
    wanted.iter().all(|wanted| text.contains(wanted))
}
