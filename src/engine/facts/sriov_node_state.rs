//! SriovNetworkNodeState: the NICs of a node, and the resources that the SR-IOV operator creates from them.

use super::object_shape::{Meta, count_if_not_negative, non_empty};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::types_of_decoded_fields::{Objects, optional_struct};
use crate::multus::LinkLayer;
use serde::Deserialize;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The SR-IOV operator's state of one node; the object's name is the node's
/// (k8snetworkplumbingwg/sriov-network-operator api/v1/sriovnetworknodestate_types.go).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SriovNodeState {
    /// Namespace of the object, which is the operator's.
    pub namespace: Option<String>,
    /// Physical functions: those of the status, else those of the spec.
    pub interfaces: Vec<PhysicalFunction>,
    /// Hash of them, to find nodes with the same NICs.
    pub print: u64,
    /// Groups of virtual functions.
    pub groups: Vec<VfGroup>,
    /// Whether RDMA devices have their own network namespace (`status.system.rdmaMode` is `exclusive`); `None` if an
    /// older operator does not report it.
    pub rdma_exclusive: Option<bool>,
    /// `status.syncStatus`: `Succeeded`, `InProgress` or `Failed`.
    pub sync_status: Option<String>,
}

/// A physical function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PhysicalFunction {
    /// Name on the node.
    pub name: String,
    /// Its alternative names.
    pub alt_names: Vec<String>,
    /// PCI address.
    pub address: Option<String>,
    /// Most functions it can create (count).
    pub total_vfs: Option<u32>,
    /// Link layer.
    pub link: Option<LinkLayer>,
    /// PCI vendor (four hexadecimal digits).
    pub vendor: Option<String>,
    /// PCI device (four hexadecimal digits).
    pub device_id: Option<String>,
    /// Virtual functions (count).
    pub num_vfs: Option<u32>,
    /// MTU (bytes).
    pub mtu: Option<u32>,
}

/// Virtual functions of one physical function with one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VfGroup {
    /// `resourceName`: the resource after the operator's prefix.
    pub resource: String,
    /// Policy that creates them.
    pub policy: Option<String>,
    /// Physical function. Its groups share the text: a function may have thousands of them.
    pub interface: Arc<str>,
    /// Its link layer.
    pub link: Option<LinkLayer>,
    /// Whether they have RDMA devices.
    pub rdma: bool,
    /// MTU of the physical function (bytes).
    pub mtu: Option<u32>,
}

#[derive(Deserialize)]
struct StateObject {
    #[serde(default, deserialize_with = "optional_struct")]
    metadata: Option<Meta>,
    #[serde(default, deserialize_with = "optional_struct")]
    spec: Option<Half>,
    #[serde(default, deserialize_with = "optional_struct")]
    status: Option<Half>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Half {
    #[serde(default)]
    interfaces: Option<Objects<Nic>>,
    #[serde(default)]
    sync_status: Option<String>,
    #[serde(default, deserialize_with = "optional_struct")]
    system: Option<System>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct System {
    #[serde(default)]
    rdma_mode: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nic {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    alt_names: Option<Vec<Option<String>>>,
    #[serde(default)]
    pci_address: Option<String>,
    #[serde(default, rename = "totalvfs")]
    total_vfs: Option<i64>,
    #[serde(default)]
    link_type: Option<String>,
    #[serde(default)]
    vendor: Option<String>,
    #[serde(default, rename = "deviceID")]
    device_id: Option<String>,
    #[serde(default)]
    num_vfs: Option<i64>,
    #[serde(default)]
    mtu: Option<i64>,
    #[serde(default)]
    vf_groups: Option<Objects<Group>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    #[serde(default)]
    resource_name: Option<String>,
    #[serde(default)]
    policy_name: Option<String>,
    #[serde(default)]
    is_rdma: Option<bool>,
    #[serde(default)]
    device_type: Option<String>,
}

impl Nic {
    fn link(&self) -> Option<LinkLayer> {
        self.link_type.as_deref().and_then(LinkLayer::parse)
    }
}

pub(super) fn read(json: &str) -> Result<(Meta, SriovNodeState), DecodeError> {
    let object: StateObject = decode(json)?;
    let spec = object.spec.unwrap_or_default();
    let status = object.status.unwrap_or_default();
    let wanted = spec.interfaces.map(|i| i.0).unwrap_or_default();
    let found = status.interfaces.map(|i| i.0).unwrap_or_default();
    let groups = {
        let mut by_address: HashMap<&str, &Nic> = HashMap::new();
        for nic in &found {
            nic.pci_address.as_deref().map(|address| by_address.entry(address).or_insert(nic));
        }
        wanted.iter().flat_map(|nic| vf_groups_with_link_of_status(nic, &by_address)).collect()
    };
    // A node that the operator has not processed yet has no status.
    let nics = if found.is_empty() { wanted } else { found };
    let mode = status.system.and_then(|s| s.rdma_mode);
    let meta = object.metadata.unwrap_or_default();
    let interfaces: Vec<PhysicalFunction> = nics.into_iter().filter_map(interface).collect();
    let mut hasher = DefaultHasher::new();
    interfaces.hash(&mut hasher);
    let state = SriovNodeState {
        namespace: non_empty(meta.namespace.clone()),
        interfaces,
        print: hasher.finish(),
        groups,
        rdma_exclusive: match mode.as_deref() {
            Some("exclusive") => Some(true),
            Some("shared") => Some(false),
            _ => None,
        },
        sync_status: non_empty(status.sync_status),
    };
    Ok((meta, state))
}

fn interface(nic: Nic) -> Option<PhysicalFunction> {
    Some(PhysicalFunction {
        link: nic.link(),
        name: non_empty(nic.name)?,
        alt_names: nic.alt_names.into_iter().flatten().flatten().collect(),
        address: non_empty(nic.pci_address),
        total_vfs: count_if_not_negative(nic.total_vfs),
        vendor: non_empty(nic.vendor),
        device_id: non_empty(nic.device_id),
        num_vfs: count_if_not_negative(nic.num_vfs),
        mtu: count_if_not_negative(nic.mtu),
    })
}

/// The groups of a NIC. The status has no RDMA flag: it is in the group of the spec.
fn vf_groups_with_link_of_status<'a>(
    nic: &'a Nic,
    found: &HashMap<&str, &Nic>,
) -> impl Iterator<Item = VfGroup> + use<'a> {
    let there = nic.pci_address.as_deref().and_then(|address| found.get(address));
    let link = there.and_then(|nic| nic.link()).or_else(|| nic.link());
    let mtu = there.and_then(|f| count_if_not_negative(f.mtu));
    let interface: Arc<str> = nic.name.as_deref().unwrap_or_default().into();
    nic.vf_groups.iter().flat_map(|g| g.iter()).filter_map(move |group| {
        Some(VfGroup {
            resource: non_empty(group.resource_name.clone())?,
            policy: non_empty(group.policy_name.clone()),
            interface: Arc::clone(&interface),
            link,
            rdma: group.is_rdma == Some(true) && group.device_type.as_deref() != Some("vfio-pci"),
            mtu,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_spec_and_status() {
        let json = r#"{"metadata":{"name":"n"},
            "spec":{"interfaces":[{"name":"ibs1","pciAddress":"0:1","vfGroups":[{"resourceName":"r","isRdma":true,"policyName":"p"},null]}]},
            "status":{"syncStatus":"Succeeded","system":{"rdmaMode":"exclusive"},
                "interfaces":[{"name":"ibs1","pciAddress":"0:1","linkType":"IB","vendor":"15b3","deviceID":"1021","numVfs":4,"mtu":4092}]}}"#;
        let state = read(json).unwrap().1;
        assert_eq!(state.groups.len(), 1);
        assert_eq!((state.groups[0].link, state.groups[0].rdma), (Some(LinkLayer::InfiniBand), true));
        assert_eq!(state.interfaces[0].num_vfs, Some(4));
        assert_eq!((state.rdma_exclusive, state.sync_status.as_deref()), (Some(true), Some("Succeeded")));
    }

    #[test]
    fn without_status_the_spec_counts() {
        let json =
            r#"{"spec":{"interfaces":[{"name":"e1","linkType":"eth","vfGroups":[{"resourceName":"r"}]}]}}"#;
        let state = read(json).unwrap().1;
        assert_eq!(state.interfaces[0].link, Some(LinkLayer::Ethernet));
        assert_eq!((state.groups[0].link, state.groups[0].rdma), (Some(LinkLayer::Ethernet), false));
        assert_eq!(state.rdma_exclusive, None);
    }

    #[test]
    fn a_wrong_type_has_its_place() {
        let error = read(r#"{"status":{"interfaces":[{},{"numVfs":"4"}]}}"#).unwrap_err();
        assert_eq!(error.pointer, "/status/interfaces/1/numVfs");
    }
}
