//! FAB326, FAB327, FAB330: SriovNetworkNodePolicies that feed one resource with different devices.

use super::nodes_in_common::{Common, common};
use super::other_policies::{Other, others};
use super::policy_nodes::{requirements, word};
use super::{NODE_POLICY, supported_nics};
use crate::facts::NodePolicy;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// The other policies of the same resource, with what their nodes have in common.
fn of_resource<'a>(
    context: &'a ObjectContext<'_>,
    own: &'a NodePolicy,
) -> impl Iterator<Item = (Other<'a>, Common)> {
    let nodes = requirements(own);
    let same =
        others(context).filter(|other| !own.resource.is_empty() && other.policy.resource == own.resource);
    same.map(move |other| {
        let shared = common(&nodes, &requirements(other.policy), context.snapshot.nodes());
        (other, shared)
    })
    .filter(|(_, shared)| *shared != Common::None)
}

fn severity(shared: &Common) -> Severity {
    if shared.certain() { Severity::Error } else { Severity::Warning }
}

/// FAB326.
pub(super) struct PoolFlags;

static POOL_FLAGS: Meta = Meta {
    id: "FAB326",
    severity: Severity::Error,
    summary: "SriovNetworkNodePolicies of one resource that differ in isRdma or other flags of the pool",
    what: "Compares the policy with every other known one of the same resourceName on nodes that both select: isRdma, \
           vdpaType, needVhostNet, excludeTopology.",
    why: "A resource is one pool, and the operator gives it the flags of one of the policies alone: isRdma, vdpaType and \
          needVhostNet of the first, excludeTopology of the last. Half of the pool then has no RDMA devices, or is \
          dropped (`no devices in device pool, skipping`).",
    fix: "The same flags, or a resource name of its own for each.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail1, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  nicSelector: {vendor: "15b3", pfNames: [ens2f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail1, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens2f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator controllers/sriovnetworknodepolicy_controller.go (updateDevicePluginResource)",
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validateExludeTopologyField)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRX-003", "SRX-005"],
    waiver: Waiver::Allowed,
};

impl Rule for PoolFlags {
    fn meta(&self) -> &'static Meta {
        &POOL_FLAGS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(own) = context.node_policy() else { return };
        for (other, shared) in of_resource(context, own) {
            let policy = other.policy;
            let vdpa = |p: &NodePolicy| p.vdpa.clone().unwrap_or_else(|| "none".to_owned());
            let flags = [
                ("isRdma", own.is_rdma.to_string(), policy.is_rdma.to_string()),
                ("vdpaType", vdpa(own), vdpa(policy)),
                ("needVhostNet", own.vhost_net.to_string(), policy.vhost_net.to_string()),
                ("excludeTopology", own.exclude_topology.to_string(), policy.exclude_topology.to_string()),
            ];
            for (flag, ours, theirs) in flags.iter().filter(|(_, ours, theirs)| ours != theirs) {
                findings.add_as(
                    severity(&shared),
                    format!("/spec/{flag}"),
                    format!(
                        "{flag} {ours}, and {theirs} in policy {} of the same resource {} {}: the pool has one of them",
                        other.name,
                        own.resource,
                        shared.words()
                    ),
                    "the same value in both, or a resource name of its own for each",
                );
            }
        }
    }
}

/// FAB327.
pub(super) struct MixedPool;

static MIXED_POOL: Meta = Meta {
    id: "FAB327",
    severity: Severity::Error,
    summary: "one resource for InfiniBand and Ethernet, or for kernel and vfio-pci devices",
    what: "Compares the policy with every other known one of the same resourceName on nodes that both select: linkType, \
           where both write one, and deviceType.",
    why: "A pod gets any device of the pool: InfiniBand or Ethernet, with a network interface or without, by chance. The \
          network of the pod fits one of them; with the other the CNI plugin fails, or NCCL finds no port. The device \
          plugin warns `Link type selector should have a single value`.",
    fix: "A resource name for each kind of device.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: eth
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail1, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: ib
  nicSelector: {vendor: "15b3", pfNames: [ibs2]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  resourceName: roce_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: eth
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail1, namespace: sriov-network-operator}
spec:
  resourceName: ib_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: ib
  nicSelector: {vendor: "15b3", pfNames: [ibs2]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator controllers/sriovnetworknodepolicy_controller.go (updateDevicePluginResource)",
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/netdevice/netResourcePool.go",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRX-006"],
    waiver: Waiver::Allowed,
};

impl Rule for MixedPool {
    fn meta(&self) -> &'static Meta {
        &MIXED_POOL
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(own) = context.node_policy() else { return };
        let driver = |p: &NodePolicy| if p.vfio { "vfio-pci" } else { "netdevice" };
        for (other, shared) in of_resource(context, own) {
            let policy = other.policy;
            let links = own.link.zip(policy.link).filter(|(ours, theirs)| ours != theirs);
            let links = links.map(|(ours, theirs)| ("linkType", word(ours), word(theirs)));
            let drivers = (own.vfio != policy.vfio).then(|| ("deviceType", driver(own), driver(policy)));
            for (field, ours, theirs) in links.into_iter().chain(drivers) {
                findings.add_as(
                    severity(&shared),
                    format!("/spec/{field}"),
                    format!(
                        "{field} {ours}, and {theirs} in policy {} of the same resource {} {}: pods get either by chance",
                        other.name,
                        own.resource,
                        shared.words()
                    ),
                    "a resource name for each",
                );
            }
        }
    }
}

/// FAB330.
pub(super) struct MixedModels;

static MIXED_MODELS: Meta = Meta {
    id: "FAB330",
    severity: Severity::Warning,
    summary: "one RDMA resource over NICs of different models",
    what: "Compares the policy with every other known one of the same resourceName on nodes that both are certain to \
           select: deviceID, where both are RDMA policies and write one of a known model.",
    why: "A pod gets any device of the pool. NCCL builds its rings over rails of different speed, and the slowest one \
          sets the pace of all.",
    fix: "A resource name for each model, or for each rail.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", deviceID: "1021", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail1, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", deviceID: "101d", pfNames: [ens2f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", deviceID: "1021", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rail1, namespace: sriov-network-operator}
spec:
  resourceName: storage_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", deviceID: "101d", pfNames: [ens2f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator controllers/sriovnetworknodepolicy_controller.go (updateDevicePluginResource)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRX-009"],
    waiver: Waiver::Allowed,
};

impl Rule for MixedModels {
    fn meta(&self) -> &'static Meta {
        &MIXED_MODELS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(own) = context.node_policy().filter(|p| p.rdma()) else { return };
        let model = |policy: &NodePolicy| {
            let device = policy.nics.device_id.as_deref()?;
            supported_nics::of(policy.nics.vendor.as_deref()).find(|m| m.physical == device).map(|m| m.name)
        };
        let Some(ours) = model(own) else { return };
        for (other, shared) in of_resource(context, own) {
            let Some(theirs) = model(other.policy).filter(|m| *m != ours && other.policy.rdma()) else {
                continue;
            };
            if shared.certain() {
                findings.add(
                    "/spec/nicSelector/deviceID",
                    format!(
                        "{ours} in resource {}, and {theirs} in policy {} {}: a pod's rails may differ in speed",
                        own.resource,
                        other.name,
                        shared.words()
                    ),
                    "a resource name for each model",
                );
            }
        }
    }
}
