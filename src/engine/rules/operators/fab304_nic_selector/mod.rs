//! FAB304: nicSelector that matches no NIC, or mixes netFilter with other fields.

use super::has_ovs_bridge::requests_ovs_bridge;
use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB304",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "the operator's webhook may be off")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let nics = &policy.nics;
    // Without the field the schema refuses the policy.
    let given =
        |pointer: &str| context.whole_object().and_then(|v| v.pointer(pointer)).is_some_and(|v| !v.is_null());
    if nics.is_empty() && given("/spec/nicSelector") {
        findings.add(
            "/spec/nicSelector",
            "nicSelector is empty: it matches no NIC, so the operator creates no VFs",
            "Name the NICs with pfNames or rootDevices.",
        );
    }
    if nics.net_filter.is_none() {
        return;
    }
    let beside = [
        (nics.vendor.is_some(), "vendor"),
        (nics.device_id.is_some(), "deviceID"),
        (!nics.interfaces.is_empty(), "pfNames"),
        (!nics.addresses.is_empty(), "rootDevices"),
        (given("/spec/eSwitchMode"), "eSwitchMode"),
        (requests_ovs_bridge(context), "bridge"),
        (policy.link == Some(crate::multus::LinkLayer::InfiniBand), "linkType ib"),
    ];
    for (_, field) in beside.iter().filter(|(set, _)| *set) {
        findings.add_with_severity(
            Severity::Warning,
            "/spec/nicSelector/netFilter",
            format!("netFilter and {field} are both set: the operator's webhook refuses the policy"),
            format!("Remove netFilter or {field}."),
        );
    }
}

fn cel() -> Cel {
    let nothing = "has(variables.spec.nicSelector) && variables.spec.nicSelector != null && !variables.byName &&\n\
                       variables.vendor == '' && variables.deviceID == '' && variables.netFilter == ''";
    let beside = "variables.netFilter != '' && (variables.vendor != '' || variables.deviceID != '' || variables.byName ||\n\
                      has(variables.spec.eSwitchMode) || variables.bridge || variables.infiniband)";
    let nothing = CelCheck::error(
        condition_unless_named_default(nothing),
        "nicSelector is empty: it matches no NIC, so the operator creates no VFs; name the NICs with pfNames or \
             rootDevices",
    );
    let beside = CelCheck::warning(
        condition_unless_named_default(beside),
        "netFilter is set together with another field of nicSelector, or with eSwitchMode, bridge or linkType ib: the operator's webhook refuses the policy; remove netFilter, or the other field",
    );
    cel_with_policy_variables(vec![nothing, beside])
}
