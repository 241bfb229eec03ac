//! `kubectl port-forward`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use cluster_tests::{Sandbox, Test, tests};

use crate::workloads::{gateward, pod, ready, runs};

pub fn tests() -> Vec<Test> {
    tests![kubectl_forwards_one_connection_after_the_other, kubectl_says_that_a_port_is_closed]
}

/// kubectl, while it forwards from a port of this machine.
struct Forwarding {
    kubectl: Child,
    /// It names each connection there, and ends where nobody could read it.
    _output: BufReader<ChildStdout>,
    port: u16,
}

impl Forwarding {
    fn to(sandbox: &Sandbox, port: u16) -> Self {
        let mut command = sandbox.bed().kubectl();
        command.args(["-n", sandbox.namespace(), "port-forward", "pod/otter", &format!(":{port}")]);
        let mut kubectl = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(kubectl.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let port = line.strip_prefix("Forwarding from 127.0.0.1:").and_then(|rest| rest.split_once(' '));
        Self { port: port.unwrap_or_else(|| panic!("{line:?}")).0.parse().unwrap(), kubectl, _output: output }
    }

    /// What the port answers to a question over HTTP.
    fn ask(&self) -> String {
        let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        socket.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        // A connection that is cut off has no answer.
        let _ = socket.read_to_string(&mut answer);
        answer
    }

    /// Ends it, and gives what it has complained of.
    fn ended(mut self) -> String {
        self.kubectl.kill().unwrap();
        let output = self.kubectl.wait_with_output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    }
}

async fn kubectl_forwards_one_connection_after_the_other(sandbox: Sandbox) {
    ready(&sandbox, &pod("otter", &gateward())).await;
    let forwarding = Forwarding::to(&sandbox, 8081);
    for _ in 0..3 {
        let answer = forwarding.ask();
        assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    }
    assert_eq!(forwarding.ended(), "");
}

async fn kubectl_says_that_a_port_is_closed(sandbox: Sandbox) {
    ready(&sandbox, &pod("otter", &runs("exec sleep infinity"))).await;
    let forwarding = Forwarding::to(&sandbox, 8081);
    assert_eq!(forwarding.ask(), "");
    let said = forwarding.ended();
    assert!(said.contains("an error occurred forwarding") && said.contains("connection refused"), "{said}");
}
