//! FAB318: SriovNetworkNodePolicy for RoCE with an MTU of 1500 or less.

use super::nodes_and_nics_of_sriov_policy::nics_that_policy_takes;
use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB318",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

/// Largest MTU over which RoCE sends 1024 bytes.
const SMALL: u32 = 1500;

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default().filter(|p| p.do_vfs_have_rdma()) else { return };
    let Some(mtu) = policy.mtu.filter(|mtu| *mtu <= SMALL) else { return };
    let ethernet = |link| link == Some(LinkLayer::Ethernet);
    let of_nics = || {
        let mut links = nics_that_policy_takes(context).map(|(_, nic)| nic.link).peekable();
        links.peek().is_some() && links.all(ethernet)
    };
    if ethernet(policy.link) || (policy.link.is_none() && of_nics()) {
        findings.add(
            "/spec/mtu",
            format!("mtu is {mtu}: RoCE packets then carry at most 1024 bytes, a quarter of the maximum"),
            "Set mtu: 9000 if the switches support it.",
        );
    }
}
