//! The kinds of objects that the rules of this group check.

use crate::rules::ObjectContext;

/// Group and kind of an object.
pub(super) type Name = (&'static str, &'static str);

pub(super) const SRIOV: &str = "sriovnetwork.openshift.io";
pub(super) const NVIDIA: &str = "mellanox.com";
pub(super) const NODE_POLICY: Name = (SRIOV, "SriovNetworkNodePolicy");
pub(super) const NETWORK: Name = (SRIOV, "SriovNetwork");
pub(super) const IB_NETWORK: Name = (SRIOV, "SriovIBNetwork");
pub(super) const OVS_NETWORK: Name = (SRIOV, "OVSNetwork");
pub(super) const POOL_CONFIG: Name = (SRIOV, "SriovNetworkPoolConfig");
pub(super) const OPERATOR_CONFIG: Name = (SRIOV, "SriovOperatorConfig");
pub(super) const MACVLAN_NETWORK: Name = (NVIDIA, "MacvlanNetwork");
pub(super) const IPOIB_NETWORK: Name = (NVIDIA, "IPoIBNetwork");
pub(super) const HOST_DEVICE_NETWORK: Name = (NVIDIA, "HostDeviceNetwork");

/// Whether a SriovNetworkNodePolicy asks for a bridge (api/v1/helper.go, `IsEmpty`: one without `ovs` is none).
pub(super) fn has_bridge(context: &ObjectContext<'_>) -> bool {
    context.value().and_then(|v| v.pointer("/spec/bridge/ovs")).is_some_and(|ovs| !ovs.is_null())
}
