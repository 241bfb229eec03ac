//! A good bundle, and changes of it.

use super::BundleFile;

pub(super) const CSV: &str = "manifests/otter.clusterserviceversion.yaml";
pub(super) const CRD: &str = "manifests/zoo.example.org_otters.yaml";
pub(super) const ANNOTATIONS: &str = "metadata/annotations.yaml";

/// One change of the good bundle.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// The first occurrence of a text in a file, by another.
    Replace(&'static str, &'static str, &'static str),
    /// A further file.
    Add(&'static str, &'static str),
    /// A file less.
    Remove(&'static str),
    /// A file that is longer by so many bytes, which gzip and base64 together leave as long as they are.
    Pad(&'static str, usize),
}

/// The id of a rule, and changes that break it.
pub(super) type Broken = (&'static str, &'static [Change]);

/// A bundle that nobody has anything to say about.
pub(super) fn otter() -> Vec<BundleFile> {
    let files = [
        (CSV, include_str!("otter/manifests/otter.clusterserviceversion.yaml")),
        (CRD, include_str!("otter/manifests/zoo.example.org_otters.yaml")),
        (ANNOTATIONS, include_str!("otter/metadata/annotations.yaml")),
    ];
    files.map(|(path, text)| BundleFile { path: path.into(), bytes: text.into() }).into()
}

/// The same after some changes. Each has to change something.
pub(super) fn changed(changes: &[Change]) -> Vec<BundleFile> {
    let mut files = otter();
    for change in changes {
        match change {
            Change::Replace(path, old, new) => {
                let file = files.iter_mut().find(|file| file.path == *path).unwrap();
                let text = String::from_utf8(file.bytes.clone()).unwrap();
                assert!(text.contains(old), "{old:?} is not in {path}");
                file.bytes = text.replacen(old, new, 1).into();
            }
            Change::Add(path, text) => files.push(BundleFile { path: (*path).into(), bytes: (*text).into() }),
            Change::Pad(path, bytes) => {
                let file = files.iter_mut().find(|file| file.path == *path).unwrap();
                file.bytes.push(b'#');
                file.bytes.extend(noise().take(*bytes));
            }
            Change::Remove(path) => files.retain(|file| file.path != *path),
        }
    }
    files
}

/// Letters and digits without a pattern, of 64 kinds.
fn noise() -> impl Iterator<Item = u8> {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let next =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(7), next).map(|state| letters[(state >> 58) as usize])
}
