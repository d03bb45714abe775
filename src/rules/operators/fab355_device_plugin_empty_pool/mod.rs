//! FAB355: a device plugin's pool without devices, or with others than meant.

use super::device_plugin_config::tell;
use super::device_plugin_texts::Concern;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB355",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    tell(context, Concern::Devices, findings);
}
