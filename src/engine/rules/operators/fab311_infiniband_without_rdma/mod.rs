//! FAB311: SriovNetworkNodePolicy for InfiniBand without isRdma.

use super::sriov_policy_in_cel::{node_policy, node_policy_cel};
use crate::multus::LinkLayer;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, Check};

pub(super) static RULE: Rule = Rule {
    id: "FAB311",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(policy) = context.node_policy() else { return };
    if policy.link == Some(LinkLayer::InfiniBand) && !policy.vfio && !policy.is_rdma {
        findings.add(
            "/spec/isRdma",
            "linkType is ib, but isRdma is not true: unless the SR-IOV operator's webhook corrects this, pods get no RDMA device",
            "Set isRdma: true.",
        );
    }
}

fn cel() -> Cel {
    node_policy_cel(vec![Check::warning(
        node_policy("variables.infiniband && !variables.vfio && !variables.isRdma"),
        "linkType is ib, but isRdma is not true: unless the SR-IOV operator's webhook corrects this, pods get no RDMA device; set isRdma: true",
    )])
}
