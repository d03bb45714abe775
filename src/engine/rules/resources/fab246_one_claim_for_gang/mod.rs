//! FAB246: one ResourceClaim for all pods of a gang.

use crate::pod::is_multi_node::multi_node_evidence_of_pod;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB246",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    let shared = claims.iter().enumerate().filter_map(|(i, c)| Some((i, c.resource_claim_name.as_deref()?)));
    let mut shared = shared.filter(|(_, name)| !name.is_empty()).peekable();
    if shared.peek().is_none() {
        return;
    }
    let Some(gang) = multi_node_evidence_of_pod(pod).filter(|gang| gang.several) else { return };
    for (index, name) in shared {
        findings.add(
            format!("/spec/resourceClaims/{index}/resourceClaimName"),
            format!(
                "the pod is one of several ({1}) that share claim \"{0}\": all of them get the same devices of one node",
                escaped_and_cut(name, 63),
                gang.words
            ),
            "Use resourceClaimTemplateName: each pod then gets its own claim.",
        );
    }
}
