//! A bed for a person.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::release::{Chart, Release};
use crate::shell::equip;
use gateward_testbed::Bed;
use gateward_testbed::end_with_a_signal;
use gateward_testbed::enter::{Workspace, enter};

/// The release that a visitor finds, and its namespace.
const RELEASE: (&str, &str) = ("dynamo", "dynamo-system");

/// What a visitor wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visit {
    /// A shell for as long as he likes.
    Shell,
    /// One line for the shell.
    Line(String),
}

/// Starts a bed, installs our chart, lets somebody in, and ends everything when he leaves.
///
/// Must be called before any thread is started.
pub fn visit(visit: Visit) -> ExitCode {
    let done = enter().and_then(|place| {
        let runtime = Runtime::new()?;
        runtime.spawn(end_with_a_signal());
        let bed = runtime.block_on(open(&place))?;
        let status = let_in(&place, &bed, visit)?;
        Ok(u8::try_from(status).map_or(ExitCode::FAILURE, ExitCode::from))
    });
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

async fn open(place: &Workspace) -> anyhow::Result<Arc<Bed>> {
    let start = Instant::now();
    place.require_pods()?;
    eprintln!("starting a control plane ...");
    let bed = Arc::new(Bed::start(place).await?);
    bed.start_node().await?;
    let (name, namespace) = RELEASE;
    eprintln!("installing release {name} of our chart in namespace {namespace} ...");
    let installed = Release::new(&bed, name, namespace).install(Chart::Current, &json!({})).await;
    match installed {
        Ok(()) => eprintln!("ready after {:.1} s", start.elapsed().as_secs_f32()),
        // There is something to see all the same, and perhaps that is why somebody is here.
        Err(error) => eprintln!("the release does not get ready: {error:#}"),
    }
    Ok(bed)
}

/// Runs what the visitor wants until its end, and gives its status.
fn let_in(place: &Workspace, bed: &Bed, visit: Visit) -> anyhow::Result<i32> {
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "sh".into());
    let mut command = match visit {
        Visit::Line(line) => {
            let mut command = Command::new("sh");
            command.args(["-c", &line]);
            command
        }
        Visit::Shell => {
            greet(place, bed);
            prompting(&shell, bed.folder())?
        }
    };
    let path = equip(&mut command, bed)?;
    command.env("BED_PATH", path);
    let status = command.status().with_context(|| format!("cannot run {shell}"))?;
    Ok(status.code().unwrap_or(1))
}

fn greet(place: &Workspace, bed: &Bed) {
    let config = bed.folder().join("kubeconfig");
    println!("\nKUBECONFIG={}", config.display());
    println!("kubectl, helm and gateward are on the PATH. Try:");
    println!("  kubectl get pods -A");
    println!("  kubectl create namespace zoo");
    println!("  kubectl apply -f crates/gateward-cli/src/demo/manifests   # some of them are to be refused");
    if let Some(door) = place.door() {
        println!("From another terminal:\n  {door} env KUBECONFIG={} sh", config.display());
    }
    println!("The end of this shell ends the cluster.\n");
}

/// A shell whose prompt says where one is. What its own settings do to the search path comes before ours.
fn prompting(shell: &str, folder: &Path) -> anyhow::Result<Command> {
    let (file, mut command) = (folder.join("profile"), Command::new(shell));
    if Path::new(shell).file_name().is_some_and(|name| name == "bash") {
        let own = "test -r ~/.bashrc && . ~/.bashrc";
        std::fs::write(&file, format!("{own}\nPS1='(gateward cluster) \\w \\$ '\nPATH=$BED_PATH\n"))?;
        command.arg("--rcfile").arg(&file);
    } else {
        std::fs::write(&file, "PS1='(gateward cluster) $ '\nPATH=$BED_PATH\n")?;
        command.env("ENV", &file);
    }
    Ok(command)
}
