//! How many GPUs a component's main container asks for: GPU-01.

use std::collections::BTreeMap;

use dynamo_api::Quantity;
use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::pod::PodSpec;

/// How many GPUs a container asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GpuCount {
    /// So many; 0 where no resource of the container is a GPU.
    Known(i64),
    /// The amount is no whole number.
    Unreadable,
}

impl GpuCount {
    /// What the main container of a pod asks for: its limits come before its requests.
    pub(crate) fn of(pod: &PodSpec) -> Self {
        let Some((_, main)) = pod.container(MAIN_CONTAINER) else { return Self::Known(0) };
        let resources = &main.resources;
        let quantity = first_gpu(&resources.limits).or_else(|| first_gpu(&resources.requests));
        quantity.map_or(Self::Known(0), Self::read)
    }

    fn read(quantity: &Quantity) -> Self {
        quantity.amount().ok().and_then(|amount| amount.whole()).map_or(Self::Unreadable, Self::Known)
    }
}

/// The first GPU in the order of names.
fn first_gpu(amounts: &BTreeMap<String, Quantity>) -> Option<&Quantity> {
    amounts.iter().find(|(name, _)| names_gpu(name)).map(|(_, quantity)| quantity)
}

/// Whether a resource of this name is a GPU or a slice of one, of whatever vendor.
fn names_gpu(name: &str) -> bool {
    let name = name.to_lowercase();
    name == "gpu" || name.ends_with("/gpu") || name.contains("/mig-") || name.starts_with("gpu.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn count(resources: &serde_json::Value) -> GpuCount {
        let pod = json!({"containers": [
            {"name": "sidecar", "resources": {"limits": {"nvidia.com/gpu": 7}}},
            {"name": "main", "resources": resources},
        ]});
        GpuCount::of(&serde_json::from_value(pod).unwrap())
    }

    #[test]
    fn limits_come_before_requests() {
        let both = json!({"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "4"}});
        assert_eq!(count(&both), GpuCount::Known(2));
        assert_eq!(count(&json!({"limits": {"cpu": 8}, "requests": {"nvidia.com/gpu": 4}})), GpuCount::Known(4));
    }

    #[test]
    fn any_vendor_and_slices_count() {
        for name in ["nvidia.com/gpu", "GPU", "amd.com/gpu", "nvidia.com/MIG-1g.5gb", "gpu.intel.com/i915"] {
            assert_eq!(count(&json!({"limits": {name: "1"}})), GpuCount::Known(1), "{name}");
        }
        for name in ["cpu", "nvidia.com/gpus", "nvidia.com/gpu.shared", "mig-1g.5gb"] {
            assert_eq!(count(&json!({"limits": {name: "1"}})), GpuCount::Known(0), "{name}");
        }
    }

    #[test]
    fn the_first_name_in_alphabetical_order_counts() {
        let two = json!({"limits": {"nvidia.com/gpu": "4", "amd.com/gpu": "1"}});
        assert_eq!(count(&two), GpuCount::Known(1));
    }

    #[test]
    fn a_fraction_of_a_gpu_is_unreadable() {
        assert_eq!(count(&json!({"limits": {"nvidia.com/gpu": "500m"}})), GpuCount::Unreadable);
        assert_eq!(count(&json!({"limits": {"nvidia.com/gpu": "many"}})), GpuCount::Unreadable);
        assert_eq!(count(&json!({"limits": {"nvidia.com/gpu": "2000m"}})), GpuCount::Known(2));
    }

    #[test]
    fn a_pod_without_a_main_container_has_none() {
        assert_eq!(GpuCount::of(&PodSpec::default()), GpuCount::Known(0));
    }
}
