//! The command `dev` in a process of its own.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio, Termination as _};
use std::time::Duration;

use cluster_tests::{Bed, Sandbox, until};
use gateward_lint::yaml;

use crate::snapshot::{Snapshot, snapshot};
use crate::world::World;

/// Set for a process that is to be an operator: which one.
const WORLD: &str = "DEV_TEST_WORLD";
/// An API server with little CPU takes its time, and so does a lease that expires.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Runs the command line of an operator, if this process is to be one.
pub fn run_as_operator() -> Option<ExitCode> {
    let world = World::named(&std::env::var(WORLD).ok()?).unwrap();
    Some(gateward::main(world.operator()).report())
}

/// A machine on which the operator of a world is developed.
pub struct Laptop {
    world: World,
    folder: PathBuf,
    kubeconfig: PathBuf,
    starts: usize,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// `None` after a signal.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A command that runs.
pub struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// Names the context of the bed's kubeconfig, and a free port.
pub const USUAL: [&str; 4] = ["--context", "bed", "--address", ":0"];

impl Laptop {
    pub fn of(sandbox: &Sandbox, world: World) -> Self {
        let folder = sandbox.bed().folder().join(world.name());
        std::fs::create_dir_all(&folder).unwrap();
        Self { world, folder, kubeconfig: kubeconfig(sandbox.bed()), starts: 0 }
    }

    /// One beside a cluster in which an administrator has installed the CRD of the otters; and that cluster.
    pub async fn beside_otters(sandbox: &Sandbox, world: World) -> (Self, Snapshot) {
        sandbox.bed().install_crds(&[world.otters()]).await.unwrap();
        (Self::of(sandbox, world), snapshot(sandbox.bed(), world).await)
    }

    /// The same, whose command was killed while it served.
    pub async fn killed(sandbox: &Sandbox, world: World) -> (Self, Snapshot) {
        let (mut laptop, before) = Self::beside_otters(sandbox, world).await;
        let running = laptop.serves(&USUAL).await;
        running.gets("KILL");
        assert_eq!(running.ends().await.code, None);
        assert_ne!(snapshot(sandbox.bed(), world).await, before);
        (laptop, before)
    }

    /// A kubeconfig like this machine's, of an API server elsewhere.
    pub fn kubeconfig_of(&self, server: &str) -> PathBuf {
        let mut config = yaml::read(std::fs::read(&self.kubeconfig).unwrap()).documents.remove(0).value;
        config["clusters"][0]["cluster"]["server"] = server.into();
        let file = self.folder.join("elsewhere.json");
        std::fs::write(&file, config.to_string()).unwrap();
        file
    }

    /// Starts the command.
    pub fn starts(&mut self, arguments: &[&str]) -> Running {
        self.starts += 1;
        let file = |name: &str| self.folder.join(format!("{}-{name}", self.starts));
        let (stdout, stderr) = (file("stdout"), file("stderr"));
        // A process that was started by nohup would hear of no terminal that closes.
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(std::env::current_exe().unwrap());
        command.arg("dev").args(arguments).env(WORLD, self.world.name()).env("KUBECONFIG", &self.kubeconfig);
        command.env("GATEWARD_FAIL_POINT", self.fail_point()).stdin(Stdio::null());
        command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
        Running { child: command.spawn().unwrap(), stdout, stderr }
    }

    /// Runs the command to its end.
    pub async fn runs(&mut self, arguments: &[&str]) -> Ended {
        self.starts(arguments).ends().await
    }

    /// Starts the command and waits until everything leads to it.
    pub async fn serves(&mut self, arguments: &[&str]) -> Running {
        let mut running = self.starts(arguments);
        running.is_serving().await;
        running
    }

    /// The next process that gets to this place ends there.
    pub fn fails_at(&self, place: &str) {
        std::fs::write(self.fail_point(), place).unwrap();
    }

    /// Whether a process has ended where it was to.
    pub fn has_failed(&self) -> bool {
        !self.fail_point().exists()
    }

    fn fail_point(&self) -> PathBuf {
        self.folder.join("fail-point")
    }
}

impl Running {
    pub async fn is_serving(&mut self) {
        let serving = async || {
            assert_eq!(self.child.try_wait().unwrap(), None, "{:?}", read(&self.stdout, &self.stderr));
            std::fs::read_to_string(&self.stdout).unwrap().contains("\nserving https://")
        };
        until("everything leads to the laptop", PATIENCE, serving).await;
    }

    /// Where webhooks are.
    pub fn origin(&self) -> String {
        let text = std::fs::read_to_string(&self.stdout).unwrap();
        text.lines().find_map(|line| line.strip_prefix("serving ")?.split(';').next().map(str::to_owned)).unwrap()
    }

    /// Sends a signal, such as `INT`.
    pub fn gets(&self, signal: &str) {
        let status = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    pub async fn ends(mut self) -> Ended {
        until("the command has ended", PATIENCE, async || self.child.try_wait().unwrap().is_some()).await;
        let code = self.child.wait().unwrap().code();
        let (stdout, stderr) = read(&self.stdout, &self.stderr);
        Ended { code, stdout, stderr }
    }

    /// Ends it as a person does.
    pub async fn interrupted(self) -> Ended {
        self.gets("INT");
        self.ends().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// It ended well; gives what it printed.
    pub fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// It was refused; gives the reason.
    pub fn refused(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        self.stderr
    }
}

fn kubeconfig(bed: &Bed) -> PathBuf {
    bed.folder().join("kubeconfig")
}

fn read(stdout: &PathBuf, stderr: &PathBuf) -> (String, String) {
    (std::fs::read_to_string(stdout).unwrap(), std::fs::read_to_string(stderr).unwrap())
}
