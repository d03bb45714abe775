//! Decides on an object that is not a pod and makes none.

use super::decision::Decision;
use super::is_denied::cap_and_sort_findings_then_set_verdict;
use super::pod_request::Stage;
use crate::facts::Mode;
use crate::json::annotations_of_object::Annotated;
use crate::rules::which_findings_annotations_ignore::{Limit, apply_ignores};
use crate::rules::{ObjectContext, check_object};

/// Decides on an object that is not a pod.
#[must_use]
pub fn decide_object_that_makes_no_pods(context: &ObjectContext<'_>, mode: Mode) -> Decision {
    let mut findings = check_object(context);
    let limit = Limit { ignorable: context.snapshot.settings().ignorable, profile: None };
    let suppressed =
        apply_ignores(Annotated::read_or_empty(context.json).iter(), limit, &mut findings, context.deadline);
    let mut decision = Decision { in_scope: true, findings, suppressed, ..Decision::default() };
    cap_and_sort_findings_then_set_verdict(&mut decision, Stage::Final, mode, true);
    decision
}
