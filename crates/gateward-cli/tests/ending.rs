//! How a server ends, and what it says where it can't begin: the real binary.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server in a process of its own.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts one in a shell that does something before.
    fn after(before: &str) -> Self {
        let anywhere = "--listen 127.0.0.1:0 --health-listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0";
        let script = format!("{before}; exec {} serve --local {anywhere}", env!("CARGO_BIN_EXE_gateward"));
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env_remove("GATEWARD_LOG").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Where it says that something is; `None` where it ended instead.
    fn address(&mut self, name: &str) -> Option<SocketAddr> {
        let mut line = String::new();
        while !line.starts_with(name) {
            line.clear();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
        }
        line.split("://").nth(1)?.split('/').next()?.trim().parse().ok()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }

    /// Its exit code and what it said on standard error.
    fn ended(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already, where the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split(' ').nth(1).unwrap().to_owned()
}

fn until_it_leaves(health: SocketAddr) {
    let start = Instant::now();
    while status(health, "/readyz") == "200" {
        assert!(start.elapsed() < PATIENCE, "still ready");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(status(health, "/healthz"), "200");
}

/// Whether these tests were started to outlive their terminal, which their servers inherit.
fn outlives_the_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(mask, 16).unwrap() & 1 == 1
}

#[test]
fn whoever_asks_again_hastens_the_end() {
    let hangup = if outlives_the_terminal() { "TERM" } else { "HUP" };
    for (first, again) in [("TERM", "TERM"), ("TERM", "INT"), (hangup, "INT")] {
        let mut server = Server::after(":");
        let health = server.address("health").unwrap();
        server.signal(first);
        until_it_leaves(health);
        server.signal(again);
        let (code, said) = server.ended();
        assert!(
            code == Some(0) && said.contains("asked again") && said.contains("stopped"),
            "{first}, {again}: {said}"
        );
    }
}

#[test]
fn a_server_that_outlives_its_terminal_is_not_ended_by_a_hangup() {
    let mut server = Server::after("trap '' HUP");
    let health = server.address("health").unwrap();
    server.signal("HUP");
    server.signal("TERM");
    until_it_leaves(health);
    server.signal("HUP");
    server.signal("INT");
    let (code, said) = server.ended();
    assert!(code == Some(0) && said.matches("asked again").count() == 1, "{said}");
}

#[test]
fn too_few_files_are_an_error_that_says_so_and_few_are_left_to_probes() {
    // `make --jobs` leaves two files open in all that it starts.
    let limit = |files| Server::after(&format!("exec 3>&- 4>&-; ulimit -n {files}"));
    for files in [4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32] {
        let (code, said) = limit(files).ended();
        assert!(code == Some(2) && said.contains("ulimit -n") && !said.contains("panic"), "{files}: {said}");
    }
    for files in [64, 96] {
        let mut server = limit(files);
        let webhooks = server.address("webhooks").unwrap_or_else(|| panic!("{files}: {}", server.ended().1));
        let health = server.address("health").unwrap();
        let _crowd: Vec<_> = (0..150).map(|_| TcpStream::connect(webhooks).unwrap()).collect();
        for _ in 0..5 {
            assert_eq!(status(health, "/readyz"), "200");
        }
        server.signal("INT");
        let (code, said) = server.ended();
        assert!(code == Some(0) && !said.contains("panic"), "{files}: {said}");
    }
}
