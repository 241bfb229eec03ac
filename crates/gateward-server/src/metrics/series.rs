//! The series of each kind, looked up by name without an allocation: this runs for each review.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use gateward_core::{Operation, Outcome};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::families;

/// The most kinds with series of their own. The caller names the kind, so its cardinality must be bounded; further kinds
/// are counted together.
const MOST_KINDS: usize = 64;

/// The label of further kinds.
const OTHER_KINDS: &str = "other";

/// The buckets of the Dynamo Operator.
const BUCKETS: [f64; 11] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

type Kind = [(&'static str, String); 1];
type Pair = [(&'static str, String); 2];
type Triple = [(&'static str, String); 3];

/// All families with the label `resource_type`.
#[derive(Clone)]
struct Families {
    duration: Family<Pair, Histogram>,
    requests: Family<Triple, Counter>,
    denials: Family<Triple, Counter>,
    mutation_duration: Family<Pair, Histogram>,
    mutations: Family<Triple, Counter>,
    skips: Family<Triple, Counter>,
    conversion_duration: Family<Kind, Histogram>,
    conversions: Family<Pair, Counter>,
    converted: Family<Kind, Counter>,
    incomplete: Family<Kind, Counter>,
}

impl Families {
    fn new() -> Self {
        let durations = || Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        let conversion_duration = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        Self {
            duration: durations(),
            requests: Family::default(),
            denials: Family::default(),
            mutation_duration: durations(),
            mutations: Family::default(),
            skips: Family::default(),
            conversion_duration,
            conversions: Family::default(),
            converted: Family::default(),
            incomplete: Family::default(),
        }
    }
}

/// The series of all kinds.
pub(super) struct Kinds {
    families: Families,
    known: RwLock<HashMap<String, Arc<KindSeries>>>,
}

impl Kinds {
    pub(super) fn registered_in(registry: &mut Registry) -> Self {
        let families = Families::new();
        let of = families.clone();
        families::DURATION.register(registry, of.duration);
        families::REQUESTS.register(registry, of.requests);
        families::DENIALS.register(registry, of.denials);
        families::MUTATION_DURATION.register(registry, of.mutation_duration);
        families::MUTATIONS.register(registry, of.mutations);
        families::SKIPS.register(registry, of.skips);
        families::CONVERSION_DURATION.register(registry, of.conversion_duration);
        families::CONVERSIONS.register(registry, of.conversions);
        families::CONVERTED_OBJECTS.register(registry, of.converted);
        families::INCOMPLETE_VIEWS.register(registry, of.incomplete);
        Self { families, known: RwLock::default() }
    }

    pub(super) fn with(&self, kind: &str, count: impl FnOnce(&KindSeries)) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(kind).map(Arc::clone);
        count(&known.unwrap_or_else(|| self.insert(kind)));
    }

    fn insert(&self, kind: &str) -> Arc<KindSeries> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let kind = if known.len() < MOST_KINDS || known.contains_key(kind) { kind } else { OTHER_KINDS };
        let series = known.entry(kind.to_owned()).or_insert_with(|| Arc::new(KindSeries::new(kind, &self.families)));
        Arc::clone(series)
    }
}

/// The series of one kind.
pub(super) struct KindSeries {
    kind: String,
    families: Families,
    validating: [OnceLock<Validating>; OPERATIONS.len()],
    mutating: [OnceLock<Mutating>; OPERATIONS.len()],
}

const OPERATIONS: [Operation; 4] = [Operation::Create, Operation::Update, Operation::Delete, Operation::Connect];

/// The series of one kind and operation, looked up once.
struct Validating {
    duration: Histogram,
    allowed: Counter,
    denied: Counter,
}

struct Mutating {
    duration: Histogram,
    patched: Counter,
    unchanged: Counter,
    denied: Counter,
}

impl KindSeries {
    fn new(kind: &str, families: &Families) -> Self {
        let (kind, families) = (kind.to_owned(), families.clone());
        Self { kind, families, validating: Default::default(), mutating: Default::default() }
    }

    pub(super) fn validated(&self, operation: Option<Operation>, outcome: &Outcome, elapsed: Option<Duration>) {
        let Some((index, operation)) = position(operation) else { return };
        let series = self.validating[index].get_or_init(|| self.validating(operation));
        let denied = matches!(outcome, Outcome::Denied { .. });
        if denied { &series.denied } else { &series.allowed }.inc();
        observe(&series.duration, elapsed);
    }

    pub(super) fn mutated(&self, operation: Option<Operation>, outcome: &Outcome, elapsed: Option<Duration>) {
        let Some((index, operation)) = position(operation) else { return };
        let series = self.mutating[index].get_or_init(|| self.mutating(operation));
        let counter = match outcome {
            Outcome::Patched { .. } => &series.patched,
            Outcome::Denied { .. } => &series.denied,
            _ => &series.unchanged,
        };
        counter.inc();
        observe(&series.duration, elapsed);
    }

    pub(super) fn denied(&self, operation: Option<Operation>, reason: &'static str) {
        let Some((_, operation)) = position(operation) else { return };
        self.families.denials.get_or_create(&self.triple(operation, "reason", reason)).inc();
    }

    pub(super) fn skipped(&self, operation: Option<Operation>, reason: &'static str) {
        let Some((_, operation)) = position(operation) else { return };
        self.families.skips.get_or_create(&self.triple(operation, "reason", reason)).inc();
    }

    /// A ConversionReview of which all objects were converted, or none.
    pub(super) fn converted(&self, outcome: &Outcome, elapsed: Option<Duration>) {
        let (result, objects, incomplete) = match outcome {
            Outcome::Converted { objects, incomplete } => ("converted", *objects, *incomplete),
            _ => ("failed", 0, 0),
        };
        let kind = || [("resource_type", self.kind.clone())];
        let [labelled] = kind();
        self.families.conversions.get_or_create(&[labelled, ("result", result.to_owned())]).inc();
        self.families.converted.get_or_create(&kind()).inc_by(objects as u64);
        self.families.incomplete.get_or_create(&kind()).inc_by(incomplete as u64);
        observe(&self.families.conversion_duration.get_or_create_owned(&kind()), elapsed);
    }

    fn validating(&self, operation: Operation) -> Validating {
        let result = |result| self.families.requests.get_or_create_owned(&self.triple(operation, "result", result));
        let duration = self.families.duration.get_or_create_owned(&self.pair(operation));
        Validating { duration, allowed: result("allowed"), denied: result("denied") }
    }

    fn mutating(&self, operation: Operation) -> Mutating {
        let result = |result| self.families.mutations.get_or_create_owned(&self.triple(operation, "result", result));
        let duration = self.families.mutation_duration.get_or_create_owned(&self.pair(operation));
        Mutating { duration, patched: result("patched"), unchanged: result("unchanged"), denied: result("denied") }
    }

    fn pair(&self, operation: Operation) -> Pair {
        [("resource_type", self.kind.clone()), ("operation", operation.as_str().to_owned())]
    }

    fn triple(&self, operation: Operation, name: &'static str, value: &str) -> Triple {
        let [kind, operation] = self.pair(operation);
        [kind, operation, (name, value.to_owned())]
    }
}

/// `None` for a conversion and for an unknown operation: the caller names it, so its cardinality must be bounded.
fn position(operation: Option<Operation>) -> Option<(usize, Operation)> {
    let operation = operation?;
    OPERATIONS.iter().position(|known| *known == operation).map(|index| (index, operation))
}

fn observe(histogram: &Histogram, elapsed: Option<Duration>) {
    if let Some(elapsed) = elapsed {
        histogram.observe(elapsed.as_secs_f64());
    }
}
