//! FAB603: EFA together with another RDMA fabric.

use super::efa::{EFA, containers_with_efa};
use crate::pod::nic_resource_names::{is_efa_resource, is_rdma_device_by_name};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB603", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if containers_with_efa(context).next().is_none() {
        return;
    }
    for (index, container) in context.app_containers_in_time() {
        let other = |name: &&str| {
            let known = || context.subject.snapshot.resource(name).and_then(|fact| fact.rdma);
            !is_efa_resource(name) && known().unwrap_or_else(|| is_rdma_device_by_name(name))
        };
        let mut others = context.own_and_planned_resource_names(index).filter(other);
        if let Some(name) =
            others.find(|name| context.overlay.final_units_in_limits(index, container, name) > 0)
        {
            findings.add(
                pointers_in_pod::limit(index, name),
                format!(
                    "the pod requests both {} and {EFA}: instances with EFA have no other RDMA devices, so the pod stays Pending",
                    escaped_and_cut(name, 63)
                ),
                "Remove one of the two resources.",
            );
        }
    }
    let taking = context.devices().networks.iter();
    for network in taking.filter(|n| n.known.is_some_and(|k| k.fact.takes_device == Some(true))) {
        findings.add(
            networks_annotation(),
            format!(
                "network {} needs a device, but instances with {EFA} do not have this device",
                network.describe()
            ),
            "Remove the network; EFA needs no networks annotation.",
        );
    }
}
