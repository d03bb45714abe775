//! FAB356: device plugin configuration that only the operator's webhook refuses.

use super::device_plugin_configs_in_object::report_faults_with_consequence;
use crate::rules::device_plugin_config_fault_type::ConsequenceOfFault;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB356",
    severity: Severity::Info,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    report_faults_with_consequence(context, ConsequenceOfFault::Operator, findings);
}
