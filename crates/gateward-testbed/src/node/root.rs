//! What a container sees as its files: the machine's programs, ours, its volumes, and nothing else.
//!
//! There is one image. Its `/usr` and its libraries are the machine's, the rest is in memory and the container's own,
//! so that anything can be mounted anywhere and nothing of the machine is written. `gateward`, the binary under test,
//! `kubectl` and what else is given are found by their names.

use std::fmt::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Where programs are looked for in a container.
pub(crate) const PATH: &str = "/image:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What is said when a container has its files.
pub(crate) const READY: &str = "ready";

/// Folders that are the machine's, where it has them.
const SHARED: [&str; 13] =
    ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "opt", "nix", "etc/alternatives", "proc", "dev", "sys"];
/// Folders that a container has for itself.
const OWN: [&str; 6] = ["etc", "image", "root", "run", "tmp", "var/tmp"];

/// What a container may do to something mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A file or folder of the machine at a place of the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) source: PathBuf,
    pub(crate) place: String,
    pub(crate) access: Access,
}

/// The files that all containers begin with.
#[derive(Debug)]
pub(crate) struct Image {
    folder: PathBuf,
    shared: Vec<&'static str>,
    /// Programs of ours, by their names.
    programs: Vec<(&'static str, PathBuf)>,
}

impl Image {
    /// Makes the image in a folder, with programs of ours by their names.
    pub(crate) fn make(folder: PathBuf, programs: Vec<(&'static str, PathBuf)>) -> anyhow::Result<Self> {
        let content = folder.join("content");
        for name in OWN {
            std::fs::create_dir_all(content.join(name))?;
        }
        std::fs::create_dir(folder.join("root"))?;
        symlink("../run", content.join("var/run"))?;
        let mut shared = Vec::new();
        for name in SHARED {
            let original = Path::new("/").join(name);
            if let Ok(link) = std::fs::read_link(&original) {
                symlink(link, content.join(name))?;
            } else if original.is_dir() {
                std::fs::create_dir(content.join(name))?;
                shared.push(name);
            }
        }
        write_settings(&content.join("etc")).context("cannot make the image of containers")?;
        for (name, _) in &programs {
            std::fs::write(content.join("image").join(name), "")?;
        }
        Ok(Self { folder, shared, programs })
    }

    /// The shell script that makes a container's files, in a mount namespace of its own, and becomes the command
    /// there that its arguments are. On standard error it tells what goes wrong, and at last [`READY`]; the command
    /// has the standard output for both.
    pub(crate) fn script(&self, mounts: &[Mount], root: Access) -> String {
        let folder = quoted(&self.folder);
        let mut script = format!("set -e\nmount -t tmpfs root {folder}/root\ncd {folder}/root\n");
        let _ = writeln!(script, "cp -a {folder}/content/. .");
        let _ = writeln!(script, "for name in {}; do mount --rbind /$name $name; done", self.shared.join(" "));
        for (name, program) in &self.programs {
            let _ = writeln!(script, "mount --bind {} image/{name}", quoted(program));
        }
        let mut mounts: Vec<_> = mounts.iter().collect();
        // What lies in another mount comes after it.
        mounts.sort_by_key(|mount| mount.place.matches('/').count());
        for mount in mounts {
            script.push_str(&lines(mount));
        }
        if root == Access::Read {
            script.push_str("mount -o remount,bind,ro .\n");
        }
        // Who enters the container from then on enters its root.
        let _ = writeln!(script, "exec chroot . sh -c 'echo {READY} >&2; exec \"$@\" 2>&1' sh \"$@\"");
        script
    }
}

/// The settings of the machine without which its programs don't run, and those that no machine is without.
fn write_settings(etc: &Path) -> std::io::Result<()> {
    for name in ["ld.so.cache", "nsswitch.conf"] {
        let original = Path::new("/etc").join(name);
        if original.is_file() {
            std::fs::copy(original, etc.join(name))?;
        }
    }
    std::fs::write(etc.join("passwd"), "root:x:0:0:root:/root:/bin/sh\n")?;
    std::fs::write(etc.join("group"), "root:x:0:\n")?;
    std::fs::write(etc.join("hosts"), "127.0.0.1 localhost\n10.96.0.1 kubernetes.default.svc kubernetes.default\n")
}

/// Mounts one thing, over nothing: its place is made.
fn lines(mount: &Mount) -> String {
    let (source, place) = (quoted(&mount.source), quoted(Path::new(mount.place.trim_start_matches('/'))));
    let option = match mount.access {
        Access::Read => " -o ro",
        Access::Write => "",
    };
    format!(
        "if [ -d {source} ]; then mkdir -p {place}; else mkdir -p \"$(dirname {place})\"; : > {place}; fi\n\
         mount --bind{option} {source} {place}\n"
    )
}

/// A word that the shell takes as it is.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(place: &str, access: Access) -> Mount {
        Mount { source: "/volumes/it's".into(), place: place.into(), access }
    }

    #[test]
    fn mounts_the_outer_place_before_the_inner_one() {
        let image = Image { folder: "/i".into(), shared: vec!["usr"], programs: Vec::new() };
        let script = image.script(&[mount("/a/b", Access::Write), mount("/a", Access::Write)], Access::Write);
        assert!(script.find("'a'\n") < script.find("'a/b'\n"), "{script}");
    }

    #[test]
    fn leaves_nothing_of_a_name_to_the_shell() {
        assert!(lines(&mount("/x y", Access::Read)).ends_with(
            r"mount --bind -o ro '/volumes/it'\''s' 'x y'
"
        ));
    }

    #[test]
    fn closes_the_root_after_everything_is_mounted() {
        let image = Image { folder: "/i".into(), shared: vec!["usr"], programs: Vec::new() };
        let script = image.script(&[mount("/a", Access::Write)], Access::Read);
        assert!(script.contains("mount -o remount,bind,ro .\nexec chroot . "), "{script}");
    }
}
