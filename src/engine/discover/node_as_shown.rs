//! A node as its labels, its resources and its slices show it. Allocatable is a value of one moment: it is 0 after the
//! restart of a kubelet, and may stay 0 (Mellanox/k8s-rdma-shared-dev-plugin#48), while capacity still has the devices.

use crate::pod::{AcceleratorNames, Quantity};
use serde_json::Value;
use std::collections::BTreeMap;

/// Label with the type of the machine.
pub(super) const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// The same before Kubernetes 1.17; some pools have only this one.
const OLD_INSTANCE_TYPE: &str = "beta.kubernetes.io/instance-type";
/// Labels that no fabric depends on.
const CPU_LABELS: &str = "feature.node.kubernetes.io/cpu-cpuid.";
/// When GPU feature discovery last wrote its labels (NVIDIA/k8s-device-plugin:docs/gpu-feature-discovery): copies of a node from
/// two times differ in it.
const TIMESTAMP: &str = "nvidia.com/gfd.timestamp";
/// Label of NVIDIA's GPU feature discovery.
pub(super) const PRODUCT: &str = "nvidia.com/gpu.product";
/// Label of the same: into how many slices each GPU is shared by time.
pub(super) const REPLICAS: &str = "nvidia.com/gpu.replicas";
/// Prefix of the resources of MIG devices.
const MIG: &str = "nvidia.com/mig-";
/// Label of GKE. CoreWeave's nodes have it too, with other values.
pub(super) const GKE_ACCELERATOR: &str = "cloud.google.com/gke-accelerator";
/// Most extended resources of a node that are read (count), as for a pod.
const MAX_RESOURCES: usize = 256;
/// DRA drivers whose devices are GPUs.
const GPU_DRIVERS: [&str; 2] = ["gpu.nvidia.com", "gpu.amd.com"];

/// The provider of a machine, by `spec.providerID`: labels of one provider are also on machines of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Provider {
    Aws,
    Gce,
    Azure,
    Oci,
    CoreWeave,
    Other,
}

/// Devices of one DRA driver on a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claimable {
    /// Devices (count).
    pub(super) devices: u32,
    /// Those with RDMA (count).
    pub(super) rdma: u32,
    /// Link layers of the RDMA devices, where the driver publishes them.
    pub(super) links: Vec<crate::multus::LinkLayer>,
    /// RDMA devices without a link layer (count): they have no network interface.
    pub(super) bare: u32,
    /// Names of the RDMA devices, where the driver publishes them, and whether the device has no link layer.
    pub(super) names: BTreeMap<String, bool>,
    /// Whether an RDMA device is an EFA.
    pub(super) efa: bool,
    /// Name of the ResourceSlice.
    pub(super) slice: String,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    provider_id: String,
    capacity: BTreeMap<String, u64>,
    allocatable: BTreeMap<String, u64>,
    /// Whether pods can be scheduled onto it now: neither cordoned nor unready.
    pub(super) serves: bool,
    /// Devices by DRA driver.
    pub(super) claimable: BTreeMap<String, Claimable>,
}

impl Node {
    pub(super) fn read(object: &Value) -> Option<Self> {
        let name = object.pointer("/metadata/name")?.as_str()?.to_owned();
        let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
        // Some forty labels of Node Feature Discovery are about the CPU, and a cluster may have 130,000 nodes.
        let labels =
            labels.into_iter().flatten().filter(|(key, _)| !key.starts_with(CPU_LABELS) && *key != TIMESTAMP);
        let labels =
            labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
        let units = |at: &str| -> BTreeMap<String, u64> {
            let list = object.pointer(at).and_then(Value::as_object).into_iter().flatten();
            list.filter(|(name, _)| name.contains('/'))
                .map(|(name, text)| (name.clone(), amount(text)))
                .take(MAX_RESOURCES)
                .collect()
        };
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
        let unready = conditions
            .filter(|condition| condition.get("type").is_some_and(|kind| kind == "Ready"))
            .any(|condition| condition.get("status").is_some_and(|status| status != "True"));
        let cordoned = object.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
        Some(Self {
            name,
            labels,
            provider_id: object
                .pointer("/spec/providerID")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            capacity: units("/status/capacity"),
            allocatable: units("/status/allocatable"),
            serves: !cordoned && !unready,
            claimable: BTreeMap::new(),
        })
    }

    /// Adds what another copy of the node has more, if both show the same machine. Allocatable units and readiness are those of
    /// one moment: the larger units count, and a node serves if it did so at any time. Whether it is the same machine.
    pub(super) fn merge_if_same_machine(&mut self, copy: &Self) -> bool {
        let same = self.name == copy.name
            && self.labels == copy.labels
            && self.provider_id == copy.provider_id
            && self.capacity == copy.capacity;
        if !same {
            return false;
        }
        for (resource, units) in &copy.allocatable {
            if let Some(known) = self.allocatable.get_mut(resource) {
                *known = (*units).max(*known);
            } else if self.allocatable.len() < MAX_RESOURCES {
                self.allocatable.insert(resource.clone(), *units);
            }
        }
        self.serves |= copy.serves;
        true
    }

    /// Value of a label; an empty value counts as absent. CoreWeave's Ethernet nodes have the keys of its fabric with empty
    /// values.
    pub(super) fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub(super) fn provider(&self) -> Provider {
        match self.provider_id.split(':').next().unwrap_or_default() {
            "aws" => Provider::Aws,
            "gce" => Provider::Gce,
            "azure" => Provider::Azure,
            "oci" => Provider::Oci,
            id if id.starts_with("ocid1.") => Provider::Oci,
            _ if self.label("cks.coreweave.com/cluster").is_some()
                || self.labels.keys().any(|key| key.starts_with("backend.coreweave.cloud/")) =>
            {
                Provider::CoreWeave
            }
            _ => Provider::Other,
        }
    }

    pub(super) fn instance_type(&self) -> Option<&str> {
        self.label(INSTANCE_TYPE).or_else(|| self.label(OLD_INSTANCE_TYPE))
    }

    /// Units of a resource: capacity, since allocatable may be 0 for a moment.
    pub(super) fn units(&self, resource: &str) -> u64 {
        let of = |map: &BTreeMap<String, u64>| map.get(resource).copied().unwrap_or(0);
        of(&self.capacity).max(of(&self.allocatable))
    }

    /// Names of its extended resources.
    pub(super) fn resources(&self) -> impl Iterator<Item = &str> {
        let only = self.allocatable.keys().filter(|name| !self.capacity.contains_key(*name));
        self.capacity.keys().chain(only).map(String::as_str)
    }

    /// Whole accelerators (count) with the resource or driver that provides them.
    pub(super) fn accelerators(&self, known: &AcceleratorNames) -> Option<(String, u64)> {
        // Neuron has its own collectives, and NCCL's settings mean nothing to it.
        let other =
            |name: &str| name.contains("mig-") || name.ends_with(".shared") || name.contains("neuron");
        let whole = |name: &&str| known.contains(name) && !other(name);
        let by_resource = self.resources().filter(whole).map(|name| (name.to_owned(), self.units(name)));
        let by_claim = self.claimable.iter().filter(|(driver, _)| GPU_DRIVERS.contains(&driver.as_str()));
        let by_claim = by_claim.map(|(driver, devices)| (driver.clone(), u64::from(devices.devices)));
        by_resource.chain(by_claim).max_by_key(|(_, units)| *units)
    }

    /// Whether several pods share one of its GPUs, so that its units are not whole GPUs.
    pub(super) fn shares_accelerators(&self) -> bool {
        self.label(REPLICAS)
            .is_some_and(|replicas| replicas.parse::<u32>().is_ok_and(|replicas| replicas > 1))
    }

    /// The sign that its GPUs are split into MIG devices: a resource (strategy `mixed`), or the name of the product (strategy
    /// `single`, where a unit of `nvidia.com/gpu` is a MIG device). NVIDIA/k8s-device-plugin:docs/gpu-feature-discovery.
    pub(super) fn sign_of_mig(&self) -> Option<String> {
        let resource = self.resources().find(|name| name.starts_with(MIG));
        let product = || self.label(PRODUCT).filter(|product| product.contains("-MIG-"));
        resource
            .map(|name| format!("resource {name}"))
            .or_else(|| product().map(|product| format!("label {PRODUCT}: {product}")))
    }

    /// Whether it is a machine with accelerators, also while its device plugin is away.
    pub(super) fn has_accelerators(&self, known: &AcceleratorNames) -> bool {
        self.accelerators(known).is_some()
            || self.sign_of_mig().is_some()
            || self.label(PRODUCT).is_some()
            || self.provider() == Provider::Gce && self.label(GKE_ACCELERATOR).is_some()
    }
}

fn amount(value: &Value) -> u64 {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return 0,
    };
    Quantity::parse(&text).ok().and_then(|q| u64::try_from(q.units_rounded_up()).ok()).unwrap_or(0)
}
