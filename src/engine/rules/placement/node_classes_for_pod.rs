//! Where a pod can run, for findings: kinds of nodes, never single ones, so that a decision costs the same at ten nodes
//! and at a hundred thousand.

use crate::nodes::ClassSet;
use crate::rules::pod_context::PodContext;
use std::collections::BTreeSet;

/// The kinds of nodes that a pod can run on and that list the accelerators it requests by name; `None` where there are
/// none, it requests none, or nothing is known.
pub(in crate::rules) fn classes_pod_can_run_on_with_accelerators(
    context: &PodContext<'_>,
) -> Option<ClassSet> {
    let constraints = &context.subject.constraints;
    let accelerators = &context.subject.snapshot.settings().accelerators;
    let asked: BTreeSet<&str> =
        constraints.resources.iter().copied().filter(|r| accelerators.contains(r)).collect();
    classes_offering_all_resources(context, asked.into_iter())
}

/// The kinds of nodes that a pod can run on and that list every one of some resources; `None` as above.
pub(super) fn classes_pod_can_run_on_with_resources<'n>(
    context: &PodContext<'_>,
    resources: impl Iterator<Item = &'n str>,
) -> Option<ClassSet> {
    classes_offering_all_resources(context, resources)
}

fn classes_offering_all_resources<'n>(
    context: &PodContext<'_>,
    resources: impl Iterator<Item = &'n str>,
) -> Option<ClassSet> {
    let nodes = context.subject.snapshot.nodes_for_audience();
    let mut resources = resources.peekable();
    resources.peek()?;
    if nodes.is_empty() || context.subject.constraints.is_partial() {
        return None;
    }
    let mut set = context.subject.landing().clone();
    for resource in resources {
        match nodes.classes().classes_offering(resource) {
            Some(offering) => offering.keep_in_set(&mut set),
            None => return None,
        }
    }
    Some(set).filter(|set| !set.is_clear())
}
