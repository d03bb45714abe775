//! FAB222 to FAB224: the RDMA mode of the nodes, and networks and pools that need the other one.

use crate::facts::{Site, config_texts};
use crate::multus::Sharing;
use crate::rules::devices::Known;
use crate::rules::examples::{macvlan_network, node_state, pod, shared_pool, vf_network};
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, ObjectContext, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB222.
pub(super) struct IsolationInSharedMode;

static ISOLATION_IN_SHARED_MODE: Meta = Meta {
    id: "FAB222",
    severity: Severity::Error,
    summary: "network that isolates RDMA devices, on nodes in RDMA mode shared",
    what: "The configuration of a network chains plugin `rdma`, or ib-sriov has `rdmaIsolation`, and every node that \
           serves its resource says `rdmaMode: shared` in its SriovNetworkNodeState. A warning on the network itself: \
           the nodes may yet be switched.",
    why: "The plugin refuses to run: `RDMA subsystem namespace awareness mode is set to shared, expecting exclusive`. \
          The sandbox fails and the pod stays in ContainerCreating.",
    fix: "Set `rdmaMode: exclusive` in a SriovNetworkPoolConfig for these nodes (they reboot), or drop the plugin.",
    bad: concat!(
        node_state!("shared"),
        vf_network!(", {\"type\": \"rdma\"}"),
        pod!(networks: "rail", limits: ", openshift.io/rdma_vf: 1")
    ),
    good: concat!(
        node_state!("exclusive"),
        vf_network!(", {\"type\": \"rdma\"}"),
        pod!(networks: "rail", limits: ", openshift.io/rdma_vf: 1")
    ),
    sources: &[
        "k8snetworkplumbingwg/rdma-cni cmd/rdma/main.go",
        "k8snetworkplumbingwg/sriov-network-operator#481",
    ],
    since: "0.1.0",
    kinds: &[
        ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
        ("sriovnetwork.openshift.io", "SriovNetwork"),
        ("sriovnetwork.openshift.io", "SriovIBNetwork"),
    ],
    also: &["XOB-004"],
    waiver: Waiver::Allowed,
};

/// FAB223.
pub(super) struct NoIsolationInExclusiveMode;

static NO_ISOLATION_IN_EXCLUSIVE_MODE: Meta = Meta {
    id: "FAB223",
    severity: Severity::Error,
    summary: "network that leaves the RDMA device behind, on nodes in RDMA mode exclusive",
    what: "The network gives a function with RDMA, nothing in its configuration moves the RDMA device (plugin `rdma`, or \
           `rdmaIsolation` of ib-sriov), and every node that serves its resource says `rdmaMode: exclusive`. An error \
           where the pod wants RDMA: by its profile, `NCCL_IB_HCA` or `NCCL_NET=IB`. Else, and on the network itself, a \
           warning.",
    why: "In exclusive mode an RDMA device is seen in one network namespace only. The interface comes into the pod, the \
          RDMA device stays on the host: NCCL finds none (`No IB devices found`) and uses TCP.",
    fix: "Chain plugin `rdma` after the one that moves the function: `metaPlugins: '{\"type\": \"rdma\"}'`.",
    bad: concat!(
        node_state!("exclusive"),
        vf_network!(""),
        pod!(metadata: "", networks: "rail", spec: "", limits: ", openshift.io/rdma_vf: 1", container: "    env: [{name: NCCL_IB_HCA, value: mlx5}]\n")
    ),
    good: concat!(
        node_state!("exclusive"),
        vf_network!(", {\"type\": \"rdma\"}"),
        pod!(metadata: "", networks: "rail", spec: "", limits: ", openshift.io/rdma_vf: 1", container: "    env: [{name: NCCL_IB_HCA, value: mlx5}]\n")
    ),
    sources: &["k8snetworkplumbingwg/rdma-cni README.md", "kubernetes-sigs/dranet#71"],
    since: "0.1.0",
    kinds: &[
        ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
        ("sriovnetwork.openshift.io", "SriovNetwork"),
        ("sriovnetwork.openshift.io", "SriovIBNetwork"),
    ],
    also: &["XOB-006"],
    waiver: Waiver::Allowed,
};

/// What the nodes say that serve a network's resource.
fn site<'a>(known: &Known<'a>, facts: &'a crate::facts::Index) -> Option<&'a Site> {
    facts.site(known.class.resource?)
}

fn isolates_in_shared(known: &Known<'_>, site: &Site) -> bool {
    known.class.isolation && known.fact.takes_device == Some(true) && site.exclusive == Some(false)
}

fn stays_behind(known: &Known<'_>, site: &Site) -> bool {
    matches!(known.class.sharing, Some(Sharing::ExclusiveVf | Sharing::ExclusiveNic))
        && !known.class.isolation
        && known.class.resource.and_then(|r| r.rdma) == Some(true)
        && site.exclusive == Some(true)
}

/// The networks of a pod that a condition holds of.
fn of_pod(context: &PodContext<'_>, holds: fn(&Known<'_>, &Site) -> bool, tell: &mut dyn FnMut(String)) {
    if context.pod().host_network() {
        return;
    }
    let facts = context.snapshot.facts();
    for network in &context.devices().networks {
        if let Some(known) = network.known
            && site(&known, facts).is_some_and(|site| holds(&known, site))
        {
            tell(network.told());
        }
    }
}

/// Whether a condition holds of a network object.
fn of_object(context: &ObjectContext<'_>, holds: fn(&Known<'_>, &Site) -> bool) -> bool {
    let Some(network) = context.network() else { return false };
    let class = context.snapshot.class_of(&network.fact);
    let known = Known { fact: &network.fact, class };
    site(&known, context.snapshot.facts()).is_some_and(|site| holds(&known, site))
}

/// Where a network object has its chain of plugins.
fn chain_path(context: &ObjectContext<'_>) -> &'static str {
    match context.kind {
        "NetworkAttachmentDefinition" => "/spec/config",
        _ => "/spec/metaPlugins",
    }
}

impl Rule for IsolationInSharedMode {
    fn meta(&self) -> &'static Meta {
        &ISOLATION_IN_SHARED_MODE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        // The mode is a node's: nodes that the operator does not look after may have the other.
        let severity =
            if context.snapshot.states_cover_nodes() { Severity::Error } else { Severity::Warning };
        of_pod(context, isolates_in_shared, &mut |network| {
            findings.add_as(
                severity,
                annotation_path(),
                format!("network {network} moves RDMA devices, and its nodes (SriovNetworkNodeState) are in RDMA mode shared"),
                "ask for a network without plugin rdma, or have the nodes set to rdmaMode exclusive",
            );
        });
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if of_object(context, isolates_in_shared) {
            findings.add_as(
                Severity::Warning,
                chain_path(context),
                "the network moves RDMA devices, and the nodes of its resource are in RDMA mode shared: no pod of it starts",
                "set rdmaMode: exclusive in a SriovNetworkPoolConfig for the nodes, or drop plugin rdma",
            );
        }
    }
}

impl Rule for NoIsolationInExclusiveMode {
    fn meta(&self) -> &'static Meta {
        &NO_ISOLATION_IN_EXCLUSIVE_MODE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let severity = || {
            if context.wants_rdma() && context.snapshot.states_cover_nodes() {
                Severity::Error
            } else {
                Severity::Warning
            }
        };
        of_pod(context, stays_behind, &mut |network| {
            findings.add_as(
                severity(),
                annotation_path(),
                format!("network {network} leaves the RDMA device on the host: its nodes (SriovNetworkNodeState) are in RDMA mode exclusive"),
                "ask for a network that chains plugin rdma",
            );
        });
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if of_object(context, stays_behind) {
            findings.add_as(
                Severity::Warning,
                chain_path(context),
                "the nodes of its resource are in RDMA mode exclusive, and nothing moves the RDMA device into the pod",
                "chain plugin rdma after the one that moves the function",
            );
        }
    }
}

/// FAB224.
pub(super) struct SharedPoolInExclusiveMode;

static SHARED_POOL_IN_EXCLUSIVE_MODE: Meta = Meta {
    id: "FAB224",
    severity: Severity::Warning,
    summary: "shared RDMA devices on nodes in RDMA mode exclusive",
    what: "A pool of the RDMA shared device plugin is over interfaces (`ifNames`) that only nodes have whose \
           SriovNetworkNodeState says `rdmaMode: exclusive`: on the policy, and on each pod that asks for it, unless a node \
           lists the resource.",
    why: "The plugin does not start there (`incorrect RDMA subsystem network namespace`), so that the resource is never \
          advertised and the pod stays Pending; a plugin that is older than the switch gives devices that the pod \
          cannot see.",
    fix: "Use SR-IOV functions with plugin `rdma` on these nodes, or set them to `rdmaMode: shared`.",
    bad: concat!(
        node_state!("exclusive"),
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 1")
    ),
    good: concat!(
        node_state!("shared"),
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 1")
    ),
    sources: &[
        "Mellanox/k8s-rdma-shared-dev-plugin#84, #87 (pkg/resources/resources_manager.go, ValidateRdmaSystemMode)",
    ],
    since: "0.1.0",
    kinds: &[("mellanox.com", "NicClusterPolicy"), ("mellanox.com", "NicNodePolicy")],
    also: &["XOB-005"],
    waiver: Waiver::Allowed,
};

/// Whether every interface of a pool is on nodes in mode exclusive.
fn on_exclusive(interfaces: &[String], facts: &crate::facts::Index) -> bool {
    let exclusive = |name: &String| facts.port(name).is_some_and(|port| port.exclusive == Some(true));
    !interfaces.is_empty() && interfaces.iter().all(exclusive)
}

impl Rule for SharedPoolInExclusiveMode {
    fn meta(&self) -> &'static Meta {
        &SHARED_POOL_IN_EXCLUSIVE_MODE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let facts = context.snapshot.facts();
        let classes = context.snapshot.nodes().classes();
        let shared = context.devices().held.iter().filter(|held| held.fact.shared == Some(true));
        for held in shared.filter(|held| on_exclusive(&held.fact.interfaces, facts)) {
            // Nodes that the SR-IOV operator does not manage may have interfaces of the same names.
            if classes.offering_of(held.name).is_some() {
                continue;
            }
            // What a pool is over is the operators' to know.
            let over = match context.tenant_view {
                true => "NICs".to_owned(),
                false => printable(&held.fact.interfaces.join(", "), 40),
            };
            findings.add(
                held.path(),
                format!(
                    "{} of {} is over {over}, whose nodes are in RDMA mode exclusive: the plugin does not start there",
                    printable(held.name, 63),
                    held.fact.told(context.tenant_view),
                ),
                "use SR-IOV functions on these nodes, or have them set to rdmaMode shared",
            );
        }
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let facts = context.snapshot.facts();
        for text in config_texts(context.json).unwrap_or_default() {
            let pools = text.pools.as_deref().unwrap_or_default();
            let shared = pools.iter().filter(|pool| pool.shared == Some(true));
            for pool in shared.filter(|pool| on_exclusive(&pool.interfaces, facts)) {
                findings.add(
                    text.pointer,
                    format!(
                        "{} is over {}, whose nodes are in RDMA mode exclusive (SriovNetworkNodeState): the plugin does not start there",
                        printable(&pool.name.to_string(), 63),
                        printable(&pool.interfaces.join(", "), 40)
                    ),
                    "set the nodes to rdmaMode shared, or serve them with the SR-IOV device plugin",
                );
            }
        }
    }
}
