//! `serve --config` while there is no API server: nothing ends the process, and the probes say what is waited for.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server that waits. It is killed when this is dropped.
struct Waiting {
    child: Child,
    health: SocketAddr,
    folder: TempDir,
}

impl Waiting {
    fn start(kubeconfig: &str) -> Self {
        Self::start_with(kubeconfig, &[])
    }

    fn start_with(kubeconfig: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [webhooks, health, metrics] = free_ports();
        let file = format!(
            "apiVersion: operator.config.dynamo.nvidia.com/v1alpha1\nkind: OperatorConfiguration\nserver:\n  webhook: \
             {{host: 127.0.0.1, port: {webhooks}}}\n  healthProbe: {{bindAddress: 127.0.0.1, port: {health}}}\n  \
             metrics: {{bindAddress: 127.0.0.1, port: {metrics}}}\n"
        );
        std::fs::write(folder.path().join("config.yaml"), file).unwrap();
        if !kubeconfig.is_empty() {
            std::fs::write(folder.path().join("kubeconfig"), kubeconfig).unwrap();
        }
        let child = command(folder.path()).args(options).spawn().unwrap();
        Self { child, health: SocketAddr::from(([127, 0, 0, 1], health)), folder }
    }

    /// A page, as soon as somebody answers.
    fn page(&self, path: &str) -> String {
        let start = Instant::now();
        loop {
            if let Ok(mut stream) = TcpStream::connect(self.health) {
                write!(stream, "GET {path} HTTP/1.1\r\nHost: otter\r\nConnection: close\r\n\r\n").unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                return answer;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "nobody answers\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn says(&self, path: &str, wanted: &str) {
        let start = Instant::now();
        while !self.page(path).contains(wanted) {
            assert!(start.elapsed() < Duration::from_secs(15), "{}\n{}", self.page(path), self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Ends it as Ctrl-C does.
    fn ends(mut self) {
        let kill = format!("kill -s INT {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(10), "it does not end\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(self.child.try_wait().unwrap().unwrap().success(), "{}", self.log());
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // It has ended already, where the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(folder: &Path) -> Command {
    let log = std::fs::File::create(folder.join("log")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateward"));
    command.args(["serve", "--config", "config.yaml"]).current_dir(folder).stdin(Stdio::null()).stderr(log);
    command.env("KUBECONFIG", folder.join("kubeconfig")).env_remove("GATEWARD_LOG");
    let names = ["POD_NAME", "POD_NAMESPACE", "POD_SERVICE_ACCOUNT", "POD_INSTANCE"];
    command.envs(names.map(|name| (name, "otter"))).env("POD_IP", "127.0.0.1");
    command
}

fn free_ports() -> [u16; 3] {
    let listeners = [0; 3].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// A kubeconfig for an API server that is away.
fn nobody() -> String {
    let [nobody, ..] = free_ports();
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n\
         clusters: [{{name: a, cluster: {{server: 'http://127.0.0.1:{nobody}'}}}}]\nusers: [{{name: a, user: {{}}}}]\n"
    )
}

#[test]
fn an_api_server_that_is_away_is_waited_for() {
    let server = Waiting::start(&nobody());
    assert!(server.page("/healthz").starts_with("HTTP/1.1 200"));
    server.says("/readyz", "[-]facts failed: ");
    server.says("/readyz", "the API group grove.io is served can't be learned");
    let page = server.page("/readyz");
    assert!(
        page.starts_with("HTTP/1.1 503") && page.contains("[-]certificate failed: there is no certificate"),
        "{page}"
    );
    server.ends();
}

#[test]
fn a_way_to_the_api_server_that_is_not_there_yet_is_waited_for() {
    let server = Waiting::start("");
    assert!(server.page("/healthz").starts_with("HTTP/1.1 200"));
    server.says("/readyz", "[-]cluster failed: ");
    server.says("/readyz", "KUBECONFIG");
    server.ends();
}

#[test]
fn a_certificate_that_somebody_else_mounts_is_waited_for() {
    let server = Waiting::start_with(&nobody(), &["--certificate-dir", "serving-certs"]);
    assert!(server.page("/healthz").starts_with("HTTP/1.1 200"));
    server.says("/readyz", "[i]certificates: waiting for ");
    let page = server.page("/readyz");
    assert!(page.starts_with("HTTP/1.1 503") && page.contains("serving-certs/tls.crt: No such file"), "{page}");
    assert!(server.log().contains("somebody else mounts and renews the certificate"), "{}", server.log());
    assert!(!server.log().contains("lease"), "no controller is there: {}", server.log());
    server.ends();
}
