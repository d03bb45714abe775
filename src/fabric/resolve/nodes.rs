//! Profiles by the nodes that a pod can land on, and by its selectors where no such node exists.

use super::{Because, Conditions, Evidence, Question, Resolution, admits, unmet};
use crate::fabric::Profile;
use crate::fabric::nodes::{Class, ClassSet, Constraints, landing};
use crate::snapshot::{Ambiguity, NamespaceFacts, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a pod can land.
#[derive(Debug)]
pub(crate) struct Ground {
    /// Classes it can land on.
    pub(crate) landing: ClassSet,
    /// The profiles there that it can have: of each set of profiles the highest priority, or all that tie.
    pub(crate) found: BTreeMap<String, Arc<Profile>>,
    /// A profile there that its `when` keeps from it, and why.
    pub(crate) outside: Option<(Arc<Profile>, String)>,
    /// Whether it can land on nodes with accelerators that no profile it can have is for.
    pub(crate) bare: bool,
}

/// Label of the GPU operator (NVIDIA/gpu-operator controllers/state_manager.go).
const GPU_PRESENT: &str = "nvidia.com/gpu.present";

/// Finds the profiles on the nodes that a pod can land on.
pub(crate) fn ground(
    constraints: &Constraints<'_>,
    question: Question<'_>,
    facts: Option<&NamespaceFacts>,
    snapshot: &Snapshot,
) -> Ground {
    let (view, catalog) = (snapshot.nodes(), snapshot.catalog());
    let mut ground =
        Ground { landing: landing(constraints, view), found: BTreeMap::new(), outside: None, bare: false };
    let mut seen = vec![false; catalog.fabrics()];
    // The set of no profile is looked at class by class: some of its nodes may have accelerators.
    let mut bare = vec![true; catalog.fabrics()];
    for number in without_others(ground.landing.clone(), constraints, snapshot).ones() {
        let fabric = catalog.fabric_of(number);
        if let Some(seen @ false) = seen.get_mut(fabric) {
            *seen = true;
            let served =
                serve(catalog.fabric(fabric), question, facts, &mut ground.found, &mut ground.outside);
            if let Some(bare) = bare.get_mut(fabric) {
                *bare = !served;
            }
        }
        if !ground.bare && bare.get(fabric) == Some(&true) {
            ground.bare =
                view.classes().get(number).is_some_and(|class| accelerated(class, constraints, snapshot));
        }
    }
    ground
}

/// Takes away the classes that have accelerators, and none of those that the pod asks for. By names alone: a plugin
/// that is not there yet names nothing.
fn without_others(mut set: ClassSet, constraints: &Constraints<'_>, snapshot: &Snapshot) -> ClassSet {
    let accelerators = &snapshot.settings().accelerators;
    let asked = |name: &str| constraints.resources.contains(&name);
    if !constraints.resources.iter().any(|r| accelerators.contains(r)) {
        return set;
    }
    let classes = snapshot.nodes().classes();
    let (mut have, mut fit) = (classes.none(), classes.none());
    for (name, listing) in classes.offering().filter(|(name, _)| accelerators.contains(name)) {
        have.union_with(listing);
        if asked(name) {
            fit.union_with(listing);
        }
    }
    have.difference_with(&fit);
    set.difference_with(&have);
    set
}

/// Adds the best of the profiles that one kind of node carries. Whether there is any that the namespace may use.
fn serve(
    profiles: &[Arc<Profile>],
    question: Question<'_>,
    facts: Option<&NamespaceFacts>,
    found: &mut BTreeMap<String, Arc<Profile>>,
    outside: &mut Option<(Arc<Profile>, String)>,
) -> bool {
    let mut best = None;
    let mut served = false;
    for profile in profiles.iter().filter(|p| admits(p, question.namespace, facts)) {
        if best.is_some_and(|priority| priority > profile.priority) {
            break;
        }
        served = true;
        match unmet(profile, question) {
            None => {
                best = Some(profile.priority);
                found.insert(profile.name.clone(), Arc::clone(profile));
            }
            Some(reason) => {
                if outside.as_ref().is_none_or(|(known, _)| known.name > profile.name) {
                    *outside = Some((Arc::clone(profile), reason));
                }
            }
        }
    }
    served
}

/// Whether nodes of a class have what the pod computes on.
fn accelerated(class: &Class, constraints: &Constraints<'_>, snapshot: &Snapshot) -> bool {
    let accelerators = &snapshot.settings().accelerators;
    let asked = constraints.resources.iter().filter(|r| accelerators.contains(r));
    asked.into_iter().any(|r| class.offers(r)) || class.label(GPU_PRESENT) == Some("true")
}

/// Whether a pod waits for a profile's nodes: no node that it can land on now carries a profile or has what it
/// computes on, and the profile's nodes could fit it. Then its selectors speak for the profile, whatever else does.
pub(crate) fn awaits(
    profile: &Profile,
    constraints: &Constraints<'_>,
    landing: &ClassSet,
    (namespace, facts): (&str, Option<&NamespaceFacts>),
    snapshot: &Snapshot,
) -> bool {
    let (view, catalog) = (snapshot.nodes(), snapshot.catalog());
    let idle = |class: usize| {
        !catalog.fabric(catalog.fabric_of(class)).iter().any(|p| admits(p, namespace, facts))
            && !view.classes().get(class).is_some_and(|c| accelerated(c, constraints, snapshot))
    };
    landing.ones().all(idle) && Conditions::of(constraints).may_meet(profile)
}

/// The steps that look at nodes and selectors; `None` where they say nothing.
pub(super) fn resolve(
    question: Question<'_>,
    facts: Option<&NamespaceFacts>,
    default: Option<&str>,
    snapshot: &Snapshot,
) -> Option<Resolution> {
    snapshot.profiles().next()?;
    let constraints = Constraints::of(question.pod);
    if snapshot.nodes().is_empty() {
        // Of nodes that nobody told of nothing is known: only a pod that asks for a profile's nodes gets it.
        if constraints.is_free() {
            return None;
        }
        let conditions = Conditions::of(&constraints);
        let mut found = Vec::new();
        let mut outside = None;
        for profile in snapshot.profiles().filter(|p| conditions.select(p)) {
            if admits(profile, question.namespace, facts) {
                match unmet(profile, question) {
                    None => found.push(Arc::clone(profile)),
                    Some(reason) => outside = outside.or(Some((Arc::clone(profile), reason))),
                }
            }
        }
        let found = highest(found);
        return outcome(found, outside, Because::Selectors, Evidence::Selectors, snapshot);
    }
    let usable = |p: &Profile| admits(p, question.namespace, facts) && unmet(p, question).is_none();
    // The default is what nodes without a profile are for; where the pod can land on those as well, it is one of
    // the answers.
    let default = default.and_then(|name| snapshot.profile(name)).filter(|p| usable(p));
    let Ground { mut found, outside, bare, .. } = ground(&constraints, question, facts, snapshot);
    if !found.is_empty() || outside.is_some() {
        if let Some(default) = default.filter(|_| bare && !found.is_empty()) {
            found.insert(default.name.clone(), Arc::clone(default));
        }
        return outcome(found.into_values().collect(), outside, Because::Nodes, Evidence::Nodes, snapshot);
    }
    // A pod that is bound to a node lands there and nowhere else.
    let bound = constraints.node_name.is_some_and(|name| snapshot.nodes().class_of(name).is_some());
    if bare || bound {
        return None;
    }
    let conditions = Conditions::of(&constraints);
    let (mut found, mut outside) = (Vec::new(), None);
    // Whether every node that the pod could ever land on would carry a profile.
    let mut covered = false;
    for profile in snapshot.profiles().filter(|p| admits(p, question.namespace, facts)) {
        if conditions.may_meet(profile) {
            covered |= conditions.select(profile);
            match unmet(profile, question) {
                None => found.push(Arc::clone(profile)),
                Some(reason) => outside = outside.or(Some((Arc::clone(profile), reason))),
            }
        }
    }
    // Else one without may come, and its pods get the default.
    if let Some(default) = default.filter(|_| !covered && !found.is_empty())
        && !found.iter().any(|p| p.name == default.name)
    {
        found.push(Arc::clone(default));
        found.sort_by(|a, b| a.name.cmp(&b.name));
    }
    outcome(found, outside, Because::Selectors, Evidence::Selectors, snapshot)
}

/// Of profiles that a pod asks for by its selectors, those of the highest priority: all of them are for the nodes
/// that it will get.
fn highest(mut found: Vec<Arc<Profile>>) -> Vec<Arc<Profile>> {
    let best = found.iter().map(|p| p.priority).max();
    found.retain(|p| Some(p.priority) == best);
    found
}

fn outcome(
    found: Vec<Arc<Profile>>,
    outside: Option<(Arc<Profile>, String)>,
    because: Because,
    evidence: Evidence,
    snapshot: &Snapshot,
) -> Option<Resolution> {
    match found.as_slice() {
        [] => outside.map(|(profile, reason)| Resolution::Outside { profile, evidence, reason }),
        [one] => Some(Resolution::Profile { profile: Arc::clone(one), evidence }),
        several => {
            if snapshot.settings().ambiguity == Ambiguity::Pin
                && because == Because::Nodes
                && let [one] = highest(several.to_vec()).as_slice()
                && one.node_selector.is_some()
            {
                return Some(Resolution::Profile { profile: Arc::clone(one), evidence: Evidence::Priority });
            }
            Some(Resolution::Ambiguous { candidates: found, because })
        }
    }
}
