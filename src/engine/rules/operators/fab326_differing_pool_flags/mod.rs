//! FAB326: SriovNetworkNodePolicies of one resource that differ in isRdma or other flags of the pool.

use super::policy_pools::{of_resource, severity};
use crate::facts::NodePolicy;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NODE_POLICY;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB326",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "no known node has the labels of both")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(own) = context.node_policy() else { return };
    for (other, shared) in of_resource(context, own) {
        let findings = &mut findings.with(other.name);
        let policy = other.policy;
        let vdpa = |p: &NodePolicy| p.vdpa.clone().unwrap_or_else(|| "none".to_owned());
        let flags = [
            ("isRdma", own.is_rdma.to_string(), policy.is_rdma.to_string()),
            ("vdpaType", vdpa(own), vdpa(policy)),
            ("needVhostNet", own.vhost_net.to_string(), policy.vhost_net.to_string()),
            ("excludeTopology", own.exclude_topology.to_string(), policy.exclude_topology.to_string()),
        ];
        for (flag, ours, theirs) in flags.iter().filter(|(_, ours, theirs)| ours != theirs) {
            findings.add_as(
                severity(&shared),
                format!("/spec/{flag}"),
                format!(
                    "{flag} {ours}, but {theirs} in policy {} of resource {} {}: the pool gets only one",
                    other.name,
                    own.resource,
                    shared.words()
                ),
                "Set one value in both, or give each its own resourceName.",
            );
        }
    }
}
