//! FAB603: EFA together with another RDMA fabric.

use super::efa::{EFA, holders};
use crate::pod::nic_resource_names::{names_efa, names_rdma_device};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::pointers_in_pod::annotation_path;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule =
    Rule { id: "FAB603", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if holders(context).next().is_none() {
        return;
    }
    for (index, container) in context.app_containers_in_time() {
        let other = |name: &&str| {
            let known = || context.subject.snapshot.resource(name).and_then(|fact| fact.rdma);
            !names_efa(name) && known().unwrap_or_else(|| names_rdma_device(name))
        };
        let mut others = context.resource_names(index).filter(other);
        if let Some(name) =
            others.find(|name| context.overlay.final_units_in_limits(index, container, name) > 0)
        {
            findings.add(
                pointers_in_pod::limit(index, name),
                format!(
                    "the pod requests both {} and {EFA}: instances with EFA have no other RDMA devices, so the pod stays Pending",
                    printable(name, 63)
                ),
                "Remove one of the two resources.",
            );
        }
    }
    let taking = context.devices().networks.iter();
    for network in taking.filter(|n| n.known.is_some_and(|k| k.fact.takes_device == Some(true))) {
        findings.add(
            annotation_path(),
            format!(
                "network {} needs a device, but instances with {EFA} do not have this device",
                network.describe()
            ),
            "Remove the network; EFA needs no networks annotation.",
        );
    }
}
