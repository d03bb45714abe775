//! FAB707: several pods of a workload share one ResourceClaim.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::WorkloadContext;
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB707",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (template, _) in context.templates_in_scope() {
        let Some(pods) = template.pods.filter(|pods| *pods > 1) else { continue };
        let claims = template.pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref());
        for (index, claim) in claims.unwrap_or_default().iter().enumerate() {
            let Some(name) = claim.resource_claim_name.as_deref().filter(|n| !n.is_empty()) else {
                continue;
            };
            findings.add(
                format!("{}/spec/resourceClaims/{index}/resourceClaimName", template.pointer),
                format!(
                    "{pods} pods share ResourceClaim {:?}: all of them get the same devices on one node",
                    escaped_and_cut(name, 100)
                ),
                "Name a ResourceClaimTemplate in resourceClaimTemplateName.",
            );
        }
    }
}
