//! FAB226: network over an RDMA NIC, but the pod requests no RDMA device.

use super::other_ways_to_rdma_device::may_have_rdma_without_networks;
use crate::multus::Sharing;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB226", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let devices = context.devices();
    let shared = |sharing: Option<Sharing>| sharing == Some(Sharing::Shared);
    if devices.networks.is_empty()
        || context.pod().host_network()
        || !context.subject.demands.requests_any_accelerator()
        || devices.networks.iter().any(|n| n.known.is_none_or(|k| !shared(k.class.sharing)))
        || may_have_rdma_without_networks(context)
    {
        return;
    }
    for network in &devices.networks {
        let Some(pool) = network.known.and_then(|known| known.class.resource) else { continue };
        if pool.rdma == Some(true) {
            findings.add(
                networks_annotation(),
                format!(
                    "network {} uses an RDMA NIC, but no container requests {}: NCCL runs over TCP",
                    network.describe(),
                    escaped_and_cut(&pool.name.to_string(), 63)
                ),
                format!(
                    "Set limit {}: 1 on the container with the accelerators.",
                    escaped_and_cut(&pool.name.to_string(), 63)
                ),
            );
        }
    }
}
