//! FAB251: gang on multi-node NVLink whose pods claim no IMEX channel of a ComputeDomain.

use crate::nodes::{LabelRequirement, Relation, Values};
use crate::plan::pod_with_plan::Variable;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::placement::node_classes_for_pod::classes_pod_can_run_on_with_accelerators;
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB251", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Label of nodes whose accelerators are in one NVLink domain (NVIDIA/k8s-device-plugin, gpu-feature-discovery).
const CLIQUE: &str = "nvidia.com/gpu.clique";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    if !classes.has_label_key(CLIQUE) || !claims.is_empty() {
        return;
    }
    let off = |(index, container)| {
        matches!(context.overlay.variable(index, container, "NCCL_MNNVL_ENABLE"), Some(Variable::Value("0")))
    };
    let Some(gang) = context.multi_node_evidence().filter(|gang| gang.several) else { return };
    if pod.containers().iter().enumerate().any(off) {
        return;
    }
    let Some(set) = classes_pod_can_run_on_with_accelerators(context) else { return };
    let mut racks = set.clone();
    let exists = LabelRequirement { key: CLIQUE, relation: Relation::Exists, values: Values::Texts(&[]) };
    classes.remove_classes_not_satisfying(&mut racks, exists);
    if racks == set {
        findings.add(
            "/spec",
            format!(
                "the pod is one of several ({}), but has no IMEX channel: no NVLink between nodes with label {CLIQUE}",
                gang.words
            ),
            "Claim a ComputeDomain channel, or set NCCL_MNNVL_ENABLE=0.",
        );
    }
}
