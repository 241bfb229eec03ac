//! How many GPUs a component's main container asks for: GPU-01.

use std::collections::BTreeMap;

use dynamo_api::Quantity;

use super::pod_view::{Pod, container_path};

/// How many GPUs a container asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GpuCount {
    /// So many; 0 where no resource of the container is a GPU.
    Known(i64),
    /// The amount is no whole number.
    Unreadable,
}

impl GpuCount {
    /// What the main container of a pod asks for: its limits come before its requests. `None` where a value that counts
    /// has the wrong JSON type.
    pub(crate) fn of(pod: Pod) -> Option<Self> {
        let Some((index, main)) = pod.main_container() else {
            return pod.has_read_names().then_some(Self::Known(0));
        };
        let resources = container_path(index) / "resources";
        for (name, amounts) in [("limits", &main.resources.limits), ("requests", &main.resources.requests)] {
            let at = &resources / name;
            if !pod.has_read(&at) || pod.unread_members(&at).any(names_gpu) {
                return None;
            }
            if let Some(quantity) = first_gpu(amounts) {
                return Some(Self::read(quantity));
            }
        }
        Some(Self::Known(0))
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
    use dynamo_api::v1beta1::ComponentSpec;
    use serde_json::json;

    use super::*;

    fn count_in(template: serde_json::Value) -> Option<GpuCount> {
        let pod_template = Some(template.into());
        GpuCount::of(Pod::of(&ComponentSpec { pod_template, ..ComponentSpec::default() }))
    }

    fn count_where_readable(resources: &serde_json::Value) -> Option<GpuCount> {
        count_in(json!({"spec": {"containers": [
            {"name": "sidecar", "resources": {"limits": {"nvidia.com/gpu": 7}}},
            {"name": "main", "args": ["--port", 8080], "resources": resources},
        ]}}))
    }

    fn count(resources: &serde_json::Value) -> GpuCount {
        count_where_readable(resources).unwrap()
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
        assert_eq!(count_in(json!({"spec": {"containers": []}})), Some(GpuCount::Known(0)));
        assert_eq!(GpuCount::of(Pod::of(&ComponentSpec::default())), Some(GpuCount::Known(0)));
    }

    #[test]
    fn only_an_amount_that_counts_and_has_the_wrong_type_is_not_known() {
        assert_eq!(count_where_readable(&json!({"limits": {"nvidia.com/gpu": [2]}})), None);
        assert_eq!(count_where_readable(&json!({"limits": [], "requests": {"nvidia.com/gpu": 2}})), None);
        assert_eq!(count(&json!({"limits": {"cpu": [2], "nvidia.com/gpu": 2}})), GpuCount::Known(2));
        assert_eq!(
            count(&json!({"limits": {"nvidia.com/gpu": 2}, "requests": {"nvidia.com/gpu": [2]}})),
            GpuCount::Known(2)
        );
        assert_eq!(count(&json!({"limits": {"cpu": true}})), GpuCount::Known(0));
    }

    #[test]
    fn the_main_container_may_be_the_one_whose_name_has_the_wrong_type() {
        assert_eq!(count_in(json!({"spec": {"containers": [{"name": 5}]}})), None);
        assert_eq!(count_in(json!({"spec": {"containers": "main"}})), None);
        assert_eq!(count_in(json!({"spec": {"containers": [{"name": "a", "image": 5}]}})), Some(GpuCount::Known(0)));
    }
}
