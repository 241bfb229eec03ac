//! What a test bed does on a machine that grants it less: this program runs itself, with a bed, where the kernel
//! forbids user namespaces and where it forbids them all.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod beds;
mod forbidden;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cluster_tests::{Ground, Programs};
use libtest_mimic::{Arguments, Trial};

use beds::{PODS, Purpose, WEBHOOKS};
use forbidden::forbidding;

/// How what a bed says of its ground begins, and how it goes on.
const NOTICE: &str = "the test bed is granted no user namespace: ";
const AS_ROOT: &str = "it has the other namespaces as root (";
const ON_THE_HOST: &str = "nor, as root, any other; it uses the machine's own network, where no Pod can run (";

fn main() -> ExitCode {
    if let Some(ended) = beds::run_as_bed() {
        return ended;
    }
    let here = Ground::find().unwrap();
    let trial = |ground: Ground, name: &str, body: fn(Command)| {
        let trial = Trial::test(name, move || {
            body(forbidding(here, ground));
            Ok(())
        });
        // Without user namespaces nothing can be forbidden, and a machine can only be tried as it is.
        trial.with_ignored_flag(here != Ground::UserNamespace && here != ground)
    };
    let trials = vec![
        trial(Ground::Root, "root_has_pods_and_webhooks_without_a_user_namespace", root_has_everything),
        trial(Ground::Root, "the_programs_of_envtest_have_webhooks_asked_and_run_no_pods", envtest_has_no_pods),
        trial(Ground::Host, "webhooks_are_asked_on_the_machines_own_network", webhooks_are_asked),
        trial(Ground::Host, "pods_need_namespaces_and_are_told_how_to_get_them", pods_need_namespaces),
        trial(Ground::Host, "a_bed_that_is_killed_leaves_nothing_behind", nothing_is_left),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn root_has_everything(mut command: Command) {
    Said::by(Purpose::Pods.of(&mut command)).passed(&[WEBHOOKS, PODS], AS_ROOT);
}

fn envtest_has_no_pods(mut command: Command) {
    let (programs, folder) = (Programs::find().unwrap(), std::env::temp_dir().join("gateward-envtest"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["etcd", "kube-apiserver", "kubectl"] {
        std::os::unix::fs::symlink(programs.control_plane(name).get_program(), folder.join(name)).unwrap();
    }
    command.env_remove("GATEWARD_TESTBED").env("KUBEBUILDER_ASSETS", &folder);
    Said::by(Purpose::Webhooks.of(&mut command)).passed(&[WEBHOOKS], AS_ROOT);
    let said = Said::by(Purpose::Pods.of(&mut command));
    assert!(
        !said.succeeded && said.complaints.contains("no kube-controller-manager is among the programs"),
        "{said:?}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

fn webhooks_are_asked(mut command: Command) {
    Said::by(Purpose::Webhooks.of(&mut command)).passed(&[WEBHOOKS], ON_THE_HOST);
}

fn pods_need_namespaces(mut command: Command) {
    let said = Said::by(Purpose::Pods.of(&mut command));
    said.stands_on(ON_THE_HOST);
    assert!(!said.succeeded && said.complaints.contains("error: Pods need user, network, mount"), "{said:?}");
    assert!(said.complaints.contains("Look at the sysctls user.max_user_namespaces"), "{said:?}");
}

fn nothing_is_left(mut command: Command) {
    let mut bed = Purpose::Rest.of(&mut command).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(bed.stdout.take().unwrap()).lines();
    let folder = lines.find_map(|line| Some(line.unwrap()).filter(|line| line.contains("gateward-bed-"))).unwrap();
    let begun = processes_in(&folder);
    bed.kill().unwrap();
    bed.wait().unwrap();
    assert!(begun.len() >= 3, "etcd, kube-apiserver and kube-controller-manager: {begun:?}");
    let start = Instant::now();
    while Path::new(&folder).exists() || !processes_in(&folder).is_empty() {
        assert!(start.elapsed() < Duration::from_mins(2), "{folder}: {:?}", processes_in(&folder));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processes that work in a folder, also where it is gone.
fn processes_in(folder: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().map(|process| process.unwrap().path());
    let works = |process: &Path| std::fs::read_link(process.join("cwd")).unwrap_or_default();
    let here = processes.filter(|process| works(process).to_string_lossy().starts_with(folder));
    here.map(|process| process.display().to_string()).collect()
}

/// What a test program said.
#[derive(Debug)]
struct Said {
    succeeded: bool,
    results: String,
    complaints: String,
}

impl Said {
    fn by(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            succeeded: output.status.success(),
            results: String::from_utf8_lossy(&output.stdout).into_owned(),
            complaints: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// All the tests ran, and nothing else, on this ground.
    #[track_caller]
    fn passed(&self, tests: &[&str], ground: &str) {
        self.stands_on(ground);
        let passed = |test: &&str| self.results.lines().any(|line| line.contains(*test) && line.ends_with("ok"));
        assert!(self.succeeded && tests.iter().all(passed), "{self:?}");
        let all = format!("test result: ok. {} passed; 0 failed; 0 ignored", tests.len());
        assert!(self.results.contains(&all), "{self:?}");
    }

    /// It was said once on what ground the bed stands.
    #[track_caller]
    fn stands_on(&self, ground: &str) {
        let notices: Vec<&str> = self.complaints.lines().filter_map(|line| line.strip_prefix(NOTICE)).collect();
        assert!(notices.len() == 1 && notices[0].starts_with(ground), "{self:?}");
    }
}
