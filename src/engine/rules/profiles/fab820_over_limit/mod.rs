//! FAB820: list of a pod that is too long to check.

use crate::multus::{AnnotationError, MAX_NETWORKS};
use crate::pod::limits_and_costs_of_pods::{
    MAX_CLAIMS, MAX_COMMANDS_LENGTH, MAX_COMPARED_VALUES, MAX_LABELS, MAX_NODE_SELECTOR, MAX_RESOURCE_NAMES,
    OverLimit, first_list_over_limit,
};
use crate::pod::limits_of_template_search::MAX_TEMPLATES;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::{container, networks_annotation};
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::rules::variables_of_pod::MAX_CONTAINERS;
use crate::rules::workload_context::{NotChecked, WorkloadContext, WorkloadTemplate};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB820",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    workload: Some(check_workload),
    ..Rule::DEFAULT
};

/// Longest reason that a message has (characters).
const MAX_REASON: usize = 200;

fn check_workload(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.incomplete {
        findings.add(
            "",
            format!("the object has more than {MAX_TEMPLATES} pod templates: only the first {MAX_TEMPLATES} are checked"),
            format!("Split the object, so that each part has at most {MAX_TEMPLATES} pod templates."),
        );
    }
    if let Some(part) = context.not_searched {
        findings.add(
            &part.pointer,
            part.limit.to_string(),
            "Split the object, so that each part is within this limit.",
        );
    }
    match context.not_checked {
        Some(NotChecked::Runtime) => findings.add(
            "/spec/runtimeRef",
            "the TrainJob and its training runtime have too many values or too long texts, or a patch has a directive: the webhook checks the TrainJob without its runtime",
            "Use fewer and shorter patches, variables and arguments; a pod is checked with all of them when it is created.",
        ),
        Some(NotChecked::Part(pointer)) => findings.add(
            pointer,
            "this part of the pods is too long, or cannot be read: it is not checked",
            "Make the lists and texts shorter; a pod is checked as a whole when it is created.",
        ),
        None => {}
    }
    if let Some((pointer, error)) = context.unread {
        findings.add(
            pointer,
            format!(
                "this pod template cannot be read, so it is not checked, and its pods will be refused: {}",
                escaped_and_cut(&error.clone().message_with_place(), MAX_REASON)
            ),
            "Correct the value, or use a shorter list.",
        );
    }
    let templates = context.templates.iter();
    if let Some((first, are_not)) = first_template_and_words(templates.clone().filter(|t| !t.checked)) {
        findings.add(
            first,
            format!(
                "the pod templates before this one have many containers, or get many values from profiles: {are_not} checked"
            ),
            "Use fewer different pod templates, or fewer containers.",
        );
    }
    if let Some((first, are_not)) = first_template_and_words(templates.filter(|t| t.checked && !t.compared)) {
        findings.add(
            first,
            format!(
                "the profiles set more than {MAX_COMPARED_VALUES} values in the pods of this object: {are_not} compared with the others"
            ),
            "Use fewer pod templates.",
        );
    }
}

/// The place of the first of some templates, and words for all of them.
fn first_template_and_words<'t>(
    mut templates: impl Iterator<Item = &'t WorkloadTemplate<'t>>,
) -> Option<(&'t str, String)> {
    let first = templates.next()?;
    let words = match templates.count() {
        0 => "this pod template is not".to_owned(),
        more => format!("this pod template and {more} more are not"),
    };
    Some((first.pointer, words))
}

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if let Some(Err(AnnotationError::TooMany(networks))) = &context.subject.networks {
        findings.add(
            networks_annotation(),
            format!(
                "the pod names {networks} networks, but the limit is {MAX_NETWORKS}: the webhook checks no network, and applies no profile"
            ),
            format!("Name at most {MAX_NETWORKS} networks."),
        );
        return;
    }
    if let Some(index) = context.variables_and_limit().not_read {
        findings.add(
            container(index),
            format!(
                "the pod has more than {MAX_CONTAINERS} containers that set variables of NCCL or its companions: the webhook does not check the variables of this container and those after it"
            ),
            format!("Set these variables in at most {MAX_CONTAINERS} containers."),
        );
    }
    let (path, what, most) = match first_list_over_limit(context.pod()) {
        Some(OverLimit::NodeSelector) => ("/spec/nodeSelector", "entries in nodeSelector", MAX_NODE_SELECTOR),
        Some(OverLimit::Labels) => ("/metadata/labels", "labels", MAX_LABELS),
        Some(OverLimit::Claims) => ("/spec/resourceClaims", "resource claims", MAX_CLAIMS),
        Some(OverLimit::Commands) => (
            "/spec/containers",
            "bytes in command and args of its containers (each word counts as 16 further bytes)",
            MAX_COMMANDS_LENGTH,
        ),
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
