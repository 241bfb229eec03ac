//! Reading a spoke's object as the hub's version.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::conversion::object::{self, Route, Source};
use crate::conversion::provenance::Provenance;
use crate::conversion::unknown::Way;
use crate::conversion::{ConversionError, Convert};
use crate::decode::DecodeError;
use crate::field::FieldPath;
use crate::issue::Issues;
use crate::registry::judge::{ReadError, read};
use crate::resource::Resource;

/// An object in two readings.
pub(crate) struct Lifted<H> {
    pub hub: H,
    pub written: Arc<dyn Any + Send + Sync>,
}

/// A conversion whose spoke type is forgotten.
pub(crate) trait Lift<H>: Send + Sync {
    /// Reads `json` as the spoke's version and lifts it.
    fn lift(&self, json: &str) -> Result<Lifted<H>, ReadError>;

    /// Where the nodes of the lifted object came from.
    fn provenance(&self, written: &(dyn Any + Send + Sync)) -> Provenance;

    /// The same of an object that is not at hand any more.
    fn provenance_of(&self, json: &str) -> Provenance {
        self.lift(json).map_or_else(|_| Provenance::recording(), |lifted| self.provenance(lifted.written.as_ref()))
    }

    /// Converts an object of the spoke to the hub's version.
    fn to_hub(&self, source: &Source<'_>, issues: &mut Issues) -> Result<String, ConversionError>;

    /// Converts an object of the hub to the spoke's version.
    fn to_spoke(&self, source: &Source<'_>, issues: &mut Issues) -> Result<String, ConversionError>;
}

pub(crate) struct Lifter<S, C> {
    conversion: C,
    spoke: PhantomData<fn() -> S>,
}

impl<S, C> Lifter<S, C> {
    pub(crate) fn new(conversion: C) -> Self {
        Self { conversion, spoke: PhantomData }
    }
}

impl<S: Resource, H: Resource, C: Convert<S, H>> Lift<H> for Lifter<S, C> {
    fn lift(&self, json: &str) -> Result<Lifted<H>, ReadError> {
        let spoke: S = read(json)?;
        let hub = self.conversion.view(&spoke, &mut Provenance::silent()).map_err(|error| refusal(error, json))?;
        Ok(Lifted { hub, written: Arc::new(spoke) })
    }

    fn provenance(&self, written: &(dyn Any + Send + Sync)) -> Provenance {
        written.downcast_ref::<S>().map_or_else(Provenance::recording, |spoke| recorded(&self.conversion, spoke))
    }

    fn to_hub(&self, source: &Source<'_>, issues: &mut Issues) -> Result<String, ConversionError> {
        object::convert::<S, H>(source, &Up(&self.conversion), issues)
    }

    fn to_spoke(&self, source: &Source<'_>, issues: &mut Issues) -> Result<String, ConversionError> {
        object::convert::<H, S>(source, &Down(&self.conversion), issues)
    }
}

/// From the spoke to the hub.
struct Up<'a, C>(&'a C);

impl<S, H, C: Convert<S, H>> Route<S, H> for Up<'_, C> {
    fn convert(&self, object: &S, issues: &mut Issues) -> Result<H, ConversionError> {
        self.0.lift(object, &mut Provenance::silent(), issues)
    }

    fn way(&self, from: &S, _: &H) -> Way {
        Way::Up(recorded(self.0, from))
    }
}

/// From the hub to the spoke.
struct Down<'a, C>(&'a C);

impl<S, H, C: Convert<S, H>> Route<H, S> for Down<'_, C> {
    fn convert(&self, object: &H, issues: &mut Issues) -> Result<S, ConversionError> {
        self.0.lower(object, issues)
    }

    fn way(&self, _: &H, to: &S) -> Way {
        Way::Down(recorded(self.0, to))
    }
}

/// Where the nodes of an object came from that lifts to the hub.
fn recorded<S, H>(conversion: &impl Convert<S, H>, spoke: &S) -> Provenance {
    let mut provenance = Provenance::recording();
    // The object was converted a moment ago; only the steps are wanted now.
    let _ = conversion.view(spoke, &mut provenance);
    provenance
}

/// An object that can't be lifted can't be stored: its field has a shape that the other version can't hold.
fn refusal(error: ConversionError, json: &str) -> ReadError {
    let error = DecodeError::at(error.path, error.message, json);
    ReadError::Fields(Issues::from_iter([error.issue(&FieldPath::root()).as_written()]))
}
