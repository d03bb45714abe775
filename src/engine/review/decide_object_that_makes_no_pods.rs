//! Decides on an object that is not a pod and makes none.

use super::decision::Decision;
use super::lower_severities_sort_and_judge::lower_severities_then_sort_and_judge;
use super::pod_request::Stage;
use crate::facts::EnforcementMode;
use crate::json::annotations_of_object::AnnotationsOfObject;
use crate::rules::which_findings_annotations_ignore::{
    HowFarFindingsMayBeIgnored, set_aside_ignored_findings,
};
use crate::rules::{ObjectContext, run_rules_on_object};

/// Decides on an object that is not a pod.
#[must_use]
pub fn decide_object_that_makes_no_pods(context: &ObjectContext<'_>, mode: EnforcementMode) -> Decision {
    let mut findings = run_rules_on_object(context);
    let limit =
        HowFarFindingsMayBeIgnored { ignorable: context.snapshot.settings().ignorable, profile: None };
    let suppressed = set_aside_ignored_findings(
        AnnotationsOfObject::read_or_empty(context.json).iter(),
        limit,
        &mut findings,
        context.deadline,
    );
    let mut decision = Decision { in_scope: true, findings, suppressed, ..Decision::default() };
    lower_severities_then_sort_and_judge(&mut decision, Stage::Final, mode, true);
    decision
}
