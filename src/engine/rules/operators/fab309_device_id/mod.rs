//! FAB309: nicSelector with the ID of a VF, or with an ID that has capitals or 0x.

use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use super::{nodes_and_nics_of_sriov_policy, supported_nics};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{self, Cel, CelCheck};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB309",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, PLACEHOLDER),
        (Severity::Warning, VIRTUAL_MACHINES),
        (Severity::Info, "the device may be newer than the list of known devices"),
    ],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const PLACEHOLDER: &str = "the placeholder may be replaced later";
const VIRTUAL_MACHINES: &str = "the nodes may be virtual machines, where VFs appear as NICs";

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let nics = &policy.nics;
    if nics.net_filter.is_some() {
        return;
    }
    let given = [("vendor", nics.vendor.as_deref()), ("deviceID", nics.device_id.as_deref())];
    for (field, id) in given.into_iter().filter_map(|(field, id)| Some((field, id?))) {
        let path = format!("/spec/nicSelector/{field}");
        let (shown, plain) = (escaped_and_cut(id, 40), id_as_kernel_writes_it(id));
        if !is_hexadecimal(&plain) {
            findings.with_reason_for_lower_severity(PLACEHOLDER).add_with_severity(
                Severity::Warning,
                path,
                format!("{field} {shown} is a placeholder or not an ID, so it matches no NIC"),
                "Write four lower-case hexadecimal digits before you apply the policy.",
            );
        } else if plain != id {
            findings.add(
                path,
                format!(
                    "{field} is {shown}, but the kernel writes this ID as {plain}: the operator compares text, so no NIC matches"
                ),
                format!("Write {field}: {plain:?}."),
            );
        }
    }
    let vendor = nics.vendor.as_deref().map(id_as_kernel_writes_it).filter(|id| is_hexadecimal(id));
    let Some(device) = nics.device_id.as_deref().map(id_as_kernel_writes_it).filter(|id| is_hexadecimal(id))
    else {
        return;
    };
    let known = || supported_nics::models_of_vendor(vendor.as_deref());
    if known().any(|m| m.physical == device) {
        return;
    }
    let mut physical: Vec<String> =
        known().filter(|m| m.function == device).map(|m| format!("{} {}", m.name, m.physical)).collect();
    physical.dedup();
    let path = "/spec/nicSelector/deviceID";
    if physical.is_empty() {
        findings.add_with_severity(
            Severity::Info,
            path,
            format!(
                "deviceID {} is not in the NIC list of operator {}: the operator ignores the NIC unless supportedExtraNICs has its ID",
                escaped_and_cut(&device, 40),
                supported_nics::OPERATOR_VERSION
            ),
            "Add the NIC to supportedExtraNICs of the operator's chart, unless it is already there.",
        );
        return;
    }
    let listed = nodes_and_nics_of_sriov_policy::nics_that_policy_takes(context).next().is_some();
    if listed && policy.num_vfs == Some(1) {
        return;
    }
    let (severity, why) = severity_and_effect_of_vf_id(context, policy.num_vfs);
    let fix = if listed { "On virtual machines, set numVfs: 1. On physical nodes, write" } else { "Write" };
    findings.with_reason_for_lower_severity(VIRTUAL_MACHINES).add_with_severity(
        severity,
        path,
        format!("deviceID {device} is the ID of a VF, not of a physical NIC: {why}"),
        format!("{fix} the ID of the NIC: {}.", physical.join(", ")),
    );
}

/// What the identifier of a VF selects. On OpenStack the operator lists the VFs of a virtual machine as NICs of one VF
/// each (k8snetworkplumbingwg/sriov-network-operator pkg/platform/openstack, DiscoverSriovDevices; pkg/host/internal/sriov,
/// ConfigSriovDevicesVirtual).
fn severity_and_effect_of_vf_id(context: &ObjectContext<'_>, num_vfs: Option<u32>) -> (Severity, String) {
    if let Some((node, nic)) = nodes_and_nics_of_sriov_policy::nics_that_policy_takes(context).next() {
        let why =
            format!("{} of node {node} has this ID, which is right only in a virtual machine", nic.name);
        (Severity::Warning, why)
    } else if num_vfs == Some(1) {
        (Severity::Warning, "the operator finds NICs with this ID only in virtual machines".to_owned())
    } else {
        (Severity::Error, "the operator finds no NIC with this ID".to_owned())
    }
}

fn cel() -> Cel {
    let odd = "variables.netFilter == '' &&\n\
                   [variables.vendor, variables.deviceID].exists(i, i.trim().lowerAscii().matches('^(0x)?[0-9a-f]*$') &&\n\
                   (i != i.trim().lowerAscii() || i.startsWith('0x')))";
    let placeholder = "variables.netFilter == '' &&\n\
                   [variables.vendor, variables.deviceID].exists(i, !i.trim().lowerAscii().matches('^(0x)?[0-9a-f]*$'))";
    // One identifier stands for NICs and functions alike with virtio and ENA.
    let physical = supported_nics::ids_of_physical_functions(|_| true);
    let functions = supported_nics::ids_by_model_field(|m| m.function, |_| true);
    let functions: Vec<String> = functions.into_iter().filter(|key| !physical.contains(key)).collect();
    let function = format!(
        "variables.netFilter == '' &&\n(variables.vendor + '/' + variables.deviceID).lowerAscii() in {}",
        rules_in_cel::literals(&functions)
    );
    let checks = vec![
        CelCheck::error(
            condition_unless_named_default(odd),
            "the operator compares vendor and deviceID as text, so capitals, blanks or 0x never match; write four lower-case hexadecimal digits",
        ),
        CelCheck::warning(
            condition_unless_named_default(placeholder),
            "vendor or deviceID is a placeholder or not an ID, so it matches no NIC; write four lower-case hexadecimal digits",
        ),
        CelCheck::error(
            condition_unless_named_default(&format!("!({ONE_VF}) &&\n{function}")),
            "deviceID is the ID of a VF, not of a physical NIC: the operator finds no NIC with this ID; write the \
                 ID of the NIC, such as 101b, 101d, 1021 or a2dc",
        ),
        CelCheck::warning(
            condition_unless_named_default(&format!("{ONE_VF} &&\n{function}")),
            "deviceID is the ID of a VF, not of a physical NIC: the operator finds NICs with this ID only in virtual machines; write the \
                 ID of the NIC, such as 101b, 101d, 1021 or a2dc",
        ),
    ];
    Cel { beyond: Some("NICs in SriovNetworkNodeStates"), ..cel_with_policy_variables(checks) }
}

const ONE_VF: &str = "variables.spec.?numVfs.orValue(0) == 1";

/// An identifier as the kernel writes it.
fn id_as_kernel_writes_it(id: &str) -> String {
    let id = id.trim().to_ascii_lowercase();
    id.strip_prefix("0x").map(str::to_owned).unwrap_or(id)
}

fn is_hexadecimal(id: &str) -> bool {
    id.bytes().all(|b| b.is_ascii_hexdigit())
}
