//! From the Go operator's webhooks to ours and back, as docs/migration.md has it, under a load.
//!
//! The Go operator's place is taken by our program in external mode: it serves the certificate of its Secret behind the
//! Go operator's Service, and injects nothing. The webhook configurations are those that the Go operator's charts render;
//! what the Go operator writes at a start is written by the tests.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod cluster_objects;
mod gateward;
mod go_operator;
mod hand_over;
mod layout;
mod nothing_before;
mod prepared;

use std::process::ExitCode;

use cluster_tests::run_in_turn;

/// Where both releases are.
const NAMESPACE: &str = "dynamo-system";

fn main() -> ExitCode {
    let tests = [nothing_before::tests(), hand_over::tests()].into_iter().flatten().collect();
    run_in_turn(tests, async |bed| {
        bed.start_node().await?;
        let namespace = serde_json::json!({"metadata": {"name": NAMESPACE}});
        bed.client().post("/api/v1/namespaces", &namespace).await?.granted().map(drop)
    })
}
