//! The files of a bundle, read.

use std::sync::Arc;

use super::field::{Field, Manifest};
use crate::yaml::{self, Source};

/// The kind that a bundle has once.
pub(super) const CSV: &str = "ClusterServiceVersion";
/// The kind that a bundle provides.
pub(super) const CRD: &str = "CustomResourceDefinition";

/// The folder of the manifests.
pub(super) const MANIFESTS: &str = "manifests/";
/// The folder of the annotations.
pub(super) const METADATA: &str = "metadata/";

/// How hard packers of Go try unless they are told otherwise.
const DEFLATE_LEVEL: u8 = 6;

/// What gzip writes around the packed bytes.
const GZIP_FRAME: usize = 10 + 8;

/// A file as it was given.
#[derive(Debug, Clone)]
pub struct BundleFile {
    /// Its path below the folder of the bundle, with `/`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A file as it was read.
#[derive(Debug)]
pub(super) struct ReadFile {
    pub(super) path: String,
    pub(super) text: Arc<str>,
    /// How many bytes it has once it is packed by gzip and base64.
    pub(super) packed: usize,
    pub(super) documents: Vec<Manifest>,
    pub(super) source: Source,
}

/// All files of a bundle.
#[derive(Debug)]
pub(super) struct Bundle {
    pub(super) files: Vec<ReadFile>,
}

impl Bundle {
    pub(super) fn read(files: &[BundleFile]) -> Self {
        Self { files: files.iter().map(ReadFile::new).collect() }
    }

    /// The files of a folder and of those below it.
    pub(super) fn files_in(&self, folder: &'static str) -> impl Iterator<Item = &ReadFile> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }

    /// The objects that OLM reads: the first document of each file of the folder itself.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Manifest> {
        self.files_in(MANIFESTS)
            .filter(|file| file.is_direct_child(MANIFESTS))
            .filter_map(|file| file.documents.first())
    }

    pub(super) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = Field<'_>> {
        self.objects().filter(move |manifest| manifest.kind() == kind).map(Field::root)
    }

    /// The CSV; the first where there are more.
    pub(super) fn csv(&self) -> Option<Field<'_>> {
        self.of_kind(CSV).next()
    }

    pub(super) fn crds(&self) -> impl Iterator<Item = Field<'_>> {
        self.of_kind(CRD)
    }

    /// The annotations of the bundle: the first file of `metadata/` that has any.
    pub(super) fn annotations(&self) -> Option<Field<'_>> {
        let documents = self.files_in(METADATA).filter_map(|file| file.documents.first());
        documents.map(|manifest| Field::root(manifest).at("annotations")).find(|field| field.value.is_object())
    }
}

impl ReadFile {
    fn new(file: &BundleFile) -> Self {
        let is_yaml = ["yaml", "yml", "json"].iter().any(|known| {
            file.path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(known))
        });
        let in_manifests = file.path.starts_with(MANIFESTS);
        let mut source = if is_yaml || in_manifests { yaml::read(&file.bytes) } else { yaml::read(b"") };
        let document = |document| Manifest { file: file.path.clone(), document };
        let documents = std::mem::take(&mut source.documents).into_iter().map(document).collect();
        let packed = packed(&file.bytes);
        Self { path: file.path.clone(), text: Arc::clone(&source.text), packed, documents, source }
    }

    pub(super) fn is_direct_child(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| !rest.contains('/'))
    }
}

/// The length in base64 of what gzip makes of a file. Packers differ by a few bytes in a hundred.
fn packed(bytes: &[u8]) -> usize {
    let deflated = miniz_oxide::deflate::compress_to_vec(bytes, DEFLATE_LEVEL).len();
    (GZIP_FRAME + deflated).div_ceil(3) * 4
}
