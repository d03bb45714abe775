//! ResourceSlices: the devices that DRA drivers publish for a node.

use super::node_as_shown::Claimable;
use super::objects_of_cluster::Sources;
use crate::multus::LinkLayer;
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of an EFA device in the PCI database, as dranet publishes it
/// (kubernetes-sigs/dranet:examples/aws_eks_examples/gpu-efa/resourceslice-dranet.yaml).
const EFA_DEVICE: &str = "Elastic Fabric Adapter (EFA)";

impl Sources {
    /// `slices` has the specs. Devices of DRA drivers belong to their nodes. Of a pool only the newest generation counts.
    pub(super) fn with_devices_of_slices(mut self) -> Self {
        let pool = |slice: &Value| {
            let text = |at: &str| slice.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
            let generation = slice.pointer("/pool/generation").and_then(Value::as_i64).unwrap_or(0);
            ((text("/driver"), text("/pool/name")), generation)
        };
        let mut newest: BTreeMap<(String, String), i64> = BTreeMap::new();
        for slice in self.slices.values() {
            let (key, generation) = pool(slice);
            let known = newest.entry(key).or_insert(generation);
            *known = generation.max(*known);
        }
        for (name, slice) in std::mem::take(&mut self.slices) {
            let (key, generation) = pool(&slice);
            let node = slice.pointer("/nodeName").and_then(Value::as_str);
            let Some(node) = node.and_then(|node| self.nodes.get_mut(node)) else { continue };
            if newest.get(&key) != Some(&generation) {
                continue;
            }
            let all = node.claimable.entry(key.0).or_default();
            all.slice = name;
            add_devices(all, &slice);
        }
        self
    }
}

/// A device, as far as its attributes say something about a fabric.
#[derive(Default)]
struct Device<'a> {
    rdma: bool,
    name: Option<&'a str>,
    link: Option<LinkLayer>,
    efa: bool,
}

impl<'a> Device<'a> {
    /// Drivers put their own domain before the names of attributes: dranet has `rdma`, `rdmaDevice` and `encapsulation`,
    /// dra-driver-sriov `rdmaCapable` and `linkType`.
    fn of(device: &'a Value) -> Self {
        let mut found = Self::default();
        let attributes = device.get("attributes").or_else(|| device.pointer("/basic/attributes"));
        for (key, value) in attributes.and_then(Value::as_object).into_iter().flatten() {
            let text = value.get("string").and_then(Value::as_str);
            match key.rsplit('/').next().unwrap_or_default() {
                "rdma" | "rdmaCapable" => found.rdma |= value.get("bool") == Some(&Value::Bool(true)),
                "rdmaDevice" => found.name = text,
                "encapsulation" | "linkType" => found.link = text.and_then(LinkLayer::parse),
                "pciDevice" => found.efa = text == Some(EFA_DEVICE),
                _ => {}
            }
        }
        found
    }
}

/// Adds the devices of a slice. The link layer counts of RDMA devices only: a node also has other NICs.
fn add_devices(all: &mut Claimable, slice: &Value) {
    for device in slice.pointer("/devices").and_then(Value::as_array).into_iter().flatten() {
        all.devices = all.devices.saturating_add(1);
        let device = Device::of(device);
        if !device.rdma {
            continue;
        }
        all.rdma = all.rdma.saturating_add(1);
        all.efa |= device.efa;
        if let Some(name) = device.name {
            all.names.insert(name.to_owned(), device.link.is_none());
        }
        match device.link {
            Some(link) if !all.links.contains(&link) => all.links.push(link),
            Some(_) => {}
            None => all.bare = all.bare.saturating_add(1),
        }
    }
}
