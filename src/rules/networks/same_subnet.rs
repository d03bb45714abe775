//! FAB134: several interfaces of a pod in one subnet.

use super::attached::{Attached, attached};
use crate::multus::LinkLayer;
use crate::multus::subnet::Subnet;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB134.
pub(super) struct SameSubnet;

static SAME_SUBNET: Meta = Meta {
    id: "FAB134",
    severity: Severity::Warning,
    summary: "several Ethernet interfaces of a pod in one subnet",
    what: "Compares the subnets of the pod's attachments, as the networks' `ipam` and the pools of nv-ipam give them. \
           Networks of InfiniBand are passed over, and those that tell interfaces apart themselves: by `sbr`, or by \
           `tuning` with `arp_ignore`, `arp_announce` or `arp_filter`.",
    why: "Linux answers ARP for any of its addresses on any of its interfaces, and sends by one of them alone: all rails \
          end up on one NIC, or RDMA connections time out (`ibv_poll_cq … retry exceeded`, `Connection timed out`).",
    fix: "Give each rail a subnet of its own, or chain `sbr` (policy routing) behind each.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail-a
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rail_a}
spec:
  config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail-b
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rail_b}
spec:
  config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/networks: 'rail-a@rail0, rail-b@rail1'}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/rail_a: 1, nvidia.com/rail_b: 1}}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail-a
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rail_a}
spec:
  config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail-b
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rail_b}
spec:
  config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.2.0.0/16"}}'
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/networks: 'rail-a@rail0, rail-b@rail1'}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/rail_a: 1, nvidia.com/rail_b: 1}}
"#,
    sources: &[
        "NVIDIA/nccl #1109, #1348",
        "ROCm/rccl #1303, Mellanox/k8s-rdma-shared-dev-plugin #297",
        "Linux Documentation/networking/ip-sysctl.rst (arp_ignore, arp_announce, arp_filter)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["IPM-005"],
    waiver: Waiver::Allowed,
};

impl Rule for SameSubnet {
    fn meta(&self) -> &'static Meta {
        &SAME_SUBNET
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let mut found: Vec<(Subnet, Attached<'_>)> = Vec::new();
        for attachment in attached(context) {
            for subnet in subnets(context, &attachment) {
                found.push((*subnet, attachment));
            }
        }
        // Networks of addresses hold one another or are apart. In this order a network comes right after one that holds
        // it, or after others that the same one holds.
        found.sort_by_key(|(subnet, a)| (*subnet, a.place));
        let mut widest: Option<&(Subnet, Attached<'_>)> = None;
        for next in &found {
            match widest {
                Some((subnet, first)) if subnet.overlaps(&next.0) && first.place != next.1.place => {
                    findings.add(
                        annotation_path(),
                        format!(
                            "items {} ({}) and {} ({}) are in one subnet, {subnet}: Linux uses one of the interfaces for both",
                            first.place,
                            first.told(),
                            next.1.place,
                            next.1.told()
                        ),
                        "give each rail a subnet of its own, or chain sbr behind each",
                    );
                    return;
                }
                Some((subnet, _)) if subnet.overlaps(&next.0) => {}
                _ => widest = Some(next),
            }
        }
    }
}

/// Subnets that an attachment may get its address of; none where that does not matter.
fn subnets<'a>(context: &'a PodContext<'_>, attachment: &Attached<'a>) -> &'a [Subnet] {
    let Some(fact) = attachment.fact.filter(|f| !f.addressing.keeps_apart) else { return &[] };
    let Some(ipam) = fact.addressing.ipam.as_deref() else { return &[] };
    // On InfiniBand addresses are looked up once, and RDMA goes by LID and GID.
    if context.snapshot.class_of(fact).link != Some(LinkLayer::Ethernet) {
        return &[];
    }
    match &ipam.pool {
        Some(pool) => {
            context.snapshot.facts().address_pool(pool).map(|p| p.subnets.as_slice()).unwrap_or_default()
        }
        None => &ipam.subnets,
    }
}
