//! FAB426: settings of NCCL's RDMA transport in a container without an RDMA device.

use super::chosen_transport::may_name_plugin;
use super::is_without_rdma_device::WaysToRdmaDevice;
use crate::nccl::numbers_as_nccl_reads::{has_unknown_part, leading_number};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB426", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Variables that show that RDMA is meant. Others, such as NCCL_IB_TIMEOUT, are copied from job to job.
const SETTINGS_THAT_ASK_FOR_RDMA: [&str; 3] = ["NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_DISABLE"];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let alone = match context.multi_node_evidence() {
        Some(gang) => !gang.several,
        None => context.subject.siblings == Some(1),
    };
    if alone {
        return;
    }
    // A profile that has a variable means it for its pods.
    let profile = context.resolution.profile().map(|(profile, _)| profile);
    let of_profile = |name: &str| profile.is_some_and(|p| p.env.iter().any(|entry| *entry.name == *name));
    let showing = || SETTINGS_THAT_ASK_FOR_RDMA.iter().copied().filter(|name| !of_profile(name));
    let ways = WaysToRdmaDevice::of(context);
    for variables in context.variables() {
        let set: Vec<(&VariableSetting<'_>, &str)> =
            showing().filter_map(|name| asks_for_rdma(variables, name)).collect();
        let Some((first, _)) = set.first() else { continue };
        if is_kept_from_verbs_or_pinned(variables) || !ways.is_without_rdma_device(variables) {
            continue;
        }
        let shown: Vec<String> = set
            .iter()
            .map(|(given, value)| format!("{}={}", given.name, escaped_and_cut(value, 30)))
            .collect();
        findings.add(
            variables.pointer_of_setting(first),
            format!(
                "{}{}, but the container requests no RDMA device: NCCL runs over TCP",
                shown.join(", "),
                variables.place_in_words(first)
            ),
            "Add the nodes' RDMA resource to the container's limits, or remove the variables for RDMA.",
        );
    }
}

/// The container's own setting of a variable, where it means that NCCL shall use RDMA.
fn asks_for_rdma<'v>(
    variables: &'v ContainerVariables<'_>,
    name: &str,
) -> Option<(&'v VariableSetting<'v>, &'v str)> {
    let given = variables.own_setting_that_counts(name)?;
    let value = given.value.as_deref().filter(|v| !v.is_empty() && !has_unknown_part(v))?;
    let means = match name {
        "NCCL_IB_DISABLE" => leading_number(value) == 0,
        "NCCL_IB_GID_INDEX" => leading_number(value) >= 0,
        _ => true,
    };
    means.then_some((given, value))
}

/// Whether other variables keep NCCL from its verbs transport, or pin it, which FAB413 reports.
fn is_kept_from_verbs_or_pinned(variables: &ContainerVariables<'_>) -> bool {
    let off = variables
        .value_that_counts("NCCL_IB_DISABLE")
        .is_some_and(|v| has_unknown_part(v) || leading_number(v) != 0);
    let net = variables.value_that_counts("NCCL_NET").is_some_and(|v| !v.is_empty());
    off || net || may_name_plugin(variables, "NCCL_NET_PLUGIN", &["none"])
}
