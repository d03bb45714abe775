//! FAB220: an RDMA device on Ethernet without an interface over the same NIC.

use crate::facts::Server;
use crate::multus::{LinkLayer, Sharing};
use crate::rules::devices::{Attached, Held};
use crate::rules::examples::{macvlan_network, pod, shared_pool};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB220.
pub(super) struct NoInterface;

static NO_INTERFACE: Meta = Meta {
    id: "FAB220",
    severity: Severity::Error,
    summary: "RoCE device without a network over the same NIC",
    what: "The pod holds an RDMA device whose link layer is known to be Ethernet, and none of its networks gives an \
           interface over that NIC. An error where the pod has no network at all and the cluster has one over the \
           device; else a warning. Silent where the link layer is InfiniBand or not known, where a network is not \
           known, and on hostNetwork pods, pods with claims and pods with networks of a provider.",
    why: "A RoCE address (GID) belongs to an interface in the pod's network namespace. Without one the GID table is all \
          zeros: `ibv_modify_qp` fails, NCCL says `Failed to modify QP to RTR` or `No such device`, or falls back to \
          TCP. On InfiniBand, which addresses by LID, the same pod works.",
    fix: "Name a network over the same NIC, with IPAM, in annotation `k8s.v1.cni.cncf.io/networks`.",
    bad: concat!(
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(metadata: "", spec: "", limits: ", rdma/hca_a: 1", container: "")
    ),
    good: concat!(
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 1")
    ),
    sources: &[
        "Mellanox/k8s-rdma-shared-dev-plugin#72, #86, #101, #112",
        "projectcalico/calico#8482",
        "NVIDIA/nccl#1796",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-001"],
    waiver: Waiver::Allowed,
};

/// Annotations by which others than Multus, or Multus itself in place of the cluster's network, give interfaces.
const OTHERS: [&str; 4] = [
    "networking.gke.io/interfaces",
    "k8s.volcengine.com/pod-networks",
    "v1.multus-cni.io/default-network",
    "cni.spidernet.io/rdma-resource-inject",
];

impl Rule for NoInterface {
    fn meta(&self) -> &'static Meta {
        &NO_INTERFACE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let claims = || pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
        let roce = |held: &&Held<'_>| {
            held.fact.rdma == Some(true)
                && held.fact.link == Some(LinkLayer::Ethernet)
                && held.fact.server != Server::DeviceClass
        };
        let devices = context.devices();
        let mut held = devices.held.iter().filter(roce).peekable();
        if held.peek().is_none()
            || pod.host_network()
            || !claims().is_empty()
            || matches!(context.final_networks, Some(Err(_)))
            || OTHERS.iter().any(|key| pod.annotation(key).is_some())
        {
            return;
        }
        // Where the prefix is wrong, that is told.
        let told = |held: &Held<'_>| devices.needs.iter().any(|need| need.namesake == Some(held.name));
        let held = held.filter(|held| !told(held));
        for held in held.filter(|held| !devices.networks.iter().any(|network| may_be_over(network, held))) {
            tell(context, held, devices.networks.is_empty(), findings);
        }
    }
}

/// Whether a network gives an interface over the NIC of a device, or may do so.
fn may_be_over(network: &Attached<'_>, held: &Held<'_>) -> bool {
    let Some(known) = network.known else { return true };
    match (known.class.sharing, &known.fact.resource) {
        (None, _) => true,
        // Over which NIC it is, another rule judges.
        (Some(Sharing::Shared), _) => held.fact.shared != Some(false),
        (Some(_), Some(resource)) => resource.matches(held.name),
        (Some(_), None) => true,
    }
}

fn tell(context: &PodContext<'_>, held: &Held<'_>, bare: bool, findings: &mut Findings<'_>) {
    let mut over = context.snapshot.facts().networks_over(held.fact).peekable();
    // That the cluster's own network is over the NIC cannot be seen; where it has another one for it, it is not.
    let severity = if bare && over.peek().is_some() { Severity::Error } else { Severity::Warning };
    let own = over.find(|n| !context.tenant_view || n.namespace == context.namespace);
    let fix = match own {
        Some(network) => format!(
            "name network {}/{} in annotation k8s.v1.cni.cncf.io/networks",
            network.namespace,
            printable(&network.name, 63)
        ),
        None => "name a network over the same NIC in annotation k8s.v1.cni.cncf.io/networks".to_owned(),
    };
    findings.add_as(
        severity,
        held.path(),
        format!(
            "{} is RoCE ({}), and no network of the pod is over its NIC: its GID table stays empty",
            printable(held.name, 63),
            held.fact.told(context.tenant_view)
        ),
        fix,
    );
}
