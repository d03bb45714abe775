//! A profile's `when`: which pods get it without naming it.

use super::{Evidence, Resolution};
use crate::demands::Subject;
use crate::profile::Profile;
use crate::profile::schema::MultiNode;
use crate::text::count_with_noun;
use std::sync::Arc;

/// Gives the profile to a pod that did not name it, unless its `when` says otherwise.
pub(super) fn profile_or_outside_by_when(
    profile: Arc<Profile>,
    evidence: Evidence,
    subject: &Subject<'_>,
) -> Resolution {
    match unmet_condition_of_when(&profile, subject) {
        None => Resolution::Profile { profile, evidence },
        Some(reason) => Resolution::Outside { profile, evidence, reason },
    }
}

/// What of a profile's `when` a pod does not meet. A function of the pod alone.
pub(crate) fn unmet_condition_of_when(profile: &Profile, subject: &Subject<'_>) -> Option<String> {
    let least = profile.when.min_accelerators.unwrap_or(profile.accelerators_per_node);
    if let Some(asked) = subject.accelerators
        && asked < least
    {
        let needed = count_with_noun(least as usize, "whole accelerator");
        return Some(format!(
            "without an annotation, the profile applies only to pods with at least {needed}, and this pod has {asked}"
        ));
    }
    if profile.when.multi_node == Some(MultiNode::Required) {
        match subject.gang_of_pod_or_workload() {
            Some(gang) if gang.several => {}
            Some(gang) => {
                return Some(format!(
                    "the profile is for jobs of several nodes, but the pod's job has only one node ({})",
                    gang.words
                ));
            }
            None => {
                return Some(
                    "the profile is for jobs of several nodes, but nothing shows that the pod belongs to such a job"
                        .to_owned(),
                );
            }
        }
    }
    let selector = profile.when.pod_selector.as_ref();
    let excluded = selector.is_some_and(|selector| !selector.matches(subject.labels()));
    excluded.then(|| "the pod's labels do not match the profile's podSelector".to_owned())
}
