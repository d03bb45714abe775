//! The class of a network: the plugin that attaches it, its link layer, and whether a pod has the device to itself.

use crate::multus::cni_config::{CniConfig, Plugin};

/// The link layer of a NIC's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkLayer {
    /// Ethernet; RDMA over it is RoCE.
    Ethernet,
    /// InfiniBand.
    InfiniBand,
}

impl LinkLayer {
    /// Reads a link type as the SR-IOV operator (`eth`, `ETH`, `ib`, `IB`), the device plugins (`ether`,
    /// `infiniband`) and DRA drivers write it. None of them distinguishes case: their documentation mixes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "eth" | "ether" | "ethernet" => Some(Self::Ethernet),
            "ib" | "infiniband" => Some(Self::InfiniBand),
            _ => None,
        }
    }

    /// The link layer that an interface name shows. systemd names IPoIB interfaces `ib…` (`ibs`, `ibp`, `ibP`), and
    /// the kernel `ibN` (systemd.net-naming-scheme(7)); other names show nothing.
    #[must_use]
    pub fn of_interface_name(name: &str) -> Option<Self> {
        name.starts_with("ib").then_some(Self::InfiniBand)
    }
}

/// How many pods have a network's device at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sharing {
    /// A virtual function of one pod.
    ExclusiveVf,
    /// A whole function of one pod: a NIC, or whatever function its resource provides.
    ExclusiveNic,
    /// A virtual function behind a hardware switch (Open vSwitch with offload).
    Switchdev,
    /// An interface over a NIC that is shared, or over none.
    Shared,
}

/// The facts about a network in its CNI configuration. All are unknown if the object has no configuration, or one
/// that cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkClass {
    /// `type` of the plugin that creates the interface.
    pub plugin: Option<String>,
    /// Whether the RDMA device moves into the pod's namespace, which needs nodes in RDMA mode `exclusive`.
    pub isolation: bool,
    /// Link layer, if the plugin works on only one.
    pub link: Option<LinkLayer>,
    /// Sharing, if the plugin is a known one.
    pub sharing: Option<Sharing>,
    /// Interface of the host that the plugin names.
    pub interface: Option<String>,
}

/// Plugins that change an interface which another plugin created.
const META_PLUGINS: [&str; 9] =
    ["rdma", "tuning", "vrf", "sbr", "bandwidth", "portmap", "route-override", "coordinator", "ifacer"];

/// Classifies a configuration. The primary plugin is the first that creates an interface; unknown types are not
/// faults, their class is unknown (rdma-cni README; containernetworking/plugins; k8snetworkplumbingwg/sriov-cni and
/// ib-sriov-cni; Mellanox/ipoib-cni).
#[must_use]
pub fn classify_cni_config(config: &CniConfig) -> NetworkClass {
    let primary = config.plugins.iter().find(|p| !META_PLUGINS.contains(&p.cni_type.as_str()));
    let isolation = config.plugins.iter().any(|p| p.cni_type == "rdma")
        || primary.is_some_and(|p: &Plugin| p.rdma_isolation);
    let Some(primary) = primary else { return NetworkClass { isolation, ..NetworkClass::default() } };
    let (link, sharing) = match primary.cni_type.as_str() {
        "sriov" => (Some(LinkLayer::Ethernet), Some(Sharing::ExclusiveVf)),
        "ib-sriov" => (Some(LinkLayer::InfiniBand), Some(Sharing::ExclusiveVf)),
        "ovs" => (Some(LinkLayer::Ethernet), Some(Sharing::Switchdev)),
        // The function may be of either kind: only its resource shows which.
        "host-device" => (None, Some(Sharing::ExclusiveNic)),
        "ipoib" => (Some(LinkLayer::InfiniBand), Some(Sharing::Shared)),
        "macvlan" | "ipvlan" | "bridge" | "ptp" | "vlan" => {
            (Some(LinkLayer::Ethernet), Some(Sharing::Shared))
        }
        _ => (None, None),
    };
    NetworkClass {
        plugin: Some(primary.cni_type.clone()),
        isolation,
        link,
        sharing,
        interface: primary.interface.clone(),
    }
}

impl NetworkClass {
    /// Whether the plugin takes one device per attachment.
    #[must_use]
    pub fn takes_device(&self) -> Option<bool> {
        match self.sharing? {
            // An Open vSwitch bridge takes a function or a veth; a resource may only mark the nodes that have it
            // (k8snetworkplumbingwg/ovs-cni docs/marker.md).
            Sharing::Switchdev => None,
            sharing => Some(sharing != Sharing::Shared),
        }
    }

    /// Link layer with the other known facts: that of the resource's devices and that of the interface on the nodes.
    ///
    /// A plugin for only one link layer settles it. But macvlan and ipvlan accept any master in their configuration;
    /// over InfiniBand they fail on the node.
    #[must_use]
    pub fn link_layer_with_other_facts(
        &self,
        resource: Option<LinkLayer>,
        interface: Option<LinkLayer>,
    ) -> Option<LinkLayer> {
        let named = || interface.or_else(|| self.interface.as_deref().and_then(LinkLayer::of_interface_name));
        match self.plugin.as_deref() {
            Some("macvlan" | "ipvlan") => named().or(self.link),
            _ => self.link.or(resource).or_else(named),
        }
    }

    /// Whether an RDMA device comes with an attachment, by the resource's devices: ib-sriov attaches nothing else.
    #[must_use]
    pub fn has_rdma_with_other_facts(&self, resource: Option<bool>) -> Option<bool> {
        resource.or_else(|| (self.plugin.as_deref() == Some("ib-sriov")).then_some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> NetworkClass {
        classify_cni_config(&CniConfig::parse(text).unwrap())
    }

    #[test]
    fn each_known_plugin() {
        use LinkLayer::{Ethernet, InfiniBand};
        for (cni_type, link, sharing, takes) in [
            ("sriov", Some(Ethernet), Some(Sharing::ExclusiveVf), Some(true)),
            ("ib-sriov", Some(InfiniBand), Some(Sharing::ExclusiveVf), Some(true)),
            ("ovs", Some(Ethernet), Some(Sharing::Switchdev), None),
            ("host-device", None, Some(Sharing::ExclusiveNic), Some(true)),
            ("ipoib", Some(InfiniBand), Some(Sharing::Shared), Some(false)),
            ("macvlan", Some(Ethernet), Some(Sharing::Shared), Some(false)),
            ("ipvlan", Some(Ethernet), Some(Sharing::Shared), Some(false)),
            ("amd-host-device", None, None, None),
            ("multi-nic", None, None, None),
        ] {
            let class = class(&format!(r#"{{"type":"{cni_type}"}}"#));
            assert_eq!(class.plugin.as_deref(), Some(cni_type));
            assert_eq!(
                (class.link, class.sharing, class.takes_device()),
                (link, sharing, takes),
                "{cni_type}"
            );
            assert!(!class.isolation);
        }
    }

    #[test]
    fn meta_plugins_are_skipped() {
        let chained = class(r#"{"plugins":[{"type":"tuning"},{"type":"sriov"},{"type":"rdma"}]}"#);
        assert_eq!((chained.plugin.as_deref(), chained.isolation), (Some("sriov"), true));
        let alone = class(r#"{"type":"rdma"}"#);
        assert_eq!((alone.plugin, alone.isolation, alone.sharing), (None, true, None));
        assert!(class(r#"{"type":"ib-sriov","rdmaIsolation":true}"#).isolation);
    }

    #[test]
    fn other_facts_settle_a_class_that_the_plugin_leaves_open() {
        use LinkLayer::{Ethernet, InfiniBand};
        let device = class(r#"{"type":"host-device"}"#);
        assert_eq!(device.link_layer_with_other_facts(Some(InfiniBand), None), Some(InfiniBand));
        assert_eq!(device.link_layer_with_other_facts(None, None), None);
        let named = class(r#"{"type":"host-device","device":"ibs3"}"#);
        assert_eq!(named.link_layer_with_other_facts(None, None), Some(InfiniBand));
        assert_eq!(named.link_layer_with_other_facts(None, Some(Ethernet)), Some(Ethernet));
        let macvlan = class(r#"{"type":"macvlan","master":"ibp12s0"}"#);
        assert_eq!(macvlan.link_layer_with_other_facts(None, None), Some(InfiniBand));
        assert_eq!(
            class(r#"{"type":"macvlan","master":"ens1"}"#).link_layer_with_other_facts(None, None),
            Some(Ethernet)
        );
        assert_eq!(
            class(r#"{"type":"sriov"}"#).link_layer_with_other_facts(Some(InfiniBand), None),
            Some(Ethernet)
        );
        assert_eq!(class(r#"{"type":"ib-sriov"}"#).has_rdma_with_other_facts(None), Some(true));
        assert_eq!(class(r#"{"type":"sriov"}"#).has_rdma_with_other_facts(Some(false)), Some(false));
        assert_eq!(class(r#"{"type":"sriov"}"#).has_rdma_with_other_facts(None), None);
    }

    #[test]
    fn link_types_in_every_spelling() {
        for text in ["eth", "ETH", "ether", "Ethernet"] {
            assert_eq!(LinkLayer::parse(text), Some(LinkLayer::Ethernet));
        }
        for text in ["ib", "IB", "InfiniBand"] {
            assert_eq!(LinkLayer::parse(text), Some(LinkLayer::InfiniBand));
        }
        assert_eq!(LinkLayer::parse(""), None);
    }
}
