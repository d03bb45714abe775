//! FAB413: NCCL_NET with a transport that the container cannot use, or that leaves the RDMA device idle.

use super::chosen_transport::setting_that_pins_verbs;
use super::is_without_rdma_device::WaysToRdmaDevice;
use super::other_rdma_users::other_library_in_words;
use crate::nccl::numbers_as_nccl_reads::{has_unknown_part, leading_number, starts_with_no_number};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{ContainerVariables, VariableSetting, WhereVariableIsSet};

pub(super) static RULE: Rule = Rule {
    id: "FAB413",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, TCP),
        (Severity::Warning, OTHER_VALUES),
        (Severity::Warning, HIDDEN),
        (Severity::Info, "other libraries may use the device"),
    ],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const TCP: &str = "NCCL works, but only over TCP";
const OTHER_VALUES: &str = "at run time, the two variables may have other values";
const HIDDEN: &str = "the container may have an RDMA device that the pod's manifest does not show";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let ways = WaysToRdmaDevice::of(context);
    for variables in context.variables() {
        if let Some(net) = setting_that_pins_verbs(variables) {
            report_pinned_net(&ways, variables, net, findings);
            continue;
        }
        let socket = variables.own_setting_that_counts("NCCL_NET");
        let socket = socket.filter(|g| g.value.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("Socket")));
        let Some(net) = socket.filter(|_| context.has_verbs_device(variables.index)) else { continue };
        let (severity, rest) = match other_library_in_words(variables) {
            Some(user) => (Severity::Info, format!(", but {user} may use the device")),
            None => (Severity::Warning, ", and the NIC stays idle".to_owned()),
        };
        let message = format!(
            "NCCL_NET=Socket{}, but the container has an RDMA device: NCCL runs over TCP{rest}",
            variables.place_in_words(net)
        );
        findings.add_with_severity(
            severity,
            variables.pointer_of_setting(net),
            message,
            "Remove NCCL_NET, or remove the request for the RDMA device.",
        );
    }
}

fn report_pinned_net(
    ways: &WaysToRdmaDevice<'_, '_>,
    variables: &ContainerVariables<'_>,
    net: &VariableSetting<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    let off = variables.setting_that_counts("NCCL_IB_DISABLE").and_then(|g| Some((g, g.value.as_deref()?)));
    if let Some((off, value)) =
        off.filter(|(_, v)| !has_unknown_part(v) && !starts_with_no_number(v) && leading_number(v) != 0)
    {
        // A script may set it on a branch that never runs.
        let sure = |g: &VariableSetting<'_>| {
            matches!(g.place, WhereVariableIsSet::Env(_) | WhereVariableIsSet::EnvFrom(..))
        };
        let severity =
            if sure(net) && sure(off) && !variables.open { Severity::Error } else { Severity::Warning };
        let value = leading_number(value);
        findings.with_reason_for_lower_severity(OTHER_VALUES).add_with_severity(
            severity,
            variables.pointer_of_setting(off),
            format!(
                "NCCL_IB_DISABLE={value}{} disables the transport that NCCL_NET=IB requires: NCCL fails at start-up",
                variables.place_in_words(off)
            ),
            "For RDMA, remove NCCL_IB_DISABLE. For TCP, remove NCCL_NET.",
        );
        return;
    }
    if ways.is_without_rdma_device(variables) {
        findings.with_reason_for_lower_severity(HIDDEN).add_with_severity(
            Severity::Warning,
            variables.pointer_of_setting(net),
            format!(
                "NCCL_NET=IB{}, but the container requests no RDMA device: NCCL fails at start-up",
                variables.place_in_words(net)
            ),
            "Add the nodes' RDMA resource to the container's limits, or remove NCCL_NET.",
        );
    }
}
