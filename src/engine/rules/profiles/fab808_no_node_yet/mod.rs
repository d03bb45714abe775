//! FAB808: no current node matches the pod, so the pod's selectors determine the profile.

use super::how_pod_names_profile::{constraints_with_planned_placement, is_named_by_pod_or_flag};
use super::misspelt_node_label;
use crate::resolve::{Evidence, waits_for_nodes_of_profile, without_classes_lacking_accelerators};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB808", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, evidence)) = context.resolution.profile() else { return };
    let nodes = context.subject.snapshot.nodes_for_audience();
    // Most pods: they got their profile by nodes that exist.
    let by_nodes = matches!(evidence, Evidence::Nodes | Evidence::Asked | Evidence::Priority);
    if nodes.is_empty() || by_nodes || is_named_by_pod_or_flag(evidence) {
        return;
    }
    let placed = constraints_with_planned_placement(context, profile);
    let constraints = placed.as_ref().unwrap_or(&context.subject.constraints);
    // Once a pod has what the profile gives it, that is the evidence; nothing else about it has changed.
    if !matches!(evidence, Evidence::Selectors(_)) {
        if constraints.is_partial() {
            return;
        }
        let landing = without_classes_lacking_accelerators(
            context.subject.snapshot.landing(constraints, context.deadline),
            constraints,
            context.subject.snapshot,
        );
        let carrying = context.subject.snapshot.catalog().node_classes_of(&profile.name);
        if carrying.is_none_or(|carrying| !landing.is_disjoint(carrying))
            || !waits_for_nodes_of_profile(profile, constraints, &landing, context.subject)
        {
            return;
        }
    }
    let carrying =
        context.subject.snapshot.catalog().node_classes_of(&profile.name).filter(|c| !c.is_clear());
    let by = carrying
        .map(|c| context.subject.snapshot.constraints_that_exclude_nodes(constraints, c, context.deadline));
    let by = by.as_ref().and_then(|by| by.first.first());
    let by = by.map(|d| format!(" ({} excludes the profile's current nodes)", escaped_and_cut(&d.by, 80)));
    let message = format!(
        "no current node matches the pod: profile {:?} is chosen by the pod's selectors alone{}",
        profile.name,
        by.unwrap_or_default()
    );
    let wrong = misspelt_node_label::find_misspelt_label_or_value(
        context,
        constraints,
        std::slice::from_ref(profile),
    );
    let fix = match wrong {
        Some(wrong) => format!("Correct the label ({wrong}). If the node pool grows on demand, ignore this finding."),
        None => "If the node pool grows on demand, ignore this finding. Otherwise, correct the pod's nodeSelector.".to_owned(),
    };
    findings.add("/spec", message, fix);
}
