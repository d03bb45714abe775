//! FAB355: device plugin configuration with a pool that has no devices, or unintended devices.

use super::device_plugin_configs_in_object::report_faults_with_consequence;
use crate::rules::device_plugin_config_fault_type::ConsequenceOfFault;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{CONFIG_MAP, NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB355",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the author may want every NIC of the vendor in the pool")],
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    may_hold: &[CONFIG_MAP],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    report_faults_with_consequence(context, ConsequenceOfFault::Devices, findings);
}
