//! FAB225: pod needs RDMA, but its networks give VFs without RDMA.

use super::other_ways_to_rdma_device::may_have_rdma_without_networks;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB225",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let devices = context.devices();
    if devices.networks.is_empty() || context.pod().host_network() || may_have_rdma_without_networks(context)
    {
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
    if without.is_empty() || !context.needs_rdma_by_profile_or_variables() {
        return;
    }
    for (network, resource) in without {
        findings.add(
            networks_annotation(),
            format!(
                "network {} uses {} without isRdma ({}): NCCL uses TCP",
                network.describe(),
                escaped_and_cut(&resource.name.to_string(), 63),
                resource.describe_provider(context.subject.snapshot.is_not_for_operator())
            ),
            "Request a network whose resource has isRdma: true.",
        );
    }
}
