//! SriovNetworkNodePolicy: which virtual functions are created, and the resource they belong to.

use super::object_shape::{Meta, Object, count_if_not_negative, non_empty};
use super::sriov_node_state::PhysicalFunction;
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::maps_of_request::FewEntries;
use crate::json::types_of_decoded_fields::optional_struct;
use crate::multus::LinkLayer;
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};

/// A policy of the SR-IOV operator (k8snetworkplumbingwg/sriov-network-operator
/// api/v1/sriovnetworknodepolicy_types.go).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SriovNodePolicy {
    /// `resourceName`: the resource after the operator's prefix. Empty if it is missing; such a policy is not a fact.
    pub resource: String,
    /// Whether the functions are bound to `vfio-pci`, without an interface or an RDMA device.
    pub vfio: bool,
    /// `isRdma`, false by default.
    pub is_rdma: bool,
    /// `linkType`; `None` accepts NICs of either kind.
    pub link: Option<LinkLayer>,
    /// MTU of the functions (bytes).
    pub mtu: Option<u32>,
    /// Functions created on each NIC (count).
    pub num_vfs: Option<u32>,
    /// Whether the NICs' switch is in mode `switchdev`.
    pub switchdev: bool,
    /// `priority`. Of two policies on one NIC the one with the lower number is applied last and wins; if it is
    /// missing and the operator's webhook does not set 99, it counts as 0.
    pub priority: Option<i64>,
    /// `vdpaType`, if set.
    pub vdpa: Option<String>,
    /// `needVhostNet`, false by default.
    pub vhost_net: bool,
    /// `excludeTopology`, false by default.
    pub exclude_topology: bool,
    /// `externallyManaged`, false by default: something else creates the functions.
    pub external: bool,
    /// Which NICs.
    pub nics: NicSelector,
    /// Labels of the nodes.
    pub nodes: BTreeMap<String, String>,
}

/// The NICs of a node that a policy selects; all given conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NicSelector {
    /// PCI vendor (four hexadecimal digits).
    pub vendor: Option<String>,
    /// PCI device (four hexadecimal digits).
    pub device_id: Option<String>,
    /// Names of physical functions, each with an optional range of functions (`ens1f0#0-3`).
    pub interfaces: Vec<String>,
    /// PCI addresses.
    pub addresses: Vec<String>,
    /// `netFilter`: a network of the machine's cloud.
    pub net_filter: Option<String>,
}

/// A name of [`NicSelector::interfaces`] with its functions, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceWithVfRange<'a> {
    /// Name or alternative name of the physical function.
    pub interface: &'a str,
    /// First and last; `None` means all.
    pub range: Option<(u32, u32)>,
}

impl<'a> InterfaceWithVfRange<'a> {
    /// Reads `name` or `name#first-last`; `None` for any other text.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let Some((interface, range)) = text.split_once('#') else {
            return Some(Self { interface: text, range: None });
        };
        let (first, last) = range.split_once('-')?;
        let number =
            |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        Some(Self { interface, range: Some((number(first)?, number(last)?)) })
    }
}

impl SriovNodePolicy {
    /// Whether its functions have RDMA devices. The device plugin drops functions on vfio-pci
    /// (k8snetworkplumbingwg/sriov-network-device-plugin pkg/netdevice).
    #[must_use]
    pub fn do_vfs_have_rdma(&self) -> bool {
        self.is_rdma && !self.vfio
    }

    /// The functions it uses of a range, or of each NIC if no range is given; `None` if it creates none.
    #[must_use]
    pub fn vfs_used_in_range(&self, range: Option<(u32, u32)>) -> Option<(u32, u32)> {
        let last = self.num_vfs?.checked_sub(1)?;
        Some(range.unwrap_or((0, last)))
    }

    /// Reads any policy, even one without a resource.
    ///
    /// # Errors
    /// [`DecodeError`] when a field that is read has another type.
    pub fn parse(json: &str) -> Result<Self, DecodeError> {
        policy_or_refuse_long_lists(decode::<Object<Spec>>(json)?.spec.unwrap_or_default())
    }
}

/// A [`NicSelector`] to compare with many NICs: a policy may have 1,000 names, and a cluster 100,000 NICs.
#[derive(Debug)]
pub struct NicSelectorForManyNics<'a> {
    selector: &'a NicSelector,
    interfaces: HashSet<&'a str>,
    addresses: HashSet<&'a str>,
}

impl NicSelectorForManyNics<'_> {
    /// Whether it selects a physical function of a node (api/v1/helper.go, `Selected`).
    #[must_use]
    pub fn selects_nic(&self, nic: &PhysicalFunction) -> bool {
        let wanted = self.selector;
        let same = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        let listed = |set: &HashSet<&str>, text: &String| set.contains(text.as_str());
        // The networks that a `netFilter` matches are not read.
        !wanted.is_empty()
            && wanted.net_filter.is_none()
            && same(&wanted.vendor, &nic.vendor)
            && same(&wanted.device_id, &nic.device_id)
            && (self.addresses.is_empty() || nic.address.as_ref().is_some_and(|a| listed(&self.addresses, a)))
            && (self.interfaces.is_empty()
                || std::iter::once(&nic.name)
                    .chain(&nic.alt_names)
                    .any(|name| listed(&self.interfaces, name)))
    }
}

impl NicSelector {
    /// The same, to compare with many NICs.
    #[must_use]
    pub fn for_many_nics(&self) -> NicSelectorForManyNics<'_> {
        let bare = |text: &'_ String| -> usize { text.find('#').unwrap_or(text.len()) };
        NicSelectorForManyNics {
            selector: self,
            interfaces: self.interfaces.iter().filter_map(|text| text.get(..bare(text))).collect(),
            addresses: self.addresses.iter().map(String::as_str).collect(),
        }
    }

    /// Whether it is empty, and so selects no NIC.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    resource_name: Option<String>,
    #[serde(default)]
    device_type: Option<String>,
    #[serde(default)]
    is_rdma: Option<bool>,
    #[serde(default)]
    link_type: Option<String>,
    #[serde(default)]
    mtu: Option<i64>,
    #[serde(default)]
    num_vfs: Option<i64>,
    #[serde(default)]
    priority: Option<i64>,
    #[serde(default)]
    vdpa_type: Option<String>,
    #[serde(default)]
    need_vhost_net: Option<bool>,
    #[serde(default)]
    exclude_topology: Option<bool>,
    #[serde(default)]
    externally_managed: Option<bool>,
    #[serde(default)]
    e_switch_mode: Option<String>,
    #[serde(default, deserialize_with = "optional_struct")]
    nic_selector: Option<Nics>,
    #[serde(default)]
    node_selector: Option<FewEntries<Option<String>, MAX_SELECTOR_ENTRIES>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nics {
    #[serde(default)]
    vendor: Option<String>,
    #[serde(default, rename = "deviceID")]
    device_id: Option<String>,
    #[serde(default)]
    pf_names: Option<Vec<Option<String>>>,
    #[serde(default)]
    root_devices: Option<Vec<Option<String>>>,
    #[serde(default)]
    net_filter: Option<String>,
}

/// `None` for a policy without a resource.
pub(super) fn read(json: &str) -> Result<(Meta, Option<SriovNodePolicy>), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    let policy = policy_or_refuse_long_lists(spec.unwrap_or_default())?;
    Ok((meta, Some(policy).filter(|p| !p.resource.is_empty())))
}

/// Most NICs and labels of one policy or pool that are read (count). They are compared with those of every node and of every other policy.
pub(super) const MAX_SELECTOR_ENTRIES: usize = 1_000;

fn policy_or_refuse_long_lists(spec: Spec) -> Result<SriovNodePolicy, DecodeError> {
    let nics = spec.nic_selector.unwrap_or_default();
    for (pointer, length) in [
        ("/spec/nicSelector/pfNames", nics.pf_names.as_ref().map_or(0, Vec::len)),
        ("/spec/nicSelector/rootDevices", nics.root_devices.as_ref().map_or(0, Vec::len)),
    ] {
        if length > MAX_SELECTOR_ENTRIES {
            let message = format!("{length} entries; at most {MAX_SELECTOR_ENTRIES} are read");
            return Err(DecodeError { pointer: pointer.to_owned(), message });
        }
    }
    let texts = |list: Option<Vec<Option<String>>>| {
        list.unwrap_or_default().into_iter().filter_map(non_empty).collect()
    };
    Ok(SriovNodePolicy {
        resource: spec.resource_name.unwrap_or_default(),
        vfio: spec.device_type.as_deref() == Some("vfio-pci"),
        is_rdma: spec.is_rdma.unwrap_or(false),
        link: spec.link_type.as_deref().and_then(LinkLayer::parse),
        mtu: count_if_not_negative(spec.mtu),
        num_vfs: count_if_not_negative(spec.num_vfs),
        switchdev: spec.e_switch_mode.as_deref() == Some("switchdev"),
        nics: NicSelector {
            vendor: non_empty(nics.vendor),
            device_id: non_empty(nics.device_id),
            interfaces: texts(nics.pf_names),
            addresses: texts(nics.root_devices),
            net_filter: non_empty(nics.net_filter),
        },
        priority: spec.priority,
        vdpa: non_empty(spec.vdpa_type),
        vhost_net: spec.need_vhost_net.unwrap_or(false),
        exclude_topology: spec.exclude_topology.unwrap_or(false),
        external: spec.externally_managed.unwrap_or(false),
        nodes: spec
            .node_selector
            .map(|labels| labels.0)
            .unwrap_or_default()
            .into_iter()
            .map(|(k, v)| (k, v.unwrap_or_default()))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_fields_that_decisions_need() {
        let json = r#"{"metadata":{"name":"p"},"spec":{"resourceName":"r","linkType":"IB","isRdma":true,"mtu":2044,
            "numVfs":8,"nicSelector":{"vendor":"15b3","pfNames":["ib0#0-3"]},"nodeSelector":{"a":"b","c":null},
            "eSwitchMode":"switchdev","bridge":"not read"}}"#;
        let policy = read(json).unwrap().1.unwrap();
        assert_eq!(
            (policy.link, policy.mtu, policy.num_vfs),
            (Some(LinkLayer::InfiniBand), Some(2044), Some(8))
        );
        assert!(policy.do_vfs_have_rdma() && policy.switchdev);
        assert_eq!(policy.nics.interfaces, ["ib0#0-3"]);
        assert_eq!(policy.nodes.get("c").map(String::as_str), Some(""));
    }

    #[test]
    fn more_nics_than_a_fabric_has_are_refused() {
        let of = |n: usize| {
            let names = vec!["ens1f0"; n];
            read(
                &serde_json::json!({"spec": {"resourceName": "r", "nicSelector": {"pfNames": names}}})
                    .to_string(),
            )
        };
        assert!(of(1_000).is_ok());
        let error = of(1_001).unwrap_err();
        assert_eq!(error.to_string(), "/spec/nicSelector/pfNames: 1001 entries; at most 1000 are read");
    }

    #[test]
    fn vfio_has_no_rdma_and_null_is_absent() {
        let policy =
            read(r#"{"spec":{"resourceName":"r","isRdma":true,"deviceType":"vfio-pci","mtu":null}}"#);
        assert!(!policy.unwrap().1.unwrap().do_vfs_have_rdma());
        assert!(read(r#"{"metadata":null,"spec":null}"#).unwrap().1.is_none());
        assert_eq!(read(r#"{"spec":{"numVfs":"8"}}"#).unwrap_err().pointer, "/spec/numVfs");
        assert_eq!(read(r#"{"spec":{"nicSelector":[]}}"#).unwrap_err().pointer, "/spec/nicSelector");
    }
}
