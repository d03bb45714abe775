//! FAB702: replica types with the same number of accelerators but different numbers of RDMA devices.

use super::replica_types::is_one_world;
use crate::rules::finding::{Findings, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::{Asked, WorkloadContext, WorkloadTemplate};
use crate::text::{count, printable};

pub(super) static RULE: Rule = Rule {
    id: "FAB702",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
    if context.templates.len() < 2 || !is_one_world(context) {
        return;
    }
    let counted = |(template, asked): (&'_ WorkloadTemplate<'_>, Asked<'_>)| {
        // Claims bring devices that are not counted here; on the node's network a pod has all of its NICs.
        let elsewhere = asked.subject.demands.claims_network_devices() || template.pod.host_network();
        let accelerators =
            asked.subject.demands.whole_accelerators_taken_from_node().filter(|n| *n > 0 && !elsewhere)?;
        Some((template.pointer.to_owned(), template.name().to_owned(), accelerators, asked.rdma_units()))
    };
    let mut roles = context.templates_in_scope().filter_map(counted);
    let Some((_, first, first_accelerators, first_units)) = roles.next() else { return };
    for (pointer, name, accelerators, units) in roles {
        if accelerators == first_accelerators && units != first_units {
            findings.add(
                format!("{pointer}/spec/containers"),
                format!(
                    "a pod of {:?} and a pod of {:?} both have {}, but get {} and {first_units}: the job hangs or slows down",
                    printable(&name, 63),
                    printable(&first, 63),
                    count(usize::try_from(accelerators).unwrap_or(usize::MAX), "accelerator"),
                    count(usize::try_from(units).unwrap_or(0), "RDMA device")
                ),
                "Request the same number of RDMA devices in both pod templates.",
            );
        }
    }
}
