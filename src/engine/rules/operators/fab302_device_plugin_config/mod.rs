//! FAB302: device plugin configuration that keeps the plugin from starting.

use super::objects_with_device_plugin_config::{configurations, report};
use crate::rules::device_plugin_config_fault_type::Concern;
use crate::rules::finding::{Findings, Severity};
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

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    for configuration in configurations(context) {
        if let Err(fault) = &configuration.faults {
            findings.add_within(
                &configuration.pointer,
                fault.spot,
                format!("the device plugin cannot parse this configuration ({fault}), and exits"),
                "Correct the JSON at this line and column.",
            );
        }
    }
    report(context, Concern::Start, findings);
}
