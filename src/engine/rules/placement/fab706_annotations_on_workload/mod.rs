//! FAB706: pod annotation on the workload instead of on its pod template.

use crate::facts::PROFILE_ANNOTATION;
use crate::multus::NETWORKS_ANNOTATION;
use crate::plan::{CONTAINERS_ANNOTATION, INJECT_ANNOTATION, RAILS_ANNOTATION};
use crate::pod::how_ranks_start::RANKS_ANNOTATION;
use crate::pod::is_multi_node::MULTI_NODE_ANNOTATION;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::WorkloadContext;
use crate::text::{escaped_and_cut, json_pointer_token};

pub(super) static RULE: Rule = Rule {
    id: "FAB706",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

/// Annotations of pods.
const FOR_PODS: [&str; 7] = [
    NETWORKS_ANNOTATION,
    PROFILE_ANNOTATION,
    CONTAINERS_ANNOTATION,
    RAILS_ANNOTATION,
    INJECT_ANNOTATION,
    MULTI_NODE_ANNOTATION,
    RANKS_ANNOTATION,
];

/// Groups whose controllers create pods with only the template's annotations.
const GROUPS: [&str; 7] = [
    "batch",
    "apps",
    "jobset.x-k8s.io",
    "leaderworkerset.x-k8s.io",
    "kubeflow.org",
    "batch.volcano.sh",
    "ray.io",
];

fn check(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let maker = context.maker;
    let Some(annotations) = context.metadata.and_then(|m| m.annotations.as_ref()) else { return };
    if !GROUPS.contains(&maker.group.as_str()) {
        return;
    }
    for key in FOR_PODS {
        if annotations.get(key).is_none() {
            continue;
        }
        let mut without = context.templates_in_scope().filter(|(t, _)| t.pod.annotation(key).is_none());
        if let Some((template, _)) = without.next() {
            findings.add(
                format!("{}/metadata/annotations/{}", maker.pointer, json_pointer_token(key)),
                format!(
                    "annotation {key} on the {} has no effect: pods get only the annotations of {}",
                    escaped_and_cut(&maker.kind, 60),
                    escaped_and_cut(template.pointer, 100)
                ),
                format!(
                    "Move the annotation to {}/metadata/annotations.",
                    escaped_and_cut(template.pointer, 100)
                ),
            );
        }
    }
}
