//! FAB330: one RDMA resource over NICs of different models.

use super::sriov_policies_of_resource::other_policies_of_same_resource;
use super::supported_nics;
use crate::facts::SriovNodePolicy;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB330",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(own) = context.sriov_policy_unless_default().filter(|p| p.do_vfs_have_rdma()) else { return };
    let model = |policy: &SriovNodePolicy| {
        let device = policy.nics.device_id.as_deref()?;
        supported_nics::models_of_vendor(policy.nics.vendor.as_deref())
            .find(|m| m.physical == device)
            .map(|m| m.name)
    };
    let Some(ours) = model(own) else { return };
    for other in other_policies_of_same_resource(context, own) {
        let Some(theirs) = model(other.policy).filter(|m| *m != ours && other.policy.do_vfs_have_rdma())
        else {
            continue;
        };
        if other.shared.is_certain() {
            findings.add(
                "/spec/nicSelector/deviceID",
                format!(
                    "for resource {:?} this policy selects {ours}, but policy {:?} selects {theirs} {}: rails may differ in speed",
                    own.resource,
                    other.name,
                    other.shared.words()
                ),
                "Use one resourceName per model.",
            );
        }
    }
}
