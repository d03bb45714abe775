//! FAB414: NCCL_IB_GID_INDEX that is wrong for some pods, or missing where NCCL needs it.

use super::nccl_version_and_other_networks::nccl_version_of_image_or_profile;
use crate::multus::LinkLayer;
use crate::nccl::NcclVersion;
use crate::nccl::numbers_as_nccl_reads::{has_unknown_part, leading_number, starts_with_no_number};
use crate::pod::limits_and_costs_of_pods::has_long_commands;
use crate::pod::shell::{sets_variable, sources_file};
use crate::rules::attachments_for_variables::FactsOfAttachments;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting};

pub(super) static RULE: Rule = Rule {
    id: "FAB414",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, SAME_INDEX), (Severity::Info, HARMLESS)],
    quiet: true,
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for information.
const SAME_INDEX: &str = "the GID index may be the same on all nodes";
const HARMLESS: &str = "the settings do no harm";

const NAME: &str = "NCCL_IB_GID_INDEX";

/// First release that chooses the row itself.
const CHOOSES: NcclVersion = NcclVersion(2, 21, 0);

/// First release that does so in pods without failing on an empty row.
const CHOOSES_IN_PODS: NcclVersion = NcclVersion(2, 26, 2);

/// Variables that act only on RoCE.
const ROCE_ALONE: [&str; 5] =
    [NAME, "NCCL_IB_TC", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM"];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    report_missing_index(context, findings);
    for variables in context.variables() {
        if ROCE_ALONE.iter().all(|n| variables.setting_that_counts(n).is_none())
            || does_other_transport_carry_traffic(variables)
            || !context.has_verbs_device(variables.index)
        {
            continue;
        }
        let attachments = context.attachments();
        if attachments.link == Some(LinkLayer::InfiniBand) {
            report_roce_settings_on_infiniband(variables, findings);
        } else {
            report_fixed_index(context, variables, attachments, findings);
        }
    }
}

/// Whether another transport than NCCL's own carries the traffic; AMD's takes the index and needs it.
fn does_other_transport_carry_traffic(variables: &ContainerVariables<'_>) -> bool {
    let plugin = |g: &VariableSetting<'_>| g.value.as_deref().is_none_or(|v| !v.is_empty() && v != "none");
    let net = |v: &str| !v.is_empty() && !v.eq_ignore_ascii_case("IB");
    variables.setting_that_counts("NCCL_NET_PLUGIN").is_some_and(plugin)
        || variables.value_that_counts("NCCL_NET").is_some_and(net)
        || variables.container.resource_names().any(|n| n.starts_with("amd.com/"))
}

fn report_roce_settings_on_infiniband(variables: &ContainerVariables<'_>, findings: &mut FindingsOfRule<'_>) {
    let set = ROCE_ALONE.iter().filter_map(|n| variables.own_setting_that_counts(n));
    let set: Vec<_> = set.collect();
    let Some(first) = set.first() else { return };
    let names: Vec<&str> = set.iter().map(|g| &*g.name).collect();
    findings.with_reason_for_lower_severity(HARMLESS).add_with_severity(
        Severity::Info,
        variables.pointer_of_setting(first),
        format!(
            "these settings have no effect on InfiniBand: {}{}",
            names.join(", "),
            variables.place_in_words(first)
        ),
        "Remove each of these settings.",
    );
}

fn report_fixed_index(
    context: &PodContext<'_>,
    variables: &ContainerVariables<'_>,
    attachments: &FactsOfAttachments<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    let Some(given) = variables.own_setting_that_counts(NAME) else { return };
    let Some(value) =
        given.value.as_deref().filter(|v| !v.is_empty() && !has_unknown_part(v) && !starts_with_no_number(v))
    else {
        return;
    };
    let index = leading_number(value);
    let profile = context.resolution.profile().map(|(p, _)| p);
    let wanted = profile.is_some_and(|p| p.env.iter().any(|e| &*e.name == NAME));
    let version = nccl_version_of_image_or_profile(context, variables.container);
    if index < 0 || wanted || context.pod().host_network() || version.is_some_and(|v| v < CHOOSES) {
        return;
    }
    let place = variables.place_in_words(given);
    match attachments.shared.as_ref().or(attachments.function.as_ref()) {
        Some(what) => {
            let fix = match version {
                Some(version) if version < CHOOSES_IN_PODS => {
                    format!("Remove the variable, and use NCCL 2.26.2 or later (the image has {version}).")
                }
                Some(_) => "Remove the variable: NCCL finds the GID index itself.".to_owned(),
                None => "Remove the variable, and use NCCL 2.26.2 or later, which finds the GID index itself."
                    .to_owned(),
            };
            let message = format!(
                "{NAME}={index}{place}: with {what}, the GID index differs from pod to pod, so pods cannot connect"
            );
            findings.add(variables.pointer_of_setting(given), message, fix);
        }
        None => findings.add_with_severity(
            Severity::Info,
            variables.pointer_of_setting(given),
            format!(
                "{NAME}={index}{place} works only if each device of each pod has its address at this GID index"
            ),
            "Remove the variable, and use NCCL 2.26.2 or later, which finds the GID index itself.",
        ),
    }
}

/// RoCE without an index, where the version of NCCL is known to need one.
fn report_missing_index(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // Each of its commands may set the index.
    if has_long_commands(context.pod()) {
        return;
    }
    for (index, container) in context.app_containers_in_time() {
        let Some(version) =
            nccl_version_of_image_or_profile(context, container).filter(|v| *v < CHOOSES_IN_PODS)
        else {
            continue;
        };
        let from_elsewhere = container.env_from.as_deref().is_some_and(|s| !s.is_empty())
            || container.command_and_argument_words().any(|t| sets_variable(t, NAME) || sources_file(t));
        let set = |name: &str| context.overlay.variable(index, container, name).is_some();
        let old = version < CHOOSES;
        if !context.has_verbs_device(index)
            || set(NAME)
            || from_elsewhere
            || set("NCCL_NET_PLUGIN")
            || !old && context.pod().host_network()
        {
            continue;
        }
        if context.attachments().link != Some(LinkLayer::Ethernet) {
            return;
        }
        let what = if old {
            "uses GID index 0, which has no RoCE v2 address"
        } else {
            "chooses the GID index itself, but fails in pods that have unused GIDs"
        };
        findings.add(
            pointers_in_pod::in_container(index, "image"),
            format!("NCCL {version} on RoCE {what}"),
            "Use NCCL 2.26.2 or later, or set NCCL_IB_GID_INDEX if one index (often 3) is correct in all pods.",
        );
    }
}
