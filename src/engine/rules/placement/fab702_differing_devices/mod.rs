//! FAB702: replica types with the same number of accelerators but different numbers of RDMA devices.

use super::do_replica_types_make_one_world::do_replica_types_make_one_world;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::{FoundAboutTemplate, WorkloadContext, WorkloadTemplate};
use crate::text::{count_with_noun, escaped_and_cut};

pub(super) static RULE: Rule = Rule {
    id: "FAB702",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.templates.len() < 2 || !do_replica_types_make_one_world(context) {
        return;
    }
    let counted = |(template, asked): (&'_ WorkloadTemplate<'_>, FoundAboutTemplate<'_>)| {
        // Claims bring devices that are not counted here; on the node's network a pod has all of its NICs.
        let elsewhere = asked.subject.demands.claims_network_devices() || template.pod.host_network();
        let accelerators =
            asked.subject.demands.whole_accelerators_taken_from_node().filter(|n| *n > 0 && !elsewhere)?;
        Some((
            template.pointer.to_owned(),
            template.role_or_pointer().to_owned(),
            accelerators,
            asked.rdma_units(),
        ))
    };
    let mut roles = context.templates_in_scope().filter_map(counted);
    let Some((_, first, first_accelerators, first_units)) = roles.next() else { return };
    for (pointer, name, accelerators, units) in roles {
        if accelerators == first_accelerators && units != first_units {
            findings.add(
                format!("{pointer}/spec/containers"),
                format!(
                    "a pod of {:?} and a pod of {:?} both have {}, but get {} and {first_units}: the job hangs or slows down",
                    escaped_and_cut(&name, 63),
                    escaped_and_cut(&first, 63),
                    count_with_noun(usize::try_from(accelerators).unwrap_or(usize::MAX), "accelerator"),
                    count_with_noun(usize::try_from(units).unwrap_or(0), "RDMA device")
                ),
                "Request the same number of RDMA devices in both pod templates.",
            );
        }
    }
}
