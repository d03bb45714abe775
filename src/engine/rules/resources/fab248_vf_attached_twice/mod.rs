//! FAB248: network attached by both dra-driver-sriov and Multus.

use super::claims_on_sriov_vfs::claims_on_vfs;
use crate::demands::answers_per_fact::PerFact;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB248",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.final_networks.is_none() {
        return;
    }
    let mut claims = claims_on_vfs(context);
    // Several claims on one template name the same networks.
    let mut seen = PerFact::default();
    claims.retain(|c| c.says.network && seen.record_if_first(c.claim));
    if claims.is_empty() {
        return;
    }
    let named: HashSet<(&str, &str)> =
        context.devices().networks.iter().map(|n| (n.namespace, n.name)).collect();
    for function in claims.iter().flat_map(|c| &c.claim.functions) {
        let Some(name) = function.network.as_deref() else { continue };
        let namespace = function.namespace.as_deref().unwrap_or(context.subject.namespace);
        if named.contains(&(namespace, name)) {
            findings.add(
                networks_annotation(),
                format!(
                    "the networks annotation and a claim's VfConfig both name network \"{}\": the second attachment fails",
                    escaped_and_cut(name, 63)
                ),
                "Remove the network from the annotation, or, in driver mode MULTUS, from the VfConfig.",
            );
        }
    }
}
