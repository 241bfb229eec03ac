//! A kubeconfig whose token has expired: each command that asks a cluster says so once, and which file it is.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::json;
use tempfile::TempDir;

/// An API server that knows nobody, for as long as the test runs.
fn api_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().for_each(|client| refuse(client.unwrap())));
    address
}

fn refuse(mut client: TcpStream) {
    let head = BufReader::new(client.try_clone().unwrap());
    // A client that has gone hears nothing.
    let _ = head.lines().map_while(Result::ok).find(String::is_empty);
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized",
        "code": 401,
    })
    .to_string();
    let _ = write!(
        client,
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: \
         close\r\n\r\n{status}",
        status.len()
    );
}

/// A folder with the kubeconfig of a user at that API server.
fn kubeconfig(server: SocketAddr) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("expired.json");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": format!("http://{server}")}}],
        "users": [{"name": "a", "user": {"token": "expired"}}],
    });
    std::fs::write(&file, config.to_string()).unwrap();
    (folder, file)
}

fn is_refused(command: &mut Command, file: &Path) {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{command:?}: {said}");
    let wanted = format!(
        "error: the API server refuses the credentials of the kubeconfig {} (401 Unauthorized): its token or certificate \
         is wrong or has expired; sign in again, or name a kubeconfig with valid ones\n",
        file.display()
    );
    assert_eq!(said, wanted, "{command:?}");
}

#[test]
fn a_kubeconfig_that_an_option_names_is_called_refused() {
    let (_folder, file) = kubeconfig(api_server());
    for arguments in [
        &["check", "-"][..],
        &["serve", "--local"],
        &["dev", "--context", "a"],
        &["dev", "--context", "a", "--restore"],
    ] {
        let mut command = Command::cargo_bin("gateward").unwrap();
        command.args(arguments).arg("--kubeconfig").arg(&file).env_remove("KUBECONFIG").env_remove("GATEWARD_LOG");
        is_refused(&mut command, &file);
    }
}

#[test]
fn a_kubeconfig_of_the_environment_is_called_refused() {
    let (_folder, file) = kubeconfig(api_server());
    for arguments in [
        &["doctor", "--preflight", "--release", "river", "--namespace", "zoo"][..],
        &["certs", "status"],
        &["certs", "rotate"],
        &["uninstall", "--release", "river", "--namespace", "zoo"],
    ] {
        let mut command = Command::cargo_bin("gateward").unwrap();
        is_refused(command.args(arguments).env("KUBECONFIG", &file), &file);
    }
}
