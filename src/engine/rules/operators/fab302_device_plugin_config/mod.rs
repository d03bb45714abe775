//! FAB302: device plugin configuration that keeps the plugin from starting.

use super::device_plugin_configs_in_object::{configurations, report_faults_with_consequence};
use crate::rules::device_plugin_config_fault_type::{ConsequenceOfFault, NotRead};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{CONFIG_MAP, NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB302",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    may_hold: &[CONFIG_MAP],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for configuration in configurations(context) {
        if let Err(NotRead::Fault(fault)) = &configuration.text.faults {
            findings.add_in_text(
                &configuration.pointer,
                fault.spot,
                format!("the device plugin exits, because it cannot parse this configuration ({fault})"),
                "Correct the JSON at this line and column.",
            );
        }
    }
    report_faults_with_consequence(context, ConsequenceOfFault::Start, findings);
}
