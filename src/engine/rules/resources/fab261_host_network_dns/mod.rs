//! FAB261: hostNetwork pod of a gang that cannot resolve service names.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB261", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Labels of controllers whose pods find each other by service names.
const BY_SERVICE: [&str; 4] = [
    "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.sigs.k8s.io/name",
    "training.kubeflow.org/job-name",
    "mpi-job-name",
];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    if !pod.host_network() {
        return;
    }
    let policy = pod.spec.as_ref().and_then(|s| s.dns_policy.as_deref()).unwrap_or("ClusterFirst");
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let by_service = labels.is_some_and(|l| BY_SERVICE.iter().any(|key| l.get(key).is_some()));
    if by_service && matches!(policy, "ClusterFirst" | "Default" | "") {
        findings.add(
            "/spec/dnsPolicy",
            format!("a hostNetwork pod with dnsPolicy {policy} uses the node's DNS, which does not resolve service names (as in MASTER_ADDR)"),
            "Set dnsPolicy: ClusterFirstWithHostNet.",
        );
    }
}
