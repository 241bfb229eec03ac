//! Processes of containers, which others signal and wait for.

use std::fmt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

use tokio::sync::watch;

/// A signal that containers get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
    /// SIGSTOP: it stands still, and answers nobody.
    Stop,
    /// SIGCONT.
    Continue,
}

impl fmt::Display for Signal {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Self::Term => "TERM",
            Self::Kill => "KILL",
            Self::Stop => "STOP",
            Self::Continue => "CONT",
        })
    }
}

/// A process that was started, and all that it started itself.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pid: u32,
    exit: watch::Receiver<Option<ExitStatus>>,
}

impl Running {
    /// Starts a process that leads a group. What is left of the group when the process ends is killed.
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Self> {
        let mut child = command.stdin(Stdio::null()).process_group(0).spawn()?;
        let pid = child.id();
        let (exited, exit) = watch::channel(None);
        std::thread::spawn(move || {
            let status = child.wait().unwrap_or(ExitStatus::from_raw(0));
            kill(Signal::Kill, &format!("-{pid}"));
            // The receiver may be gone.
            let _ = exited.send(Some(status));
        });
        Ok(Self { pid, exit })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the end.
    pub(crate) async fn ended(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or_default(),
            Err(_) => ExitStatus::default(),
        }
    }

    /// SIGTERM goes to the process, as to the first process of a container; the others to all.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.exit.borrow().is_some() {
            return;
        }
        match signal {
            Signal::Term => kill(signal, &self.pid.to_string()),
            Signal::Kill | Signal::Stop | Signal::Continue => kill(signal, &format!("-{}", self.pid)),
        }
    }
}

/// The standard library knows only SIGKILL, and only for a child. The shell has a `kill` of its own.
fn kill(signal: Signal, whom: &str) {
    let script = format!("kill -s {signal} -- {whom}");
    // The process may be gone by now.
    let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
}
