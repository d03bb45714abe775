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
        let Some(ucx) = set("UCX_IB_PKEY") else { continue };
        let value = ucx.value.as_deref().unwrap_or_default();
        let text = escaped_and_cut(value, 12);
        if set("NCCL_IB_PKEY").is_some_and(|nccl| nccl.value == ucx.value) && value != "0" {
            findings.add(
                variables.pointer_of_setting(ucx),
                format!(
                    "UCX_IB_PKEY and NCCL_IB_PKEY are both {text}: UCX expects a partition key, but NCCL expects an index in the key table"
                ),
                "Set UCX_IB_PKEY to the partition's key without its highest bit, such as 0x1 for key 0x8001.",
            );
        } else if let Some(fix) = fix_if_ucx_refuses_key(value) {
            findings.add(
                variables.pointer_of_setting(ucx),
                format!(
                    "UCX_IB_PKEY={text}{}: UCX refuses any value except auto and 0x0 to 0x7fff",
                    variables.place_in_words(ucx)
                ),
                fix,
            );
        }
    }
}

/// Largest partition key that UCX accepts: the key without the bit of full membership (openucx/ucx
/// src/uct/ib/base/ib_iface.c, `UCT_IB_PKEY_PARTITION_MASK`).
const MAX_KEY: u64 = 0x7fff;

/// The fix for a value of `UCX_IB_PKEY` that UCX refuses: it wants `0x` before the digits (src/ucs/config/parser.c,
/// `ucs_config_sscanf_hex`).
fn fix_if_ucx_refuses_key(value: &str) -> Option<String> {
    if has_unknown_part(value) || value.eq_ignore_ascii_case("auto") {
        return None;
    }
    let digits = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
    match digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        Some(key) if key <= MAX_KEY => None,
        Some(key) if key <= 0xffff => Some(format!("Write 0x{:x}.", key & MAX_KEY)),
        _ => Some("Write the partition's key in hexadecimal and without its highest bit, such as 0x1 for key 0x8001.".to_owned()),
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

#[cfg(test)]
mod tests {
    use super::fix_if_ucx_refuses_key;

    #[test]
    fn ucx_wants_hexadecimal_keys_without_the_membership_bit() {
        for accepted in ["0x0", "0x1", "0X7fff", "auto", "AUTO", "$(KEY)"] {
            assert_eq!(fix_if_ucx_refuses_key(accepted), None, "{accepted}");
        }
        assert_eq!(fix_if_ucx_refuses_key("0x8001").as_deref(), Some("Write 0x1."));
        for refused in ["1", "32769", "0x18001", "0xzz", "0x"] {
            assert!(
                fix_if_ucx_refuses_key(refused).is_some_and(|fix| fix.contains("such as 0x1")),
                "{refused}"
            );
        }
    }
}
