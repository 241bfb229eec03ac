//! Reading a spoke's object as the hub's version.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::conversion::attempt::{Attempt, Typed, finish};
use crate::conversion::object::{self, Conversion, kept_in};
use crate::conversion::provenance::Provenance;
use crate::conversion::route::Route;
use crate::conversion::source::Source;
use crate::conversion::unknown::Way;
use crate::conversion::{ConversionError, Convert, RoundTrip, StructuralSchemas};
use crate::decode::{self, DecodeError, Lenient, Sent};
use crate::field::FieldPath;
use crate::issue::Issues;
use crate::reading::Allowance;
use crate::registry::completeness::{InHub, is_small};
use crate::registry::read::{ReadError, read};
use crate::resource::Resource;

/// The schemas of a kind, where they were declared.
pub(crate) type Schemas<'a> = Option<&'a dyn StructuralSchemas>;

/// An object in two readings.
pub(crate) struct Lifted<H> {
    pub hub: H,
    pub written: Arc<dyn Any + Send + Sync>,
    /// The length of the text that both are of.
    pub bytes: usize,
    /// Whether the hub's version can say all of it.
    pub in_hub: InHub,
}

/// A conversion whose spoke type is forgotten.
pub(crate) trait Lift<H>: Send + Sync {
    /// Reads `json` as the spoke's version and as what [`to_hub`](Self::to_hub) makes of it.
    fn lift(&self, json: &str, schemas: Schemas<'_>) -> Result<Sent<Lifted<H>>, ReadError>;

    /// The same of as much of `json` as fits, with that of `instead` where something doesn't.
    fn lift_leniently(&self, json: &str, instead: Option<&str>, schemas: Schemas<'_>) -> Option<Lenient<Lifted<H>>>;

    /// Where the nodes of the lifted object came from.
    fn provenance(&self, lifted: &Lifted<H>) -> Provenance;

    /// The same of an object that is not at hand any more.
    fn provenance_of(&self, json: &str, schemas: Schemas<'_>) -> Provenance {
        self.lift(json, schemas).map_or_else(|_| Provenance::recording(), |lifted| self.provenance(&lifted.value))
    }

    /// Converts an object of the spoke to the hub's version.
    fn to_hub(
        &self,
        source: &Source<'_>,
        schemas: Schemas<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError>;

    /// Converts an object of the hub to the spoke's version.
    fn to_spoke(
        &self,
        source: &Source<'_>,
        schemas: Schemas<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError>;
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
    fn lift(&self, json: &str, schemas: Schemas<'_>) -> Result<Sent<Lifted<H>>, ReadError> {
        let Sent { value: spoke, allowance } = read::<S>(json)?;
        let value = allowance.during(|| self.as_converted(spoke, json, schemas))?;
        Ok(Sent { value, allowance })
    }

    fn lift_leniently(&self, json: &str, instead: Option<&str>, schemas: Schemas<'_>) -> Option<Lenient<Lifted<H>>> {
        let Lenient { value: spoke, unread, allowance } = decode::leniently::<S>(json, instead)?;
        let value = allowance.during(|| {
            if unread.is_empty() { self.as_converted(spoke, json, schemas).ok() } else { self.typed(spoke, json).ok() }
        })?;
        Some(Lenient { value, unread, allowance })
    }

    fn provenance(&self, lifted: &Lifted<H>) -> Provenance {
        let spoke = lifted.written.downcast_ref::<S>();
        let recorded = |spoke| Allowance::of(lifted.bytes).during(|| recorded(&self.conversion, spoke));
        spoke.map_or_else(Provenance::recording, recorded)
    }

    fn to_hub(
        &self,
        source: &Source<'_>,
        schemas: Schemas<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError> {
        let route = Up { conversion: &self.conversion, schemas };
        object::convert::<S, H>(source, &route, issues).map(|conversion| conversion.converted)
    }

    fn to_spoke(
        &self,
        source: &Source<'_>,
        schemas: Schemas<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError> {
        let route = Down { conversion: &self.conversion, schemas };
        object::convert::<H, S>(source, &route, issues).map(|conversion| conversion.converted)
    }
}

impl<S: Resource, C> Lifter<S, C> {
    /// The object as it is stored. Without annotations of conversion, and where it comes back without one, a small one
    /// is what the types say alone.
    fn as_converted<H: Resource>(&self, spoke: S, json: &str, schemas: Schemas<'_>) -> Result<Lifted<H>, ReadError>
    where
        C: Convert<S, H>,
    {
        let route = Up { conversion: &self.conversion, schemas };
        let of_object = |error| refusal(error, json);
        let bytes = json.len();
        let source = Source::read(json).map_err(of_object)?;
        let metadata = source.read_metadata().map_err(of_object)?;
        let mut notes = Issues::new();
        let conversion = if kept_in::<S, H>(&metadata, &route).is_empty() {
            let typed = Typed::of(&spoke, &route).map_err(of_object)?.tried(&spoke, &route, bytes);
            if typed.lost.as_ref().is_some_and(Vec::is_empty) && is_small(json) {
                return Ok(Lifted { hub: typed.result, written: Arc::new(spoke), bytes, in_hub: InHub::Tried(None) });
            }
            finish(&source, Some(typed), &route, &mut notes).map(|converted| Conversion { converted, reduced: None })
        } else {
            object::convert::<S, H>(&source, &route, &mut notes)
        };
        let Conversion { converted, reduced } = conversion.map_err(of_object)?;
        let written = match reduced {
            Some(reduced) => read::<S>(&reduced)?.value,
            None => spoke,
        };
        let in_hub = InHub::of(bytes, H::VERSION, &converted, &notes);
        Ok(Lifted { hub: read::<H>(&converted.json)?.value, written: Arc::new(written), bytes, in_hub })
    }

    fn typed<H: Resource>(&self, spoke: S, json: &str) -> Result<Lifted<H>, ConversionError>
    where
        C: Convert<S, H>,
    {
        let hub = self.conversion.lift(&spoke, &mut Provenance::silent(), &mut Issues::new())?;
        Ok(Lifted { hub, written: Arc::new(spoke), bytes: json.len(), in_hub: InHub::Untried })
    }
}

/// From the spoke to the hub.
struct Up<'a, C> {
    conversion: &'a C,
    schemas: Schemas<'a>,
}

impl<S, H, C: Convert<S, H>> Route<S, H> for Up<'_, C> {
    fn convert(&self, object: &S, issues: &mut Issues) -> Result<(H, RoundTrip), ConversionError> {
        self.conversion.lift_telling(object, issues)
    }

    fn convert_back(&self, object: &H, issues: &mut Issues) -> Result<S, ConversionError> {
        self.conversion.lower(object, issues)
    }

    fn way(&self, from: &S, _: &H) -> Way {
        Way::Up(recorded(self.conversion, from))
    }

    fn annotations(&self) -> &'static [&'static str] {
        self.conversion.annotations()
    }

    fn schemas(&self) -> Schemas<'_> {
        self.schemas
    }
}

/// From the hub to the spoke.
struct Down<'a, C> {
    conversion: &'a C,
    schemas: Schemas<'a>,
}

impl<S, H, C: Convert<S, H>> Route<H, S> for Down<'_, C> {
    fn convert(&self, object: &H, issues: &mut Issues) -> Result<(S, RoundTrip), ConversionError> {
        self.conversion.lower_telling(object, issues)
    }

    fn convert_back(&self, object: &S, issues: &mut Issues) -> Result<H, ConversionError> {
        self.conversion.lift(object, &mut Provenance::silent(), issues)
    }

    fn way(&self, _: &H, to: &S) -> Way {
        Way::Down(recorded(self.conversion, to))
    }

    fn annotations(&self) -> &'static [&'static str] {
        self.conversion.annotations()
    }

    fn schemas(&self) -> Schemas<'_> {
        self.schemas
    }
}

/// Where the nodes of an object came from that lifts to the hub.
fn recorded<S, H>(conversion: &impl Convert<S, H>, spoke: &S) -> Provenance {
    let mut provenance = Provenance::recording();
    // The object was converted a moment ago; only the steps are wanted now.
    let _ = conversion.lift(spoke, &mut provenance, &mut Issues::new());
    provenance
}

/// An object that can't be lifted can't be stored: its field has a shape that the other version can't hold.
fn refusal(error: ConversionError, json: &str) -> ReadError {
    let error = DecodeError::at(error.path, error.message, json);
    ReadError::Fields(Issues::from_iter([error.issue(&FieldPath::root()).as_written()]))
}
