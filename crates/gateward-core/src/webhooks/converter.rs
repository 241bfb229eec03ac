//! Reading a spoke's object as the hub's version.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::conversion::attempt::{Attempt, Typed, finish};
use crate::conversion::keys::ConversionKeys;
use crate::conversion::object;
use crate::conversion::provenance::Direction;
use crate::conversion::provenance::Provenance;
use crate::conversion::route::Route;
use crate::conversion::source::Source;
use crate::conversion::{ConversionError, Convert, RoundTrip, StructuralSchemas};
use crate::json::decode::{self, DecodeError, Lenient, Lists, Sent};
use crate::json::reading::Allowance;
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;
use crate::rule::resource::Resource;
use crate::webhooks::completeness::{InHub, is_small};
use crate::webhooks::read::{ReadError, read};

/// What a kind says of its conversions, of all alike.
#[derive(Clone, Copy)]
pub(crate) struct ConversionSettings<'a> {
    /// The schemas of the kind, where they were declared.
    pub schemas: Option<&'a dyn StructuralSchemas>,
    /// The keys under which conversion writes.
    pub keys: &'a ConversionKeys,
}

/// An object in two readings.
pub(crate) struct HubReading<H> {
    pub hub: H,
    pub written: Arc<dyn Any + Send + Sync>,
    /// The length of the text that both are of.
    pub bytes: usize,
    /// Whether the hub's version can say all of it.
    pub in_hub: InHub,
}

/// A conversion whose spoke type is forgotten.
pub(crate) trait AnyConversion<H>: Send + Sync {
    /// Reads `json` as the spoke's version and as what [`to_hub`](Self::to_hub) makes of it.
    fn read(&self, json: &str, settings: ConversionSettings<'_>) -> Result<Sent<HubReading<H>>, ReadError>;

    /// The same of as much of `json` as fits, with that of `instead` where something doesn't.
    fn read_leniently(&self, json: &str, instead: Option<&str>, lists: Lists) -> Option<Lenient<HubReading<H>>>;

    /// Where the nodes of the converted object came from.
    fn provenance(&self, reading: &HubReading<H>) -> Provenance;

    /// The same of an object that is not at hand any more.
    fn provenance_of(&self, json: &str, settings: ConversionSettings<'_>) -> Provenance {
        self.read(json, settings).map_or_else(|_| Provenance::recording(), |reading| self.provenance(&reading.value))
    }

    /// Converts an object of the spoke to the hub's version.
    fn to_hub(
        &self,
        source: &Source<'_>,
        settings: ConversionSettings<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError>;

    /// Converts an object of the hub to the spoke's version.
    fn to_spoke(
        &self,
        source: &Source<'_>,
        settings: ConversionSettings<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError>;
}

pub(crate) struct Converter<S, C> {
    conversion: C,
    spoke: PhantomData<fn() -> S>,
}

impl<S, C> Converter<S, C> {
    pub(crate) fn new(conversion: C) -> Self {
        Self { conversion, spoke: PhantomData }
    }
}

impl<S: Resource, H: Resource, C: Convert<S, H>> AnyConversion<H> for Converter<S, C> {
    fn read(&self, json: &str, settings: ConversionSettings<'_>) -> Result<Sent<HubReading<H>>, ReadError> {
        let Sent { value: spoke, allowance } = read::<S>(json)?;
        let value = allowance.during(|| self.as_converted(spoke, json, settings))?;
        Ok(Sent { value, allowance })
    }

    fn read_leniently(&self, json: &str, instead: Option<&str>, lists: Lists) -> Option<Lenient<HubReading<H>>> {
        let Lenient { value: spoke, unread, allowance } = decode::leniently::<S>(json, instead, lists)?;
        let value = allowance.during(|| self.typed(spoke, json)).ok()?;
        Some(Lenient { value, unread, allowance })
    }

    fn provenance(&self, reading: &HubReading<H>) -> Provenance {
        let spoke = reading.written.downcast_ref::<S>();
        let recorded = |spoke| Allowance::of(reading.bytes).during(|| recorded(&self.conversion, spoke));
        spoke.map_or_else(Provenance::recording, recorded)
    }

    fn to_hub(
        &self,
        source: &Source<'_>,
        settings: ConversionSettings<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError> {
        let route = ToHub { conversion: &self.conversion, settings };
        object::convert::<S, H>(source, &route, issues)
    }

    fn to_spoke(
        &self,
        source: &Source<'_>,
        settings: ConversionSettings<'_>,
        issues: &mut Issues,
    ) -> Result<Attempt, ConversionError> {
        let route = FromHub { conversion: &self.conversion, settings };
        object::convert::<H, S>(source, &route, issues)
    }
}

impl<S: Resource, C> Converter<S, C> {
    /// The object as it is stored. Without annotations of conversion, and where it comes back without one, a small one
    /// is what the types say alone.
    fn as_converted<H: Resource>(
        &self,
        spoke: S,
        json: &str,
        settings: ConversionSettings<'_>,
    ) -> Result<HubReading<H>, ReadError>
    where
        C: Convert<S, H>,
    {
        let route = ToHub { conversion: &self.conversion, settings };
        let of_object = |error| refusal(error, json);
        let bytes = json.len();
        let source = Source::read(json).map_err(of_object)?;
        let metadata = source.read_metadata().map_err(of_object)?;
        let mut notes = Issues::new();
        let converted = if !object::keeps_something::<S, H>(&metadata, &route) && !metadata.is_oversized() {
            let typed = Typed::of(&spoke, &route).map_err(of_object)?.tried(&spoke, &route, bytes);
            if typed.lost.as_ref().is_some_and(Vec::is_empty) && is_small(json) {
                return Ok(HubReading {
                    hub: typed.result,
                    written: Arc::new(spoke),
                    bytes,
                    in_hub: InHub::Tried(None),
                });
            }
            finish(&source, metadata, Some(typed), &route, &mut notes)
        } else {
            object::convert::<S, H>(&source, &route, &mut notes)
        };
        let converted = converted.map_err(of_object)?;
        let written = match &converted.reduced {
            Some(reduced) => read::<S>(reduced)?.value,
            None => spoke,
        };
        let in_hub = InHub::of(bytes, &H::version(), &converted, &notes);
        Ok(HubReading { hub: read::<H>(&converted.json)?.value, written: Arc::new(written), bytes, in_hub })
    }

    fn typed<H: Resource>(&self, spoke: S, json: &str) -> Result<HubReading<H>, ConversionError>
    where
        C: Convert<S, H>,
    {
        let hub = self.conversion.to_hub(&spoke, &mut Provenance::silent(), &mut Issues::new())?;
        Ok(HubReading { hub, written: Arc::new(spoke), bytes: json.len(), in_hub: InHub::Untried })
    }
}

/// From the spoke to the hub.
struct ToHub<'a, C> {
    conversion: &'a C,
    settings: ConversionSettings<'a>,
}

impl<S, H, C: Convert<S, H>> Route<S, H> for ToHub<'_, C> {
    fn convert(&self, object: &S, issues: &mut Issues) -> Result<(H, RoundTrip), ConversionError> {
        self.conversion.to_hub_with_round_trip(object, issues)
    }

    fn convert_back(&self, object: &H, issues: &mut Issues) -> Result<S, ConversionError> {
        self.conversion.from_hub(object, issues)
    }

    fn direction(&self, from: &S, _: &H) -> Direction {
        Direction::ToHub(recorded(self.conversion, from))
    }

    fn annotations(&self) -> &'static [&'static str] {
        self.conversion.annotations()
    }

    fn keys(&self) -> &ConversionKeys {
        self.settings.keys
    }

    fn schemas(&self) -> Option<&dyn StructuralSchemas> {
        self.settings.schemas
    }
}

/// From the hub to the spoke.
struct FromHub<'a, C> {
    conversion: &'a C,
    settings: ConversionSettings<'a>,
}

impl<S, H, C: Convert<S, H>> Route<H, S> for FromHub<'_, C> {
    fn convert(&self, object: &H, issues: &mut Issues) -> Result<(S, RoundTrip), ConversionError> {
        self.conversion.from_hub_with_round_trip(object, issues)
    }

    fn convert_back(&self, object: &S, issues: &mut Issues) -> Result<H, ConversionError> {
        self.conversion.to_hub(object, &mut Provenance::silent(), issues)
    }

    fn direction(&self, _: &H, to: &S) -> Direction {
        Direction::FromHub(recorded(self.conversion, to))
    }

    fn annotations(&self) -> &'static [&'static str] {
        self.conversion.annotations()
    }

    fn keys(&self) -> &ConversionKeys {
        self.settings.keys
    }

    fn schemas(&self) -> Option<&dyn StructuralSchemas> {
        self.settings.schemas
    }
}

/// Where the nodes of an object came from that lifts to the hub.
fn recorded<S, H>(conversion: &impl Convert<S, H>, spoke: &S) -> Provenance {
    let mut provenance = Provenance::recording();
    // The object was converted a moment ago; only the steps are wanted now.
    let _ = conversion.to_hub(spoke, &mut provenance, &mut Issues::new());
    provenance
}

/// An object that can't be converted can't be stored: its field has a shape that the other version can't hold.
fn refusal(error: ConversionError, json: &str) -> ReadError {
    let error = DecodeError::at(error.path, error.message, json);
    ReadError::Fields(Issues::from_iter([error.issue(&FieldPath::root()).as_written()]))
}
