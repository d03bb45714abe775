//! FAB820: list of a pod that is too long to check.

use crate::multus::{AnnotationError, MAX_NETWORKS};
use crate::pod::limits::{
    MAX_CLAIMS, MAX_COMMANDS, MAX_COMPARED, MAX_LABELS, MAX_NODE_SELECTOR, MAX_RESOURCE_NAMES, OverLimit,
    over_limit,
};
use crate::pod::templates_by_shape::MAX_TEMPLATES;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths::annotation_path;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, files};
use crate::rules::workload::WorkloadContext;

pub(super) static RULE: Rule = Rule {
    id: "FAB820",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    workload: Some(check_workload),
    ..Rule::DEFAULT
};

fn check_workload(context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
    if context.incomplete {
        findings.add(
            "",
            format!("the object has more than {MAX_TEMPLATES} pod templates: only the first {MAX_TEMPLATES} are checked"),
            format!("Split the object, so that each part has at most {MAX_TEMPLATES} pod templates."),
        );
    }
    let left = || context.templates.iter().filter(|t| !t.compared);
    let Some(first) = left().next() else { return };
    findings.add(
        first.pointer,
        format!(
            "the profiles set more than {MAX_COMPARED} values in the pods of this object: {} compared with the others",
            match left().count() {
                1 => "this pod template is not".to_owned(),
                more => format!("this pod template and {} more are not", more - 1),
            }
        ),
        "Use fewer pod templates.",
    );
}

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if let Some(Err(AnnotationError::TooMany(networks))) = &context.subject.networks {
        findings.add(
            annotation_path(),
            format!(
                "the pod names {networks} networks, but the limit is {MAX_NETWORKS}: the webhook checks no network, and applies no profile"
            ),
            format!("Name at most {MAX_NETWORKS} networks."),
        );
        return;
    }
    let (path, what, most) = match over_limit(context.pod()) {
        Some(OverLimit::NodeSelector) => ("/spec/nodeSelector", "entries in nodeSelector", MAX_NODE_SELECTOR),
        Some(OverLimit::Labels) => ("/metadata/labels", "labels", MAX_LABELS),
        Some(OverLimit::Claims) => ("/spec/resourceClaims", "resource claims", MAX_CLAIMS),
        Some(OverLimit::Commands) => {
            ("/spec/containers", "bytes of text in command and args of its containers", MAX_COMMANDS)
        }
        Some(OverLimit::ResourceNames) => {
            ("/spec/containers", "different resources in its containers", MAX_RESOURCE_NAMES)
        }
        None => return,
    };
    findings.add(
        path,
        format!("the pod has more than {most} {what}: the webhook does not check the pod in full, and applies no profile"),
        format!("Use at most {most}."),
    );
}
