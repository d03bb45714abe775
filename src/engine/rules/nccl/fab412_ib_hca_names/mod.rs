//! FAB412: NCCL_IB_HCA that selects no device, too many devices, or a different device on each node.

use crate::nccl::interface_and_device_lists::NameList;
use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::rules::attachments_for_variables::FactsOfAttachments;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting};
use crate::text::escaped_and_cut;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB412",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the devices of the node are not known")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

const NAME: &str = "NCCL_IB_HCA";

const SHOWN: usize = 40;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        let privileged = variables.container.privileged();
        let given = variables.own_setting_that_counts(NAME);
        if given.is_none() && !privileged {
            continue;
        }
        let attachments = context.attachments();
        let Some(given) = given else {
            report_privileged_sees_physical_function(context, variables, attachments, findings);
            continue;
        };
        let Some(value) = given.value.as_deref().filter(|v| !v.is_empty() && !has_unknown_part(v)) else {
            continue;
        };
        let list = NameList::parse(value);
        // An exclusion by mistake does little harm, and another rule reports misplaced marks.
        if list.excludes || list.first_mistake().is_some() {
            continue;
        }
        report_unmatched_names(context, variables, given, list, attachments, findings);
    }
}

fn report_unmatched_names(
    context: &PodContext<'_>,
    variables: &ContainerVariables<'_>,
    given: &VariableSetting<'_>,
    list: NameList<'_>,
    attachments: &FactsOfAttachments<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    let place = variables.place_in_words(given);
    let path = || variables.pointer_of_setting(given);
    let attached: BTreeSet<&str> = attachments.interfaces.iter().flatten().map(AsRef::as_ref).collect();
    let interface = |item: &&str| looks_like_network_interface(item) || attached.contains(item);
    if let Some(item) = list.device_names_without_ports().find(interface) {
        let item = escaped_and_cut(item, SHOWN);
        findings.add(
            path(),
            format!(
                "{NAME} names network interface {item}{place}: NCCL looks for an RDMA device of this name, and finds none"
            ),
            "Write the name of an RDMA device or a prefix, such as mlx5.",
        );
        return;
    }
    let single = list
        .device_names_without_ports()
        .find(|item| item.ends_with(|c: char| c.is_ascii_digit()) && item.len() > 1);
    let own = !context.pod().host_network() && !variables.container.privileged();
    // Azure names by the link: mlx5_ib0.
    let single = single.filter(|item| own && item.contains('_') && !item.contains("ib"));
    if let (Some(item), Some(what)) = (single, &attachments.function) {
        findings.add(
            path(),
            format!(
                "{NAME} names one device, {}{place}, but {what} gives VFs, whose names differ from node to node",
                escaped_and_cut(item, SHOWN)
            ),
            "Write a prefix of the device names, such as mlx5.",
        );
        return;
    }
    if let Some((item, gap)) = first_prefix_of_others(list).filter(|_| !list.exact) {
        let item = escaped_and_cut(item, SHOWN);
        // Where the list has all names that it also matches, no other device may exist.
        let severity = if gap { Severity::Warning } else { Severity::Info };
        findings.add_with_severity(
            severity,
            path(),
            format!("{NAME} does not start with '=', so {item}{place} also matches {item}0 to {item}9"),
            "Put '=' at the start of the value.",
        );
    }
}

/// An item that is the start of others which count on from it, and whether the list leaves one of those out.
fn first_prefix_of_others(list: NameList<'_>) -> Option<(&str, bool)> {
    let names: Vec<&str> = list.device_names_without_ports().collect();
    let next = |short: &str, long: &str| -> Option<u32> {
        let rest = long.strip_prefix(short).filter(|r| r.len() == 1)?;
        rest.parse().ok().filter(|_| short.ends_with(|c: char| c.is_ascii_digit()))
    };
    names.iter().find_map(|short| {
        let digits: Vec<u32> = names.iter().filter_map(|long| next(short, long)).collect();
        let last = digits.iter().max()?;
        Some((*short, (0..*last).any(|d| !digits.contains(&d))))
    })
}

/// Names that network interfaces have and RDMA devices have not (systemd.net-naming-scheme(7); rdma-core names
/// `mlx5_0`, `rocep1s0`, `ibp1s0`).
fn looks_like_network_interface(name: &str) -> bool {
    let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    ["eth", "ens", "eno", "enp", "enP", "net", "bond"].iter().any(|p| name.strip_prefix(p).is_some_and(digit))
}

fn report_privileged_sees_physical_function(
    context: &PodContext<'_>,
    variables: &ContainerVariables<'_>,
    attachments: &FactsOfAttachments<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    let merges = variables.setting_that_counts("NCCL_IB_MERGE_NICS").is_none() && !variables.open;
    let Some(what) =
        attachments.function.as_deref().filter(|_| merges && context.has_verbs_device(variables.index))
    else {
        return;
    };
    findings.add_with_severity(
        Severity::Info,
        pointers_in_pod::in_container(variables.index, "securityContext/privileged"),
        format!("{what} gives a VF, but a privileged container also sees the VF's physical function: NCCL treats both as one NIC"),
        "Remove privileged (IPC_LOCK is enough for RDMA), or set NCCL_IB_MERGE_NICS=0.",
    );
}
