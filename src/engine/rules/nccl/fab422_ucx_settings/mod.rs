//! FAB422: UCX settings that exclude each other or leave no device.

use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB422", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        let own = |name: &str| variables.own_setting_that_counts(name);
        if let Some(given) = own("UCX_NET_DEVICES") {
            report_devices_not_in_pod(variables, given, findings);
        }
        let set = |name: &str| {
            own(name).filter(|g| g.value.as_deref().is_some_and(|v| !v.is_empty() && v != "auto"))
        };
        if let (Some(subnets), Some(_)) = (set("UCX_IB_ROCE_SUBNETS"), set("UCX_IB_GID_INDEX")) {
            findings.add(
                variables.pointer_of_setting(subnets),
                "UCX_IB_ROCE_SUBNETS and UCX_IB_GID_INDEX are both set: UCX refuses the combination",
                "Remove UCX_IB_GID_INDEX.",
            );
        }
        let Some((ucx, nccl)) = set("UCX_IB_PKEY").zip(set("NCCL_IB_PKEY")) else { continue };
        if ucx.value == nccl.value && ucx.value.as_deref() != Some("0") {
            let text = escaped_and_cut(ucx.value.as_deref().unwrap_or_default(), 12);
            findings.add(
                variables.pointer_of_setting(ucx),
                format!(
                    "UCX_IB_PKEY and NCCL_IB_PKEY are both {text}: UCX expects a partition key, but NCCL expects an index in the key table"
                ),
                "Set UCX_IB_PKEY to the partition's key, such as 0x8001.",
            );
        }
    }
}

/// Whether an item of UCX's list is an RDMA device, by the names that rdma-core and the drivers give.
fn is_verbs(item: &str) -> bool {
    ["mlx4_", "mlx5_", "rocep", "bnxt_re", "ionic_", "irdma"].iter().any(|p| item.starts_with(p))
        || item.starts_with("ibp") && item.contains(':')
}

/// Whether an item of UCX_TLS is a transport or a variant of it, such as `rc_mlx5` of `rc`.
fn is_transport(item: &str, transport: &str) -> bool {
    item.strip_prefix(transport).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

fn report_devices_not_in_pod(
    variables: &ContainerVariables<'_>,
    given: &VariableSetting<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    let Some(value) = given.value.as_deref().filter(|v| !v.is_empty() && !has_unknown_part(v)) else {
        return;
    };
    let place = variables.place_in_words(given);
    let mut say = |problem: String, fix: &str| {
        findings.add(
            variables.pointer_of_setting(given),
            format!("UCX_NET_DEVICES={}{place}: {problem}", escaped_and_cut(value, 40)),
            fix,
        );
    };
    if value.starts_with('=') {
        return say(
            "only NCCL accepts '=' at the start; UCX reads '=' as part of the device name".to_owned(),
            "Remove '='.",
        );
    }
    if value == "all" || value.starts_with('^') || value.contains('*') {
        return;
    }
    let mut items = value.split(',').map(str::trim).filter(|i| !i.is_empty());
    if let Some(item) = items.clone().find(|i| is_verbs(i) && !i.contains(':')) {
        let item = escaped_and_cut(item, 30);
        return say(
            format!("{item} is written without a port, but UCX expects DEVICE:PORT"),
            &format!("Write {item}:1."),
        );
    }
    let Some(transports) =
        variables.value_that_counts("UCX_TLS").filter(|t| !t.is_empty() && !has_unknown_part(t))
    else {
        return;
    };
    if transports.starts_with('^') {
        return;
    }
    let has = |words: &[&str]| {
        transports
            .split(',')
            .map(str::trim)
            .filter(|t| !t.is_empty())
            .any(|t| words.iter().any(|w| is_transport(t, w)))
    };
    if has(&["all"]) {
        return;
    }
    let verbs = items.clone().any(is_verbs);
    let interface =
        |i: &str| ["eth", "ens", "eno", "enp", "net", "bond", "rail"].iter().any(|p| i.starts_with(p));
    let interfaces = items.all(interface);
    if interfaces && !has(&["tcp"]) {
        say(
            format!(
                "UCX uses a network interface only with tcp, but UCX_TLS={} does not contain tcp",
                escaped_and_cut(transports, 30)
            ),
            "Add tcp to UCX_TLS, or name an RDMA device.",
        );
    } else if verbs
        && !interfaces
        && !has(&["rc", "rc_x", "ud", "ud_x", "dc", "dc_x", "ib"])
        && has(&["tcp"])
        && !value.contains("eth")
    {
        say(
            format!("UCX_TLS={} has no RDMA transport", escaped_and_cut(transports, 30)),
            "Add rc to UCX_TLS, or name a network interface.",
        );
    }
}
