//! FAB113: macvlan, ipvlan or ipoib whose master interface is missing or has the wrong link type.

use super::ipam_of_network_object::fact_of_network_object;
use super::master_interface::{DEFAULT_ROUTE, KNOWN_ONLY_BY_NAME, OTHER_NODES, fault_of_master_interface};
use crate::rules::cni_config_of_network_definition::PluginInDefinition;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB113",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, OTHER_NODES),
        (Severity::Warning, KNOWN_ONLY_BY_NAME),
        (Severity::Warning, DEFAULT_ROUTE),
        (Severity::Warning, MTU),
    ],
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    ..Rule::DEFAULT
};

/// Why an MTU that is too large is a warning.
const MTU: &str = "the interface's MTU may be raised before the pods start";

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(definition) = context.cni_configuration() else { return };
    let Some(plugin) = definition.plugin_that_makes_interface() else { return };
    let shared = matches!(plugin.cni_type, "macvlan" | "ipvlan" | "ipoib");
    let in_container = plugin.object.get("linkInContainer").and_then(Value::as_bool) == Some(true);
    if shared && !in_container {
        let has = fact_of_network_object(context).is_some_and(|f| f.class.interface.is_some());
        let judged =
            fault_of_master_interface(context, plugin.cni_type, plugin.text("master").filter(|_| has));
        if let Some(fault) = judged {
            let findings = &mut findings.with_reason_for_lower_severity(fault.because);
            let pointer = format!("{}/master", plugin.pointer());
            definition.report_in_configuration(findings, fault.severity, &pointer, fault.message, fault.fix);
        }
        if let Some((message, fix)) = message_if_mtu_above_master(context, &plugin) {
            let findings = &mut findings.with_reason_for_lower_severity(MTU);
            definition.report_in_configuration(
                findings,
                Severity::Warning,
                &format!("{}/mtu", plugin.pointer()),
                message,
                fix,
            );
        }
    }
    let dhcp = plugin.ipam().and_then(|i| i.get("type")).and_then(Value::as_str) == Some("dhcp");
    if dhcp && matches!(plugin.cni_type, "ipoib" | "ib-sriov") {
        definition.report_in_configuration(
            findings,
            Severity::Error,
            &format!("{}/ipam/type", plugin.pointer()),
            format!("{} does not support dhcp: pods stay in ContainerCreating", plugin.cni_type),
            "Set ipam.type to nv-ipam or whereabouts.",
        );
    }
}

/// An MTU that is above the MTU of the master interface on every node that is known to have this interface.
fn message_if_mtu_above_master(
    context: &ObjectContext<'_>,
    plugin: &PluginInDefinition<'_>,
) -> Option<(String, &'static str)> {
    let wanted = plugin.object.get("mtu").and_then(Value::as_u64)?;
    let master = plugin.text("master")?;
    let largest = context.snapshot.cluster_facts_for_audience().largest_mtu(master)?;
    (wanted > u64::from(largest)).then(|| {
        let message = format!(
            "mtu is {wanted}, but the MTU of {} is at most {largest} in the nodes' SriovNetworkNodeStates",
            escaped_and_cut(master, 40)
        );
        (message, "Raise the MTU of this interface on the nodes first, or lower mtu.")
    })
}
