//! FAB309: nicSelector with the identifier of a VF, or in another notation.

use super::node_policy_cel::{node_policy, node_policy_cel};
use super::supported_nics;
use crate::rules::cel::{self, Cel, Check};
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NODE_POLICY;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB309",
    severity: Severity::Error,
    lesser: &[(Severity::Info, "the device may be newer than the list of known ones")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(policy) = context.node_policy() else { return };
    let nics = &policy.nics;
    if nics.net_filter.is_some() {
        return;
    }
    let given = [("vendor", nics.vendor.as_deref()), ("deviceID", nics.device_id.as_deref())];
    for (field, id) in given.into_iter().filter_map(|(field, id)| Some((field, id?))) {
        let plain = plain(id);
        if plain != id {
            findings.add(
                format!("/spec/nicSelector/{field}"),
                format!(
                    "{field} {}: the operator compares text, so it never matches the kernel's {plain}",
                    printable(id, 40)
                ),
                format!("Write {plain:?}."),
            );
        }
    }
    let vendor = nics.vendor.as_deref().map(plain);
    let Some(device) = nics.device_id.as_deref().map(plain) else { return };
    let known = || supported_nics::of(vendor.as_deref());
    if known().any(|m| m.physical == device) {
        return;
    }
    let mut physical: Vec<String> =
        known().filter(|m| m.function == device).map(|m| format!("{} {}", m.name, m.physical)).collect();
    physical.dedup();
    let path = "/spec/nicSelector/deviceID";
    if physical.is_empty() {
        findings.add_as(
            Severity::Info,
            path,
            format!(
                "deviceID {} is not a NIC that operator {} supports: the operator ignores it unless the cluster adds it",
                printable(&device, 40),
                supported_nics::OF
            ),
            "Check supportedExtraNICs of the operator's chart.",
        );
    } else {
        findings.add(
            path,
            format!("deviceID {device} is that of VFs: the operator looks for the NIC itself and finds none"),
            format!("Write the NIC's own: {}.", physical.join(", ")),
        );
    }
}

fn cel() -> Cel {
    let odd = "variables.netFilter == '' &&\n\
                   [variables.vendor, variables.deviceID].exists(i, i != i.trim().lowerAscii() || i.startsWith('0x'))";
    // One identifier stands for NICs and functions alike with virtio and ENA.
    let physical = supported_nics::keys(|_| true);
    let functions = supported_nics::keys_of(|m| m.function, |_| true);
    let functions: Vec<String> = functions.into_iter().filter(|key| !physical.contains(key)).collect();
    let function = format!(
        "variables.netFilter == '' &&\n(variables.vendor + '/' + variables.deviceID).lowerAscii() in {}",
        cel::literals(&functions)
    );
    node_policy_cel(vec![
        Check::error(
            node_policy(odd),
            "the operator compares vendor and deviceID as text, so capitals, blanks or 0x never match; write four lower-case hexadecimal digits",
        ),
        Check::error(
            node_policy(&function),
            "deviceID is that of VFs: the operator looks for the NIC itself and finds none; write the \
                 NIC's own, such as 101b, 101d, 1021 or a2dc",
        ),
    ])
}

/// An identifier as the kernel writes it.
fn plain(id: &str) -> String {
    let id = id.trim().to_ascii_lowercase();
    id.strip_prefix("0x").map(str::to_owned).unwrap_or(id)
}
