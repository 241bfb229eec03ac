//! The volumes of a Pod: what is in them, and where a container finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::environment::{Source, Sources, field};
use super::fields::{list, text};
use super::root::{Access, Mount};

/// The files of a volume, by their paths.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A part of what a volume holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// What a `ConfigMap` or a Secret says.
    Keys { source: Source, items: Vec<(String, String)>, needed: Needed },
    /// A token of the Pod's `ServiceAccount`.
    Token { path: String, token: Token },
    /// Fields of the Pod itself, by the files' paths.
    Fields(Vec<(String, String)>),
}

/// Whether a Pod starts without something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needed {
    Always,
    Optionally,
}

/// What a token is asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Token {
    /// Empty for the API server's own.
    pub(crate) audience: String,
    pub(crate) seconds: u64,
}

/// The parts of a volume; none where it only is a folder.
pub(crate) fn parts(volume: &Value) -> Result<Vec<Part>, String> {
    if let Some(sources) = volume.get("projected") {
        let parts: Result<Vec<_>, _> = list(sources, "/sources").iter().map(parts).collect();
        return parts.map(|parts| parts.concat());
    }
    let Some(kinds) = volume.as_object() else { return Err("no volume".into()) };
    let Some((kind, content)) = kinds.iter().find(|(kind, _)| *kind != "name") else { return Ok(Vec::new()) };
    let part = match kind.as_str() {
        "emptyDir" => return Ok(Vec::new()),
        "configMap" => keys(Source::ConfigMap(text(content, "/name").into()), content),
        // Alone it is named otherwise than in a projection.
        "secret" => keys(Source::Secret([text(content, "/secretName"), text(content, "/name")].concat()), content),
        "downwardAPI" => Part::Fields(
            list(content, "/items")
                .iter()
                .map(|item| (text(item, "/path").into(), text(item, "/fieldRef/fieldPath").into()))
                .collect(),
        ),
        "serviceAccountToken" => Part::Token {
            path: text(content, "/path").into(),
            token: Token {
                audience: text(content, "/audience").into(),
                seconds: content["expirationSeconds"].as_u64().unwrap_or(3600),
            },
        },
        _ => return Err(format!("volumes of the kind {kind} are not known here")),
    };
    Ok(vec![part])
}

fn keys(source: Source, content: &Value) -> Part {
    let items = list(content, "/items").iter();
    Part::Keys {
        source,
        items: items.map(|item| (text(item, "/key").into(), text(item, "/path").into())).collect(),
        needed: if content["optional"] == true { Needed::Optionally } else { Needed::Always },
    }
}

/// All sources of these parts.
pub(crate) fn sources(parts: &[Part]) -> BTreeSet<Source> {
    let source = |part: &Part| match part {
        Part::Keys { source, .. } => Some(source.clone()),
        _ => None,
    };
    parts.iter().filter_map(source).collect()
}

/// The files of a volume, or what they lack.
pub(crate) fn files(
    parts: &[Part],
    pod: &Value,
    ip: Ipv4Addr,
    sources: &Sources,
    tokens: &BTreeMap<Token, String>,
) -> Result<Files, String> {
    let mut files = Files::new();
    for part in parts {
        match part {
            Part::Keys { source, items, needed } => match (sources.get(source), needed) {
                (Some(content), _) => files.extend(chosen(source, content, items, *needed)?),
                (None, Needed::Optionally) => {}
                (None, Needed::Always) => return Err(format!("{source:?} doesn't exist")),
            },
            Part::Token { path, token } => {
                let token = tokens.get(token).ok_or("no token")?;
                files.insert(path.clone(), token.clone().into_bytes());
            }
            Part::Fields(items) => {
                for (path, of) in items {
                    files.insert(path.clone(), field(of, pod, ip)?.into_bytes());
                }
            }
        }
    }
    Ok(files)
}

fn chosen(source: &Source, content: &Files, items: &[(String, String)], needed: Needed) -> Result<Files, String> {
    if items.is_empty() {
        return Ok(content.clone());
    }
    let mut files = Files::new();
    for (key, path) in items {
        match (content.get(key), needed) {
            (Some(value), _) => drop(files.insert(path.clone(), value.clone())),
            (None, Needed::Optionally) => {}
            (None, Needed::Always) => return Err(format!("{source:?} has no key {key}")),
        }
    }
    Ok(files)
}

/// Where a container mounts the volumes that lie in a folder.
pub(crate) fn mounts(container: &Value, pod: &Value, folder: &Path) -> Vec<Mount> {
    let mount = |mount: &Value| {
        let name = text(mount, "/name");
        let volume = list(pod, "/spec/volumes").iter().find(|volume| text(volume, "/name") == name);
        let writable = volume.is_some_and(|volume| volume.get("emptyDir").is_some()) && mount["readOnly"] != true;
        Mount {
            source: folder.join(name).join(text(mount, "/subPath")),
            place: text(mount, "/mountPath").into(),
            access: if writable { Access::Write } else { Access::Read },
        }
    };
    list(container, "/volumeMounts").iter().map(mount).collect()
}

/// A folder with files that change all at once, as kubelet has it: they are reached through a link `..data` that is
/// replaced, from a folder of one state to that of the next.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    written: Option<Files>,
    states: u32,
}

impl Folder {
    pub(crate) fn make(path: PathBuf) -> std::io::Result<Self> {
        std::fs::create_dir_all(&path)?;
        Ok(Self { path, written: None, states: 0 })
    }

    /// Changes the folder to hold these files.
    pub(crate) fn write(&mut self, files: &Files) -> std::io::Result<()> {
        if self.written.as_ref() == Some(files) {
            return Ok(());
        }
        self.states += 1;
        let state = format!("..{}", self.states);
        for (name, content) in files {
            let file = self.path.join(&state).join(name);
            std::fs::create_dir_all(file.parent().unwrap_or(&self.path))?;
            std::fs::write(file, content)?;
        }
        std::fs::create_dir_all(self.path.join(&state))?;
        std::os::unix::fs::symlink(&state, self.path.join("..new"))?;
        std::fs::rename(self.path.join("..new"), self.path.join("..data"))?;
        let (old, new) = (self.written.as_ref().map(tops).unwrap_or_default(), tops(files));
        for name in new.difference(&old) {
            std::os::unix::fs::symlink(Path::new("..data").join(name), self.path.join(name))?;
        }
        for name in old.difference(&new) {
            std::fs::remove_file(self.path.join(name))?;
        }
        if self.states > 1 {
            std::fs::remove_dir_all(self.path.join(format!("..{}", self.states - 1)))?;
        }
        self.written = Some(files.clone());
        Ok(())
    }
}

/// What a folder of files shows at its top.
fn tops(files: &Files) -> BTreeSet<String> {
    let top = |name: &String| match Path::new(name).components().next() {
        Some(Component::Normal(top)) => Some(top.to_string_lossy().into_owned()),
        _ => None,
    };
    files.keys().filter_map(top).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const IP: Ipv4Addr = Ipv4Addr::new(10, 244, 1, 2);

    fn held(volume: &Value, sources: &Sources) -> Result<Files, String> {
        let tokens = BTreeMap::from([(Token { audience: String::new(), seconds: 3607 }, "T".to_owned())]);
        let pod = json!({"metadata": {"name": "otter", "namespace": "zoo"}});
        files(&parts(volume).unwrap(), &pod, IP, sources, &tokens)
    }

    fn pair() -> Sources {
        let content = Files::from([("tls.crt".to_owned(), b"c".to_vec()), ("tls.key".to_owned(), b"k".to_vec())]);
        Sources::from([(Source::Secret("pair".into()), content)])
    }

    #[test]
    fn puts_together_what_is_projected() {
        let volume = json!({"name": "v", "projected": {"sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"secret": {"name": "pair", "items": [{"key": "tls.crt", "path": "x/ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        ]}});
        let files = held(&volume, &pair()).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["namespace", "token", "x/ca.crt"]);
        assert_eq!((&*files["namespace"], &*files["token"], &*files["x/ca.crt"]), (&b"zoo"[..], &b"T"[..], &b"c"[..]));
    }

    #[test]
    fn does_without_a_secret_only_where_it_is_optional() {
        let volume = |optional: bool| json!({"name": "v", "secret": {"secretName": "other", "optional": optional}});
        assert_eq!(held(&volume(true), &pair()), Ok(Files::new()));
        assert!(held(&volume(false), &pair()).is_err());
    }

    #[test]
    fn refuses_a_volume_of_which_it_knows_nothing() {
        assert!(parts(&json!({"name": "v", "hostPath": {"path": "/"}})).is_err());
    }

    #[test]
    fn changes_all_files_of_a_folder_at_once() {
        let path = std::env::temp_dir().join(format!("gateward-folder-{}", std::process::id()));
        let mut folder = Folder::make(path.clone()).unwrap();
        let files = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, content)| ((*name).to_owned(), content.as_bytes().to_vec())).collect::<Files>()
        };
        folder.write(&files(&[("a", "1"), ("b/c", "1")])).unwrap();
        let before = std::fs::read_link(path.join("..data")).unwrap();
        folder.write(&files(&[("a", "2"), ("d", "2")])).unwrap();
        assert_ne!(before, std::fs::read_link(path.join("..data")).unwrap());
        assert_eq!(std::fs::read_link(path.join("a")).unwrap(), Path::new("..data/a"));
        assert_eq!(std::fs::read(path.join("a")).unwrap(), b"2");
        assert!(path.join("d").is_file() && !path.join("b").exists());
        std::fs::remove_dir_all(path).unwrap();
    }
}
