//! FAB355: device plugin configuration with a pool that has no devices, or unintended devices.

use super::objects_with_device_plugin_config::report;
use crate::rules::device_plugin_config_fault_type::Concern;
use crate::rules::finding::{Findings, Severity};
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

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    report(context, Concern::Devices, findings);
}
