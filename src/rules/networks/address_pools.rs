//! FAB136: networks and the pools of nv-ipam that they name.

use super::attached::attached;
use super::duplicate_addresses::WITH_IPAM;
use super::network::{IpamText, fact};
use crate::multus::LinkLayer;
use crate::multus::ipam::PoolRef;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, ObjectContext, PodContext, Rule, Severity, Waiver};
use crate::text::{nearest, printable};
use std::collections::BTreeMap;

/// FAB136.
pub(super) struct AddressPools;

static ADDRESS_POOLS: Meta = Meta {
    id: "FAB136",
    severity: Severity::Error,
    summary: "a pool of nv-ipam that is too small, or that the network cannot use",
    what: "An error for a pod with more attachments on one IPPool than the pool gives a node (`perNodeBlockSize`). As a \
           warning on networks: a `poolName` that is there only as the other kind (`poolType` is `ippool` unless it says \
           `cidrpool`), and a CIDRPool without `gatewayIndex` and `routes` behind an Ethernet network. A pool that is not \
           among those at hand is information.",
    why: "`no free addresses in the pool`, `configuration for pool … not found`: the pod stays in ContainerCreating. With \
          a CIDRPool every node has a subnet of its own; without a gateway no interface reaches those of other nodes.",
    fix: "Raise `perNodeBlockSize`, name a pool of the right kind, or give the CIDRPool `gatewayIndex` and `routes`.",
    bad: r#"apiVersion: nv-ipam.nvidia.com/v1alpha1
kind: IPPool
metadata: {name: rdma, namespace: nvidia-network-operator}
spec: {subnet: 10.1.0.0/16, perNodeBlockSize: 1, gateway: 10.1.0.1}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/ib_vf}
spec:
  config: '{"type": "ib-sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/networks: 'rdma-net@rail0, rdma-net@rail1'}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/ib_vf: 2}}
"#,
    good: r#"apiVersion: nv-ipam.nvidia.com/v1alpha1
kind: IPPool
metadata: {name: rdma, namespace: nvidia-network-operator}
spec: {subnet: 10.1.0.0/16, perNodeBlockSize: 64, gateway: 10.1.0.1}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/ib_vf}
spec:
  config: '{"type": "ib-sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/networks: 'rdma-net@rail0, rdma-net@rail1'}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/ib_vf: 2}}
"#,
    sources: &[
        "Mellanox/nvidia-k8s-ipam pkg/ipam-node/handlers/allocate.go, pkg/cni/types/types.go",
        "Mellanox/nvidia-k8s-ipam README.md (CIDRPool)",
    ],
    since: "0.1.0",
    kinds: WITH_IPAM,
    also: &["IPM-007", "IPM-009", "IPM-011"],
    waiver: Waiver::Allowed,
};

impl Rule for AddressPools {
    fn meta(&self) -> &'static Meta {
        &ADDRESS_POOLS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(fact) = fact(context) else { return };
        let Some(pool) = fact.addressing.ipam.as_ref().and_then(|i| i.pool.as_ref()) else { return };
        let facts = context.snapshot.facts();
        let Some(ipam) = IpamText::read(context) else { return };
        let name = printable(&pool.name, 100);
        let (kind, other_kind) = if pool.cidr { ("CIDRPool", "IPPool") } else { ("IPPool", "CIDRPool") };
        let known = facts.address_pool_names(pool.cidr);
        let other = facts.address_pool_names(!pool.cidr);
        if let Some(found) = facts.address_pool(pool) {
            let link = context.snapshot.class_of(&fact).link;
            if found.cidr && !found.routed && link == Some(LinkLayer::Ethernet) {
                ipam.tell(
                    findings,
                    Severity::Warning,
                    "/poolName",
                    format!("CIDRPool {name} has neither gatewayIndex nor routes: interfaces of two nodes do not reach each other"),
                    "give the CIDRPool gatewayIndex, and routes to the other nodes' subnets",
                );
            }
        } else if !known.contains(&&*pool.name) && other.contains(&&*pool.name) {
            let fix = format!("write \"poolType\": \"{}\"", other_kind.to_ascii_lowercase());
            let message =
                format!("there is {other_kind} {name}, and no {kind} of that name among the objects at hand");
            ipam.tell(findings, Severity::Warning, "/poolName", message, fix);
        } else if !(known.contains(&&*pool.name) || known.is_empty() && other.is_empty()) {
            let fix = match nearest(&pool.name, known.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => "name a pool that exists, or create it".to_owned(),
            };
            let message = format!("{kind} {name} is not among the pools at hand");
            ipam.tell(findings, Severity::Info, "/poolName", message, fix);
        }
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let mut counts: BTreeMap<&str, (u64, &PoolRef)> = BTreeMap::new();
        for attachment in attached(context) {
            let pool = attachment.fact.and_then(|f| f.addressing.ipam.as_ref()?.pool.as_ref());
            if let Some(pool) = pool.filter(|p| !p.cidr) {
                counts.entry(&pool.name).or_insert((0, pool)).0 += 1;
            }
        }
        for (name, (count, pool)) in counts {
            let per_node = context.snapshot.facts().address_pool(pool).and_then(|p| p.per_node);
            if let Some(per_node) = per_node.filter(|n| *n < count && *n > 0) {
                findings.add(
                    annotation_path(),
                    format!(
                        "{count} networks of the pod take addresses of IPPool {}, which gives a node {per_node} (perNodeBlockSize)",
                        printable(name, 100)
                    ),
                    "raise perNodeBlockSize of the pool to what all pods of a node take",
                );
            }
        }
    }
}
