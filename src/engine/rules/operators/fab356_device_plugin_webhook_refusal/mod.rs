//! FAB356: device plugin configuration that only the operator's webhook refuses.

use super::device_plugin_config::report;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::object::ObjectContext;
use crate::rules::plugin_config::Concern;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB356",
    severity: Severity::Info,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    report(context, Concern::Operator, findings);
}
