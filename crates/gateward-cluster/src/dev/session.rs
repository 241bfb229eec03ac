//! Has objects lead here, and puts them back: reads, has the plan decide, and writes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::Value;

use super::destination::Destination;
use super::event::{DevError, DevEvent};
use super::lease::{DevLease, LeaseRequest, TakeOver};
use super::objects::{AttemptError, DevObjects, until_done};
use super::plan::{Marks, PutBack, Take, Whose, converter};
use super::probe::{Probe, Reach};
use super::record::DevHolder;
use crate::connection::Connection;
use crate::crds::Definition;
use crate::fail_point::{Side, reach};
use crate::injection::InjectableKind;

/// How long an API server may take to know a webhook configuration.
const PROBE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(100);
/// In this order objects are put back.
const KINDS: [InjectableKind; 3] = [InjectableKind::Validating, InjectableKind::Mutating, InjectableKind::Crd];

/// Who changes what.
#[derive(Debug, Clone)]
pub struct DevConfig {
    /// What annotations of the operator begin with.
    pub annotation_prefix: String,
    /// The field manager.
    pub manager: String,
    /// The name of the lease.
    pub lease: String,
    /// This process.
    pub holder: DevHolder,
}

/// The changes of one process.
pub struct DevSession {
    connection: Connection,
    config: DevConfig,
    marks: Marks,
    objects: DevObjects,
}

/// Whether everything was put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutBackOutcome {
    /// All objects are as before, or stay otherwise for a reason that was reported.
    Done,
    /// Some could not be put back, as was reported.
    Remains,
}

impl DevSession {
    /// A session that has changed nothing yet.
    pub fn new(connection: &Connection, config: DevConfig) -> Self {
        let marks = Marks::new(&config.annotation_prefix, config.holder.clone());
        let objects = DevObjects::new(connection.client(), &config.manager);
        Self { connection: connection.clone(), config, marks, objects }
    }

    /// Takes the lease, without which nothing is to be written.
    pub async fn acquire(
        &self,
        take_over: TakeOver,
        on_event: &mut (dyn FnMut(DevEvent) + Send),
    ) -> Result<DevLease, DevError> {
        let DevConfig { lease: name, manager, holder, .. } = &self.config;
        let request = LeaseRequest { name, manager, holder: &holder.to_string(), take_over };
        reach(Side::Before, "lease").await;
        let lease = DevLease::acquire(&self.connection, &request, on_event).await?;
        reach(Side::After, "lease").await;
        Ok(lease)
    }

    /// How many nodes the cluster has.
    pub async fn nodes(&self) -> Result<usize, DevError> {
        self.objects.nodes().await.map_err(|why| DevError::object("the nodes can't be counted", why))
    }

    /// The configurations that call a Service for webhooks of the same names.
    pub async fn also_judging(&self, wanted: &[Value]) -> Result<Vec<String>, DevError> {
        let ours: BTreeSet<&str> = wanted.iter().flat_map(entries).filter_map(|entry| entry["name"].as_str()).collect();
        let mut found = Vec::new();
        for kind in [InjectableKind::Validating, InjectableKind::Mutating] {
            let all = self.objects.all(kind).await.map_err(|why| DevError::object(&format!("all {kind}s"), why))?;
            let is_ours = |entry: &Value| entry["name"].as_str().is_some_and(|name| ours.contains(name));
            let judging = |object: &&DynamicObject| {
                entries(&object.data).any(|entry| is_ours(entry) && entry["clientConfig"]["service"].is_object())
            };
            found.extend(all.iter().filter(judging).map(|object| named(kind, &object.name_any())));
        }
        Ok(found)
    }

    /// Has the API server show that it reaches a destination.
    ///
    /// # Errors
    ///
    /// It doesn't, so that no object may lead there.
    pub async fn prove(
        &self,
        destination: &Destination,
        on_event: &mut (dyn FnMut(DevEvent) + Send),
    ) -> Result<(), DevError> {
        let probe = Probe::new(format!("{}-probe", self.config.lease), &self.config.annotation_prefix);
        self.take(&[probe.configuration(destination)], &mut drop).await?;
        let reached = self.reach(&probe).await;
        self.put_back_one(InjectableKind::Validating, &probe.name, Whose::Own).await?;
        let unreachable = |why: String| DevError::Unreachable { origin: destination.origin().to_owned(), why };
        match reached {
            Reach::Reached => {}
            Reach::Unknown(why) => on_event(DevEvent::Unproven(why)),
            Reach::Unreached(why) => return Err(unreachable(why)),
            Reach::Uncalled => return Err(unreachable("it calls no webhook at all".to_owned())),
        }
        Ok(())
    }

    /// Asks until the API server knows the configuration.
    async fn reach(&self, probe: &Probe) -> Reach {
        let started = Instant::now();
        loop {
            match probe.call(self.connection.client()).await {
                Reach::Uncalled if started.elapsed() < PROBE => tokio::time::sleep(LOOK).await,
                reached => return reached,
            }
        }
    }

    /// Has objects lead here, one after the other. Where one can't, those before it do.
    pub async fn take(&self, wanted: &[Value], on_event: &mut (dyn FnMut(DevEvent) + Send)) -> Result<(), DevError> {
        for wanted in wanted {
            let (kind, wanted) = object(wanted)?;
            let name = wanted.name_any();
            reach(Side::Before, &format!("take-{name}")).await;
            let named = named(kind, &name);
            let taken = until_done(&named, async || self.try_to_take(kind, &wanted).await).await?;
            on_event(taken);
            reach(Side::After, &format!("take-{name}")).await;
            if kind == InjectableKind::Crd {
                until_done(&named, async || self.is_established(&name).await).await?;
            }
        }
        Ok(())
    }

    async fn try_to_take(
        &self,
        kind: InjectableKind,
        wanted: &DynamicObject,
    ) -> Result<Option<DevEvent>, AttemptError> {
        let object = named(kind, &wanted.name_any());
        let found = self.objects.read(kind, &wanted.name_any()).await?;
        match self.marks.take(kind, found.as_ref(), wanted)? {
            Take::Wait => Ok(None),
            Take::Nothing => Ok(Some(DevEvent::Kept { object, why: "it is there, and stays as it is".to_owned() })),
            Take::Create(created) => {
                self.objects.create(kind, &created).await?;
                Ok(Some(DevEvent::Created(object)))
            }
            Take::Replace(redirected) => {
                self.objects.replace(kind, &redirected).await?;
                let before = found.as_ref().map(converter).unwrap_or_default();
                Ok(Some(DevEvent::Redirected { object, before }))
            }
        }
    }

    /// Whether the objects of a CRD are served.
    async fn is_established(&self, name: &str) -> Result<Option<()>, AttemptError> {
        let crd = self.objects.read(InjectableKind::Crd, name).await?.map(Definition::from);
        let status = crd.as_ref().and_then(|crd| crd.condition("Established"));
        Ok(status.is_some_and(|(status, _)| status == "True").then_some(()))
    }

    /// Puts back all objects that lead here, or to anyone.
    pub async fn put_back(
        &self,
        whose: Whose,
        on_event: &mut (dyn FnMut(DevEvent) + Send),
    ) -> Result<PutBackOutcome, DevError> {
        let mut outcome = PutBackOutcome::Done;
        for kind in KINDS {
            let marked =
                async || Ok(Some(self.objects.names(kind, |annotations| self.marks.are_on(annotations)).await?));
            for name in until_done(&format!("all {kind}s"), marked).await? {
                match self.put_back_one(kind, &name, whose).await {
                    Ok(event) => event.into_iter().for_each(&mut *on_event),
                    Err(why) => {
                        outcome = PutBackOutcome::Remains;
                        on_event(DevEvent::Remains(why.to_string()));
                    }
                }
            }
        }
        Ok(outcome)
    }

    async fn put_back_one(&self, kind: InjectableKind, name: &str, whose: Whose) -> Result<Option<DevEvent>, DevError> {
        reach(Side::Before, &format!("put-back-{name}")).await;
        let put_back = until_done(&named(kind, name), async || self.try_to_put_back(kind, name, whose).await).await?;
        reach(Side::After, &format!("put-back-{name}")).await;
        Ok(put_back)
    }

    /// `Some(None)` where there is nothing to put back.
    async fn try_to_put_back(
        &self,
        kind: InjectableKind,
        name: &str,
        whose: Whose,
    ) -> Result<Option<Option<DevEvent>>, AttemptError> {
        let object = named(kind, name);
        let Some(found) = self.objects.read(kind, name).await? else {
            return Ok(Some(Some(DevEvent::Deleted(object))));
        };
        let event = match self.marks.put_back(kind, &found, whose)? {
            PutBack::Nothing => None,
            PutBack::Restore(before) => {
                self.objects.replace(kind, &before).await?;
                Some(DevEvent::Restored(object))
            }
            PutBack::Unmark(unmarked) => {
                self.objects.replace(kind, &unmarked).await?;
                let why = "somebody else has changed it meanwhile; that stays, and only our marks are gone".to_owned();
                Some(DevEvent::Kept { object, why })
            }
            PutBack::DeleteUnlessUsed { kept } if self.objects.is_used(&found).await? => {
                self.objects.replace(kind, &kept).await?;
                let why = format!("there are objects of it, so it stays; `kubectl delete crd {name}` deletes them too");
                Some(DevEvent::Kept { object, why })
            }
            // It is looked at again until it is gone.
            PutBack::Delete | PutBack::DeleteUnlessUsed { .. } => {
                self.objects.delete(kind, &found).await?;
                return Ok(None);
            }
        };
        Ok(Some(event))
    }
}

fn entries(configuration: &Value) -> impl Iterator<Item = &Value> {
    configuration["webhooks"].as_array().into_iter().flatten()
}

/// A manifest, and its kind.
fn object(manifest: &Value) -> Result<(InjectableKind, DynamicObject), DevError> {
    let text = manifest["kind"].as_str().unwrap_or_default();
    let kind = KINDS.into_iter().find(|kind| kind.to_string() == text);
    let kind = kind.ok_or_else(|| DevError::Kind(text.to_owned()))?;
    let object = serde_json::from_value(manifest.clone()).map_err(|why| DevError::object(text, why))?;
    Ok((kind, object))
}

fn named(kind: InjectableKind, name: &str) -> String {
    format!("{kind} {name}")
}
