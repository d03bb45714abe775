//! FAB225, FAB226: networks that bring an interface and no RDMA device, to a pod that is there for RDMA.

use crate::multus::Sharing;
use crate::rules::examples::{macvlan_network, pod, shared_pool};
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver, names_rdma};
use crate::text::printable;

/// FAB225.
pub(super) struct FunctionsWithoutRdma;

macro_rules! policy {
    ($rdma:literal) => {
        concat!(
            "apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rails, namespace: sriov-network-operator}
spec:
  resourceName: rails
  deviceType: netdevice
  isRdma: ",
            $rdma,
            "
  priority: 10
  mtu: 9000
  numVfs: 8
  nicSelector: {vendor: '15b3', pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: 'true'}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rails}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"rail\", \"type\": \"sriov\", \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}'
---
"
        )
    };
}

static FUNCTIONS_WITHOUT_RDMA: Meta = Meta {
    id: "FAB225",
    severity: Severity::Warning,
    summary: "RDMA wanted over functions without RDMA",
    what: "The pod says that it wants RDMA (its profile, `NCCL_IB_HCA` or `NCCL_NET=IB`), and every device that its \
           networks take is of a policy or a device plugin configuration without `isRdma: true`.",
    why: "The interface works and `/dev/infiniband` is not in the container: NCCL finds no device and uses TCP, or stops \
          with `Failed to initialize NET plugin IB` where `NCCL_NET=IB` is set.",
    fix: "Set `isRdma: true` in the SriovNetworkNodePolicy or in the selectors of the device plugin, or ask for a network \
          over a resource that has it.",
    bad: concat!(
        policy!("false"),
        pod!(metadata: "", networks: "rail", spec: "", limits: ", openshift.io/rails: 1", container: "    env: [{name: NCCL_IB_HCA, value: mlx5}]\n")
    ),
    good: concat!(
        policy!("true"),
        pod!(metadata: "", networks: "rail", spec: "", limits: ", openshift.io/rails: 1", container: "    env: [{name: NCCL_IB_HCA, value: mlx5}]\n")
    ),
    sources: &[
        "k8snetworkplumbingwg/sriov-network-device-plugin docs/rdma/README.md",
        "k8snetworkplumbingwg/sriov-network-operator doc/rdma-configuration.md",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-003"],
    waiver: Waiver::Allowed,
};

impl Rule for FunctionsWithoutRdma {
    fn meta(&self) -> &'static Meta {
        &FUNCTIONS_WITHOUT_RDMA
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let devices = context.devices();
        if devices.networks.is_empty() || context.pod().host_network() || others_may_bring_rdma(context) {
            return;
        }
        let taking =
            devices.networks.iter().filter(|n| n.known.is_none_or(|k| k.fact.takes_device != Some(false)));
        let mut without = Vec::new();
        for network in taking {
            let resource = network.known.and_then(|known| known.class.resource);
            match resource.filter(|r| r.rdma == Some(false)) {
                Some(resource) => without.push((network, resource)),
                None => return,
            }
        }
        if without.is_empty() || !context.wants_rdma() {
            return;
        }
        for (network, resource) in without {
            findings.add(
                annotation_path(),
                format!(
                    "network {} has no RDMA device: {} of {} is without isRdma, and NCCL gets TCP",
                    network.told(),
                    printable(&resource.name.to_string(), 63),
                    resource.told(context.tenant_view)
                ),
                "ask for a network over a resource with isRdma: true",
            );
        }
    }
}

/// Whether a device of the pod has RDMA, or may have it, by something else than its networks.
fn others_may_bring_rdma(context: &PodContext<'_>) -> bool {
    let pod = context.pod();
    let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    if !claims.is_empty() {
        return true;
    }
    if context.devices().held.iter().any(|held| held.fact.rdma != Some(false)) {
        return true;
    }
    let unknown = |name: &str| names_rdma(name) && context.snapshot.resource(name).is_none();
    pod.containers()
        .iter()
        .enumerate()
        .any(|(index, container)| container.privileged() || context.resource_names(index).any(unknown))
}

/// FAB226.
pub(super) struct InterfaceAlone;

static INTERFACE_ALONE: Meta = Meta {
    id: "FAB226",
    severity: Severity::Warning,
    summary: "network over an RDMA NIC without the RDMA device",
    what: "A pod with accelerators has a macvlan, ipvlan or IPoIB network over an interface for which the cluster has a \
           pool of shared RDMA devices, and asks for no RDMA device at all.",
    why: "The network gives an interface, no more. Without a unit of the pool `/dev/infiniband` is not in the container, \
          and NCCL runs over TCP on that interface.",
    fix: "Ask one unit of the pool in the container with the accelerators.",
    bad: concat!(shared_pool!(), macvlan_network!("ens1f0np0"), pod!(networks: "macvlan", limits: "")),
    good: concat!(
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 1")
    ),
    sources: &[
        "Mellanox/k8s-rdma-shared-dev-plugin README.md",
        "Mellanox/network-operator example/macvlan-network.yaml",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-010"],
    waiver: Waiver::Allowed,
};

impl Rule for InterfaceAlone {
    fn meta(&self) -> &'static Meta {
        &INTERFACE_ALONE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let devices = context.devices();
        let shared = |sharing: Option<Sharing>| sharing == Some(Sharing::Shared);
        if devices.networks.is_empty()
            || context.pod().host_network()
            || !context.demands.any()
            || devices.networks.iter().any(|n| n.known.is_none_or(|k| !shared(k.class.sharing)))
            || others_may_bring_rdma(context)
        {
            return;
        }
        for network in &devices.networks {
            let Some(pool) = network.known.and_then(|known| known.class.resource) else { continue };
            if pool.rdma == Some(true) {
                findings.add(
                    annotation_path(),
                    format!(
                        "network {} is over an RDMA NIC, and no container asks {}: NCCL runs over TCP",
                        network.told(),
                        printable(&pool.name.to_string(), 63)
                    ),
                    format!(
                        "ask {}: 1 in the container with the accelerators",
                        printable(&pool.name.to_string(), 63)
                    ),
                );
            }
        }
    }
}
