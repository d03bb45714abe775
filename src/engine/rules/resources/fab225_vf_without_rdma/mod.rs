//! FAB225: pod needs RDMA, but its networks give VFs without RDMA.

use super::other_ways_to_rdma_device::others_may_bring_rdma;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::annotation_path;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB225",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
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
                "network {} uses {} ({}) without isRdma: NCCL uses TCP",
                network.describe(),
                printable(&resource.name.to_string(), 63),
                resource.describe(context.subject.snapshot.is_not_for_operator())
            ),
            "Request a network whose resource has isRdma: true.",
        );
    }
}
