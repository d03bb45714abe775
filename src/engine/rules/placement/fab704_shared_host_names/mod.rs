//! FAB704: pods of one workload may share a node and a host name.

use crate::pod::PodView;
use crate::pod::pod_fields::Presence;
use crate::pod::workload_kinds;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::WorkloadContext;
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB704",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (template, asked) in context.templates_in_scope() {
        let Some(pods) = template.pods.filter(|pods| *pods > 1) else { continue };
        let pod = template.pod;
        let hostname = pod.spec.as_ref().and_then(|s| s.hostname.as_deref()).filter(|h| !h.is_empty());
        let own = workload_kinds::workload_kinds_named(&context.maker.kind).any(|kind| kind.names_hosts);
        let fixed = hostname.filter(|_| !own);
        if !pod.host_network() && fixed.is_none() {
            continue;
        }
        let Some((profile, _)) = asked.resolution.profile() else { continue };
        let whole = profile.accelerators_per_node;
        let Some(each) = asked
            .subject
            .demands
            .whole_accelerators_taken_from_node()
            .filter(|n| *n > 0 && n.saturating_mul(2) <= whole)
        else {
            continue;
        };
        let named = |(index, c)| asked.overlay.variable(index, c, "NCCL_HOSTID").is_some();
        if are_pods_kept_on_different_nodes(pod) || pod.containers().iter().enumerate().any(named) {
            continue;
        }
        let (path, shared) = match fixed.filter(|_| !pod.host_network()) {
            Some(name) => ("/spec/hostname", format!("host name {:?}", escaped_and_cut(name, 63))),
            None => ("/spec/hostNetwork", "the node's host name".to_owned()),
        };
        findings.add(
            format!("{}{path}", template.pointer),
            format!(
                "{pods} pods ({each} of {whole} accelerators each, profile {:?}) may run on one node with {shared}: NCCL sees one host",
                profile.name
            ),
            "Add a required pod anti-affinity, or set NCCL_HOSTID from metadata.name.",
        );
    }
}

/// Whether the scheduler puts no two of these pods on one node. On the node's network every port that a container names
/// is one of the node's.
fn are_pods_kept_on_different_nodes(pod: &PodView<'_>) -> bool {
    let given = |list: &[Presence]| !list.is_empty();
    let apart = pod.affinity().and_then(|a| a.pod_anti_affinity.as_ref()?.required.as_deref());
    let ports = pod.containers().iter().any(|c| c.ports.as_deref().is_some_and(given));
    apart.is_some_and(given) || pod.host_network() && ports
}
