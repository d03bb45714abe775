//! Which of several profiles a pod gets by its nodes or its selectors (docs/adr/0020-strength.md). What the pod itself
//! shows is settled elsewhere: its annotation in `profile_by_name`, its own resources and networks in
//! `profile_by_resources_and_networks`, and which of all these counts first in `order_of_evidence`.
//!
//! * Of the profiles of one node: those with the highest priority (`add_highest_priority`).
//! * Of the profiles of several nodes, or of all profiles while the pod has no node (`candidates_while_no_node_exists`): a profile
//!   whose nodes the pod's selectors ask for beats others of at most its priority (`remove_outranked`).
//! * A profile that the pod names replaces others (`replaces`).
//! * If several are left, the result is ambiguous (`resolution_from_candidates`).

use super::{AmbiguityCause, Evidence, Resolution, Strength, unmet_condition_of_when};
use crate::demands::Subject;
use crate::profile::Profile;
use crate::snapshot::{Ambiguity, ProfileSet, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The profiles found so far.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Those that the pod can have, by name.
    pub(super) profiles: BTreeMap<String, Arc<Profile>>,
    /// Of the profiles whose `when` excludes the pod, the first by name, and why.
    pub(super) outside: Option<(Arc<Profile>, String)>,
}

impl Candidates {
    /// Takes a profile that admits the namespace. Whether the pod can have it.
    pub(super) fn add_if_when_is_met(&mut self, profile: &Arc<Profile>, subject: &Subject<'_>) -> bool {
        match unmet_condition_of_when(profile, subject) {
            None => {
                self.profiles.insert(profile.name.clone(), Arc::clone(profile));
                true
            }
            Some(reason) => {
                if self.outside.as_ref().is_none_or(|(known, _)| known.name > profile.name) {
                    self.outside = Some((Arc::clone(profile), reason));
                }
                false
            }
        }
    }
}

/// Answers about a profile that are the same for all kinds of nodes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JudgedProfile {
    /// Whether it admits the pod's namespace.
    admits: Option<bool>,
    /// Whether the pod can have it.
    fits: Option<bool>,
}

/// Adds the best of the profiles that one kind of node carries. Whether there is any that the namespace may use. A cluster may
/// have thousands of sets of a thousand profiles, so each profile is judged once; `judged` has them by their places.
pub(super) fn add_highest_priority(
    profiles: ProfileSet<'_>,
    replaced: &dyn Fn(&Profile) -> bool,
    subject: &Subject<'_>,
    (found, judged): (&mut Candidates, &mut [JudgedProfile]),
) -> bool {
    let (mut best, mut served) = (None, false);
    for (place, profile) in profiles.with_places() {
        let Some(judged) = judged.get_mut(place) else { continue };
        let admits = || subject.snapshot.admits(profile, subject.namespace);
        if !*judged.admits.get_or_insert_with(admits) {
            continue;
        }
        if best.is_some_and(|priority| priority > profile.priority) {
            break;
        }
        served = true;
        let add = || found.add_if_when_is_met(profile, subject);
        if !replaced(profile) && *judged.fits.get_or_insert_with(add) {
            best = Some(profile.priority);
        }
    }
    served
}

/// Whether a profile that a pod names takes the place of another one on its nodes: it is for these nodes too, and has at least
/// the same priority. A profile without conditions on nodes is for any node, but nobody has said
/// that it competes with this one; so it needs a higher priority.
pub(super) fn replaces(named: &Profile, other: &Profile, is_for_the_nodes: bool) -> bool {
    if is_for_the_nodes {
        return named.priority >= other.priority;
    }
    !named.has_node_requirements() && named.priority > other.priority
}

/// Removes the profiles that another one beats: a stronger one of at least the same priority, or, where the pod asks for
/// the nodes of both, one of a higher priority. A profile whose nodes are asked for is on every node that fits the pod,
/// and there the priority decides, so that what is left is what a node could give (docs/adr/0009).
pub(super) fn remove_outranked(
    profiles: &mut BTreeMap<String, Arc<Profile>>,
    strength: impl Fn(&Profile) -> Strength,
) {
    if profiles.len() < 2 {
        return;
    }
    let found: Vec<(Strength, i32)> = profiles.values().map(|p| (strength(p), p.priority)).collect();
    let highest = |of: Strength| found.iter().filter(|(s, _)| *s == of).map(|(_, priority)| *priority).max();
    let (nodes, types) = (highest(Strength::Nodes), highest(Strength::Type));
    let mut kept = found.iter().map(|(strength, priority)| match strength {
        Strength::Nodes => Some(*priority) >= nodes,
        Strength::Type => Some(*priority) > nodes,
        Strength::Open => Some(*priority) > nodes.max(types),
    });
    profiles.retain(|_, _| kept.next().unwrap_or(true));
}

/// A profile whose nodes the pod asks for is on all of them. An instance type proves nothing about nodes that are there
/// to be looked at.
pub(super) fn without_strength_of_instance_type(strength: Strength) -> Strength {
    match strength {
        Strength::Nodes => Strength::Nodes,
        Strength::Type | Strength::Open => Strength::Open,
    }
}

fn highest<'a>(profiles: impl Iterator<Item = &'a Arc<Profile>>) -> Option<i32> {
    profiles.map(|p| p.priority).max()
}

pub(super) fn resolution_from_candidates(
    found: Candidates,
    because: AmbiguityCause,
    evidence: impl Fn(&Profile) -> Evidence,
    snapshot: &Snapshot,
) -> Option<Resolution> {
    let several: Vec<Arc<Profile>> = found.profiles.into_values().collect();
    match several.as_slice() {
        [] => found.outside.map(|(profile, reason)| {
            let evidence = evidence(&profile);
            Resolution::Outside { profile, evidence, reason }
        }),
        [one] => Some(Resolution::Profile { profile: Arc::clone(one), evidence: evidence(one) }),
        _ => {
            let best = highest(several.iter());
            let mut first = several.iter().filter(|p| Some(p.priority) == best);
            if snapshot.settings().ambiguity == Ambiguity::Pin
                && because == AmbiguityCause::Nodes
                && let (Some(one), None) = (first.next(), first.next())
                && one.node_selector.is_some()
            {
                let profile = Arc::clone(one);
                return Some(Resolution::Profile { profile, evidence: Evidence::Priority });
            }
            Some(Resolution::Ambiguous { candidates: several, because })
        }
    }
}
