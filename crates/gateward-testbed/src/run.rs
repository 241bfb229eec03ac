//! The `main` of a test program.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Conclusion, Trial};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::RwLock;

use crate::bed::Bed;
use crate::enter::enter;
use crate::sandbox::Sandbox;

/// Tests wait for the control plane more than they compute.
const THREADS: usize = 4;

/// Stays on the test's own thread.
type Running = Pin<Box<dyn Future<Output = ()>>>;

/// A test: a name, and what it does in a namespace of its own.
pub struct Test {
    name: &'static str,
    neighbours: Neighbours,
    body: Box<dyn FnOnce(Sandbox) -> Running + Send>,
}

/// Whether other tests run at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbours {
    Some,
    None,
}

impl Test {
    /// A test out of an async function.
    pub fn new<F, R>(name: &'static str, body: F) -> Self
    where
        F: FnOnce(Sandbox) -> R + Send + 'static,
        R: Future<Output = ()> + 'static,
    {
        // A path of a function begins with the test program's own name.
        let name = name.split_once("::").map_or(name, |(_, name)| name);
        Self { name, neighbours: Neighbours::Some, body: Box::new(|sandbox| Box::pin(body(sandbox))) }
    }

    /// The same test, while no other one runs: it changes what all use.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { neighbours: Neighbours::None, ..self }
    }

    fn is_wanted(&self, arguments: &Arguments) -> bool {
        let matches = |filter: &String| if arguments.exact { self.name == filter } else { self.name.contains(filter) };
        arguments.filter.as_ref().is_none_or(matches) && !arguments.skip.iter().any(matches)
    }
}

/// The named functions of a module as tests.
#[macro_export]
macro_rules! tests {
    ($($name:ident),+ $(,)?) => {
        vec![$($crate::Test::new(concat!(module_path!(), "::", stringify!($name)), $name)),+]
    };
}

/// What was prepared on a bed for all tests of a program. It lives as long as they do.
pub trait Prepared {
    /// Looks back when all tests have run.
    fn judge(&self) -> anyhow::Result<()> {
        Ok(())
    }
}

impl Prepared for () {}

/// Runs tests on a bed that was prepared for all of them.
///
/// Must be called before any thread is started.
pub fn run<P, R, G>(tests: Vec<Test>, prepare: P) -> ExitCode
where
    P: FnOnce(Arc<Bed>) -> R,
    R: Future<Output = anyhow::Result<G>>,
    G: Prepared,
{
    run_some_at_once(THREADS, tests, prepare)
}

/// Like [`run`], one test at a time: for tests that measure, and for those that change what all use.
pub fn run_in_turn<P, R, G>(tests: Vec<Test>, prepare: P) -> ExitCode
where
    P: FnOnce(Arc<Bed>) -> R,
    R: Future<Output = anyhow::Result<G>>,
    G: Prepared,
{
    run_some_at_once(1, tests, prepare)
}

fn run_some_at_once<P, R, G>(threads: usize, mut tests: Vec<Test>, prepare: P) -> ExitCode
where
    P: FnOnce(Arc<Bed>) -> R,
    R: Future<Output = anyhow::Result<G>>,
    G: Prepared,
{
    let mut arguments = Arguments::from_args();
    tests.retain(|test| test.is_wanted(&arguments));
    // Without tests there is nothing to enter or to build.
    if arguments.list || tests.is_empty() {
        let listed = tests.into_iter().map(|test| Trial::test(test.name, || Ok(())));
        return libtest_mimic::run(&arguments, listed.collect()).exit_code();
    }
    arguments.test_threads = arguments.test_threads.or(Some(threads));
    let ran = enter().and_then(|place| {
        let runtime = Runtime::new()?;
        runtime.spawn(end_with_a_signal());
        let bed = Arc::new(runtime.block_on(Bed::start(&place))?);
        let prepared = runtime.block_on(prepare(Arc::clone(&bed)));
        let ran = prepared.and_then(|prepared| {
            let conclusion = libtest_mimic::run(&arguments, trials(&runtime, &bed, tests));
            prepared.judge().map(|()| conclusion)
        });
        if ran.as_ref().map_or(true, Conclusion::has_failed) {
            // What the tests say comes before that.
            keep_logs(&bed).unwrap_or_else(|error| eprintln!("the logs of the control plane are lost: {error:#}"));
        }
        ran
    });
    ran.as_ref().map_or_else(failed, Conclusion::exit_code)
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}

/// The first process of a process namespace ends by no signal that it doesn't ask for.
pub async fn end_with_a_signal() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    std::process::exit(130);
}

fn trials(runtime: &Runtime, bed: &Arc<Bed>, tests: Vec<Test>) -> Vec<Trial> {
    let room = Arc::new(RwLock::new(()));
    let trial = |test: Test| {
        let (handle, bed, room) = (runtime.handle().clone(), Arc::clone(bed), Arc::clone(&room));
        Trial::test(test.name, move || {
            handle.block_on(async {
                let (_one_of_some, _alone) = match test.neighbours {
                    Neighbours::Some => (Some(room.read().await), None),
                    Neighbours::None => (None, Some(room.write().await)),
                };
                let sandbox = Sandbox::new(bed, namespace(test.name)).await?;
                (test.body)(sandbox).await;
                Ok(())
            })
        })
    };
    tests.into_iter().map(trial).collect()
}

/// A namespace's name that tells of the test.
fn namespace(test: &str) -> String {
    let mut name: String = test.rsplit("::").next().unwrap_or_default().replace('_', "-");
    name.truncate(63);
    name.trim_end_matches('-').to_owned()
}

/// Copies the logs of a bed to where they can be read after its end.
fn keep_logs(bed: &Bed) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name);
    let folder: PathBuf = program.ancestors().nth(2).unwrap_or(&program).join("bed-logs").join(name);
    // Those of an earlier bed are of no more use; there may be none.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    for entry in std::fs::read_dir(bed.folder())? {
        let path = entry?.path();
        if let Some(file) = path.file_name().filter(|_| path.extension().is_some_and(|extension| extension == "log")) {
            std::fs::copy(&path, folder.join(file))?;
        }
    }
    eprintln!("the logs of the control plane are in {}", folder.display());
    Ok(())
}
