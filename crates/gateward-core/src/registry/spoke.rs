//! Reading a spoke's object as the hub's version.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::conversion::provenance::Provenance;
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

impl<S: Resource, H, C: Convert<S, H>> Lift<H> for Lifter<S, C> {
    fn lift(&self, json: &str) -> Result<Lifted<H>, ReadError> {
        let spoke: S = read(json)?;
        let hub = self
            .conversion
            .lift(&spoke, &mut Provenance::silent(), &mut Issues::new())
            .map_err(|error| refusal(error, json))?;
        Ok(Lifted { hub, written: Arc::new(spoke) })
    }

    fn provenance(&self, written: &(dyn Any + Send + Sync)) -> Provenance {
        let mut provenance = Provenance::recording();
        if let Some(spoke) = written.downcast_ref::<S>() {
            // The same object was lifted a moment ago; only the steps are wanted now.
            let _ = self.conversion.lift(spoke, &mut provenance, &mut Issues::new());
        }
        provenance
    }
}

/// An object that can't be lifted can't be stored: its field has a shape that the other version can't hold.
fn refusal(error: ConversionError, json: &str) -> ReadError {
    let error = DecodeError::at(error.path, error.message, json);
    ReadError::Fields(Issues::from_iter([error.issue(&FieldPath::root()).as_written()]))
}
