//! FAB807: the pod cannot run on the nodes of its profile.

use super::how_pod_names_profile::{constraints_with_planned_placement, is_named_by_pod_or_flag};
use crate::nodes::TAINT;
use crate::profile::Profile;
use crate::resolve::{Conditions, Evidence, waits_for_nodes_of_profile};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB807", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, evidence)) = context.resolution.profile() else { return };
    if evidence.is_of_nodes() || *evidence == Evidence::Flag {
        return;
    }
    if context.subject.snapshot.is_for_anyone() {
        return report_by_selectors_only(context, profile, findings);
    }
    let Some(carrying) = context.subject.snapshot.catalog().node_classes_of(&profile.name) else { return };
    if carrying.is_clear() {
        return;
    }
    let placed = constraints_with_planned_placement(context, profile);
    let constraints = placed.as_ref().unwrap_or(&context.subject.constraints);
    if constraints.is_partial() {
        return;
    }
    let landing = context.subject.snapshot.landing(constraints, context.deadline);
    let waits = || waits_for_nodes_of_profile(profile, constraints, &landing, context.subject);
    if !landing.is_disjoint(carrying) || !is_named_by_pod_or_flag(evidence) && waits() {
        return;
    }
    // Selectors are the pod's own text; only operators may know the taints of nodes, and how many nodes there are.
    let by = context.subject.snapshot.constraints_that_exclude_nodes(constraints, carrying, context.deadline);
    let for_operator = !context.subject.snapshot.is_not_for_operator();
    let reason = |by: &str| match by.starts_with(TAINT) && !for_operator {
        true => "a taint of the nodes".to_owned(),
        false => escaped_and_cut(by, 80),
    };
    let mut by: Vec<String> = by.first.iter().take(3).map(|d| reason(&d.by)).collect();
    by.dedup();
    // A decision that has taken all its looks knows no reason.
    let because = if by.is_empty() { String::new() } else { format!(", because of {}", by.join("; ")) };
    let message = format!("the pod cannot run on any node of profile {:?}{because}", profile.name);
    findings.add(
        "/spec",
        message,
        "Change the constraint, or set the profile annotation to a profile of the nodes where the pod can run.",
    );
}

/// The same for a caller who may know the selectors of profiles and nothing about nodes.
fn report_by_selectors_only(context: &PodContext<'_>, profile: &Profile, findings: &mut FindingsOfRule<'_>) {
    let placed = constraints_with_planned_placement(context, profile);
    let constraints = placed.as_ref().unwrap_or(&context.subject.constraints);
    let may_meet = || {
        Conditions::of(constraints, (context.subject.snapshot, context.subject.namespace), context.deadline)
            .may_fit_nodes_of(profile)
    };
    if constraints.any_labels || !profile.has_node_requirements() || may_meet() {
        return;
    }
    findings.add(
        "/spec",
        format!(
            "the pod cannot run on the nodes of profile {:?}: the pod's selectors exclude these nodes",
            profile.name
        ),
        "Change the pod's selectors, or name the profile of the nodes where the pod runs.",
    );
}
