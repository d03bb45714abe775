//! The profiles whose `require` and `forbid` hold for a pod beside the profile that it gets (docs/adr/0022).

use super::{Evidence, Resolution, candidates_by_nodes, unmet_condition_of_when};
use crate::demands::Subject;
use crate::nodes::NodeConstraintsOfPod;
use crate::profile::Profile;
use std::sync::Arc;

/// The changes of a pod that decide where it can run, if the answer carries them.
#[derive(Debug, Default)]
pub(crate) struct PlannedForNodes<'a> {
    /// Whether the webhook restricts it to the nodes of its profile.
    pub(crate) placed: bool,
    /// Extended resources that it gets.
    pub(crate) resources: Vec<&'a str>,
}

/// Finds them. Where the pod itself chooses its profile, by name, resource or network, or keeps two profiles from being
/// chosen, the profiles of its nodes hold as well: a tenant writes pods, and the platform team writes profiles. The same
/// holds for a pod with the profile of the highest priority that is not kept to the nodes of that profile. Beside a profile
/// that was found in another way, those hold whose nodes a term of the pod's affinity asks for, although none of these nodes
/// is there now.
pub(crate) fn profiles_of_nodes_also_held(
    subject: &Subject<'_>,
    resolution: &Resolution,
    planned: &PlannedForNodes<'_>,
) -> Vec<Arc<Profile>> {
    use Evidence::{Flag, Network, PodAnnotation, Priority, Resource};
    let (named, chosen_by_pod) = match resolution {
        Resolution::Profile { evidence: Flag, .. } => return Vec::new(),
        Resolution::Profile { profile, evidence: PodAnnotation | Resource(_) | Network(_) | Priority } => {
            (Some(profile), true)
        }
        // Of a profile that does not apply nothing holds, and it replaces none.
        Resolution::Outside { evidence: Resource(_) | Network(_), .. } | Resolution::Ambiguous { .. } => {
            (None, true)
        }
        Resolution::Profile { profile, evidence } if evidence.is_of_nodes() => (Some(profile), false),
        _ => (None, false),
    };
    if !subject.snapshot.catalog().any_profile_restricts_variables() {
        return Vec::new();
    }
    let mut constraints = NodeConstraintsOfPod::of(subject.pod);
    if chosen_by_pod {
        constraints.resources.extend(&planned.resources);
    }
    let selector = named.and_then(|profile| profile.node_selector.as_ref()).filter(|_| planned.placed);
    if let Some(selector) = selector {
        constraints = constraints.with_selector_in_every_term(selector);
    }
    // A pod may name a profile whose `when` excludes it. The nodes give such a pod another profile, which a name does not
    // replace: otherwise the name would lift rules for small pods, say.
    let replacing = named.filter(|profile| unmet_condition_of_when(profile, subject).is_none());
    if !chosen_by_pod {
        return candidates_by_nodes::profiles_asked_beside_found(&constraints, subject, replacing);
    }
    candidates_by_nodes::profiles_of_nodes_beside_named(&constraints, subject, replacing)
}
