//! v1 and v2, there and back. What v1 can't say, the time zone, Gateward keeps.

use super::{v1, v2};
use gateward::prelude::*;

/// The conversion between v1 and the hub.
pub struct Schedules;

impl Convert<v1::CronTab, v2::CronTab> for Schedules {
    fn to_hub(&self, old: &v1::CronTab, at: &mut Provenance, _: &mut Issues) -> Result<v2::CronTab, ConversionError> {
        let spec = || FieldPath::field("spec");
        at.moved(|| (spec() / "schedule", spec() / "cronSpec"));
        let v1::CronTabSpec { cron_spec, image, replicas, policy } = old.spec.clone();
        let spec = v2::CronTabSpec { schedule: cron_spec, time_zone: None, image, replicas, policy };
        Ok(v2::CronTab { metadata: old.metadata.clone(), spec, status: old.status.clone() })
    }

    fn from_hub(&self, new: &v2::CronTab, _: &mut Issues) -> Result<v1::CronTab, ConversionError> {
        let v2::CronTabSpec { schedule, time_zone: _, image, replicas, policy } = new.spec.clone();
        let spec = v1::CronTabSpec { cron_spec: schedule, image, replicas, policy };
        Ok(v1::CronTab { metadata: new.metadata.clone(), spec, status: new.status.clone() })
    }
}
