//! FAB311: SriovNetworkNodePolicy for InfiniBand without isRdma.

use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB311",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    if policy.link == Some(LinkLayer::InfiniBand) && !policy.vfio && !policy.is_rdma {
        findings.add(
            "/spec/isRdma",
            "linkType is ib, but isRdma is not true: unless the SR-IOV operator's webhook corrects this, pods get no RDMA device",
            "Set isRdma: true.",
        );
    }
}

fn cel() -> Cel {
    cel_with_policy_variables(vec![CelCheck::warning(
        condition_unless_named_default("variables.infiniband && !variables.vfio && !variables.isRdma"),
        "linkType is ib, but isRdma is not true: unless the SR-IOV operator's webhook corrects this, pods get no RDMA device; set isRdma: true",
    )])
}
