//! `make cluster`: a control plane with Gateward installed, and a shell in which to try it. With arguments it runs
//! these as one line of the shell instead.

use std::process::ExitCode;

use cluster_tests::Visit;

fn main() -> ExitCode {
    let line: Vec<String> = std::env::args().skip(1).collect();
    let line = line.join(" ");
    cluster_tests::visit(if line.trim().is_empty() { Visit::Shell } else { Visit::Line(line) })
}
