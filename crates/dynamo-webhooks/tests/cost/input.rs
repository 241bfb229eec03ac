//! One input of the fuzzer: a manifest, what was done to it, and how it is sent.

use std::fmt;

use gateward::{GroupVersionKind, Review, Webhooks};

use crate::document::Document;
use crate::random::Random;
use crate::seeds::{Seed, other};
use crate::step::Step;

/// How many changes are made at most.
const STEPS: usize = 6;

/// The largest body of an endpoint, as in the server's limits; ConversionReviews could be larger.
const ADMISSION: usize = 7 << 20;
const CONVERSION: usize = 32 << 20;

/// A manifest with what was done to it.
#[derive(Clone)]
pub struct Input<'s> {
    pub seed: &'s Seed,
    pub endpoint: Endpoint,
    steps: Vec<Step>,
}

/// Where an input is sent, and beside what.
#[derive(Debug, Clone, Copy)]
pub enum Endpoint {
    Admission(Review, Old),
    /// A list, of about so many bytes.
    Convert(usize),
}

/// The object that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Old {
    None,
    /// The one that is sent, but for a label.
    Alike,
    /// The manifest as it was.
    Manifest,
    /// What was made of it; the manifest as it was is sent.
    Hostile,
}

impl<'s> Input<'s> {
    /// A manifest as it is.
    pub fn draw(random: &mut Random, seeds: &'s [Seed]) -> Self {
        let (seed, endpoint) = (random.one_of(seeds), Endpoint::draw(random));
        Self { seed, endpoint, steps: Vec::new() }
    }

    /// One that differs a little.
    pub fn mutate(&self, random: &mut Random) -> Self {
        let mut input = self.clone();
        let last = input.steps.len();
        match random.below(8) {
            0 if last > 1 => drop(input.steps.remove(random.below(last))),
            1 | 2 if last > 0 => {
                let index = random.below(last);
                input.steps[index].resize(random);
            }
            3 => input.endpoint = input.endpoint.vary(random),
            _ if last < STEPS => {
                let index = random.below(last + 1);
                let before = Self { steps: input.steps[..index].to_vec(), ..input };
                let step = Step::draw(random, &before.document());
                input.steps.insert(index, step);
            }
            _ => input.steps[last - 1].resize(random),
        }
        input
    }

    fn document(&self) -> Document {
        let mut document = Document::new(self.seed.object.clone());
        for step in &self.steps {
            step.apply(&mut document);
        }
        document
    }

    /// The path and the body, unless there is no such webhook, or the body is too large.
    pub fn request(&self, webhooks: &Webhooks) -> Option<(String, String)> {
        let document = self.document();
        let object = document.text(&document.value);
        let (path, body, most) = match self.endpoint {
            Endpoint::Admission(review, old) => {
                let gvk = GroupVersionKind::of(&format!("nvidia.com/{}", self.seed.version), &self.seed.kind);
                (webhooks.path_of(review, &gvk)?, self.admission(&object, old), ADMISSION)
            }
            Endpoint::Convert(bytes) => ("/convert".to_owned(), self.conversion(&object, bytes), CONVERSION),
        };
        (body.len() <= most).then_some((path, body))
    }

    fn admission(&self, object: &str, old: Old) -> String {
        let Seed { kind, version, object: manifest, .. } = self.seed;
        let manifest = manifest.to_string();
        let alike = || object.replacen(r#""metadata":{"#, r#""metadata":{"labels":{"a":"b"},"#, 1);
        let (operation, object, old) = match old {
            Old::None => ("CREATE", object, "null".to_owned()),
            Old::Alike => ("UPDATE", object, alike()),
            Old::Manifest => ("UPDATE", object, manifest),
            Old::Hostile => ("UPDATE", manifest.as_str(), object.to_owned()),
        };
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","kind":{{"group":"nvidia.com","version":"{version}","kind":"{kind}"}},"resource":{{"group":"nvidia.com","version":"{version}","resource":"any"}},"name":"otter","namespace":"river","operation":"{operation}","userInfo":{{"username":"jane"}},"object":{object},"oldObject":{old}}}}}"#
        )
    }

    fn conversion(&self, object: &str, bytes: usize) -> String {
        let version = other(self.seed.version);
        let objects = vec![object; (bytes / object.len()).max(1)].join(",");
        format!(
            r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"nvidia.com/{version}","objects":[{objects}]}}}}"#
        )
    }

    /// The endpoint, kind and version: the worst of each are kept.
    pub fn target(&self) -> (&'static str, &'s str, &'static str) {
        let endpoint = match self.endpoint {
            Endpoint::Admission(review, _) => review.as_str(),
            Endpoint::Convert(_) => "convert",
        };
        (endpoint, &self.seed.kind, self.seed.version)
    }
}

impl Endpoint {
    fn draw(random: &mut Random) -> Self {
        match random.below(4) {
            0 | 1 => Self::Convert(0),
            2 => Self::Admission(Review::Mutate, Old::None),
            _ => Self::Admission(Review::Validate, Old::None),
        }
    }

    /// The same, sent otherwise.
    fn vary(self, random: &mut Random) -> Self {
        match self {
            Self::Admission(review, _) => {
                Self::Admission(review, *random.one_of(&[Old::None, Old::Alike, Old::Manifest, Old::Hostile]))
            }
            Self::Convert(_) if random.once_in(50) => Self::Convert(30_000_000),
            Self::Convert(_) => Self::Convert(random.size()),
        }
    }
}

impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (endpoint, kind, version) = self.target();
        write!(f, "{endpoint} {kind} {version}, {}", self.seed.name)?;
        match self.endpoint {
            Endpoint::Admission(_, Old::None) | Endpoint::Convert(0) => {}
            Endpoint::Admission(_, old) => write!(f, ", old: {}", format!("{old:?}").to_lowercase())?,
            Endpoint::Convert(bytes) => write!(f, ", a list of {bytes}")?,
        }
        self.steps.iter().try_for_each(|step| write!(f, "; {step}"))
    }
}
