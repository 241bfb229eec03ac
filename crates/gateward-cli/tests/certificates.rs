//! `generate certs`: what is made, what is kept, and what is never overwritten.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

const FILES: [&str; 3] = ["ca.crt", "tls.crt", "tls.key"];

/// A run of the command for a folder.
fn certs(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gateward").unwrap();
    command.args(["generate", "certs", "--out"]).arg(folder).args(arguments);
    command
}

/// A folder with certificates for `otter.example.org`.
fn made(further: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    certs(folder.path(), &[&["--host", "otter.example.org"][..], further].concat()).assert().code(0);
    folder
}

fn read(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

fn contents(folder: &TempDir) -> [Vec<u8>; 3] {
    FILES.map(|name| read(folder, name))
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(folder: &TempDir, name: &str) -> u32 {
    fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777
}

/// What the command says when it fails.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = certs(folder, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_certificate_comes_with_its_ca_and_without_the_key_of_that() {
    let folder = made(&[]);
    assert_eq!(names(&folder), FILES);
    assert_eq!(mode(&folder, "tls.key"), 0o600);
}

#[test]
fn the_key_of_the_ca_is_written_where_it_is_asked_for() {
    let folder = made(&["--keep-ca-key"]);
    assert_eq!(names(&folder), ["ca.crt", "ca.key", "tls.crt", "tls.key"]);
    assert_eq!(mode(&folder, "ca.key"), 0o600);
}

#[test]
fn good_certificates_are_kept() {
    let folder = made(&[]);
    let before = contents(&folder);
    certs(folder.path(), &["--host", "otter.example.org"]).assert().code(0);
    assert_eq!(contents(&folder), before);
}

#[test]
fn a_renewal_makes_others() {
    let folder = made(&[]);
    let before = contents(&folder);
    fs::set_permissions(folder.path().join("tls.key"), PermissionsExt::from_mode(0o644)).unwrap();
    certs(folder.path(), &["--host", "otter.example.org", "--renew"]).assert().code(0);
    let after = contents(&folder);
    assert!(before.iter().zip(&after).all(|(before, after)| before != after));
    assert_eq!(mode(&folder, "tls.key"), 0o600);
}

#[test]
fn a_renewal_is_signed_by_the_ca_whose_key_was_kept() {
    let folder = made(&["--keep-ca-key"]);
    let (ca, ca_key, serving) = (read(&folder, "ca.crt"), read(&folder, "ca.key"), read(&folder, "tls.crt"));
    certs(folder.path(), &["--host", "10.0.0.1", "--renew"]).assert().code(0);
    assert_eq!((read(&folder, "ca.crt"), read(&folder, "ca.key")), (ca, ca_key));
    assert_ne!(read(&folder, "tls.crt"), serving);
    certs(folder.path(), &["--host", "10.0.0.1", "--check"]).assert().code(0);
}

#[test]
fn what_is_there_and_does_not_do_is_left_alone() {
    let folder = made(&[]);
    let before = contents(&folder);
    let error = refused(folder.path(), &["--host", "beaver.example.org"]);
    assert!(error.contains("lacks the names beaver.example.org") && error.contains("--renew"), "{error}");
    assert_eq!(contents(&folder), before);
    fs::write(folder.path().join("tls.key"), "mine").unwrap();
    let error = refused(folder.path(), &["--host", "otter.example.org"]);
    assert!(error.contains("tls.key: no private key in PEM"), "{error}");
    assert_eq!(read(&folder, "tls.key"), b"mine");
    certs(folder.path(), &["--host", "otter.example.org", "--renew"]).assert().code(0);
    certs(folder.path(), &["--host", "otter.example.org", "--check"]).assert().code(0);
}

#[test]
fn a_lone_key_is_left_alone() {
    for name in ["ca.key", "tls.key"] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), "mine").unwrap();
        refused(folder.path(), &["--host", "otter.example.org"]);
        assert_eq!((names(&folder), read(&folder, name)), (vec![name.to_owned()], b"mine".to_vec()));
    }
}

#[test]
fn a_key_that_is_another_cas_signs_nothing() {
    let (folder, other) = (made(&["--keep-ca-key"]), made(&["--keep-ca-key"]));
    fs::copy(other.path().join("ca.key"), folder.path().join("ca.key")).unwrap();
    let error = refused(folder.path(), &["--host", "otter.example.org", "--renew"]);
    assert!(error.contains("ca.key and ca.crt") && error.contains("does not belong"), "{error}");
}

#[test]
fn a_check_says_what_is_wrong_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let check = |host: &str| certs(folder.path(), &["--host", host, "--check"]).output().unwrap();
    assert_eq!(check("otter.example.org").status.code(), Some(1));
    assert!(names(&folder).is_empty());
    certs(folder.path(), &["--host", "otter.example.org"]).assert().code(0);
    assert_eq!(check("otter.example.org").status.code(), Some(0));
    let lacking = check("10.0.0.1");
    assert_eq!(lacking.status.code(), Some(1));
    assert!(String::from_utf8(lacking.stdout).unwrap().contains("lacks the names 10.0.0.1"));
}

#[test]
fn a_host_is_a_name_or_an_address_and_no_wildcard() {
    let folder = tempfile::tempdir().unwrap();
    certs(folder.path(), &["--host", "localhost", "--host", "127.0.0.1", "--host", "::1"]).assert().code(0);
    for host in ["*.example.org", "otter_*", "two words", "10.0.0.300", ""] {
        refused(folder.path(), &["--host", host]);
    }
    assert!(refused(folder.path(), &["--host", "*.example.org"]).contains("name each host"));
}

#[test]
fn without_a_host_it_is_that_of_the_service() {
    let folder = tempfile::tempdir().unwrap();
    certs(folder.path(), &["--release", "river", "--namespace", "zoo"]).assert().code(0);
    let name = "river-dynamo-operator-webhook-service.zoo.svc";
    certs(folder.path(), &["--host", name, "--check"]).assert().code(0);
    certs(folder.path(), &["--host", "river-dynamo-operator-webhook-service", "--check"]).assert().code(1);
}

#[test]
fn a_life_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    for days in ["0", "3651", "-1", "1.5"] {
        refused(folder.path(), &["--host", "otter.example.org", "--days", days]);
    }
    certs(folder.path(), &["--host", "otter.example.org", "--days", "3650"]).assert().code(0);
}

#[test]
fn a_link_is_not_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    fs::write(&theirs, "theirs").unwrap();
    let out = folder.path().join("certs");
    fs::create_dir(&out).unwrap();
    symlink(&theirs, out.join("tls.key")).unwrap();
    refused(&out, &["--host", "otter.example.org", "--renew"]);
    assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
}
