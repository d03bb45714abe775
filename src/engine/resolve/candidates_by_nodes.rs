//! The profiles of the nodes that a pod can run on. `which_candidate_of_nodes_wins` decides between several, and
//! `candidates_while_no_node_exists` has the profiles while no such node exists.

use super::candidates_while_no_node_exists::candidates_by_selectors_alone;
use super::node_classes_by_resources::{
    ClassesLackingPublishedResources, classes_with_any_and_with_other_accelerators,
    classes_with_requested_accelerators, requested_accelerators, without_classes_lacking_accelerators,
};
use super::profiles_asked_by_selectors::AskedProfiles;
use super::which_candidate_of_nodes_wins::{
    Candidates, JudgedProfile, add_highest_priority, remove_outranked, replaces, resolution_from_candidates,
    without_strength_of_instance_type,
};
use super::{AmbiguityCause, Conditions, Evidence, Resolution, Strength, unmet_condition_of_when};
use crate::demands::Subject;
use crate::nodes::{ClassSet, NodeConstraintsOfPod};
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use std::sync::Arc;

/// Kinds of nodes between two questions whether the time of the decision is over (count).
const BLOCK: usize = 64;

/// What the nodes that a pod can run on say about its profile.
#[derive(Debug, Default)]
struct CandidatesOnNodes {
    /// The profiles with the highest priority of each kind of node.
    found: Candidates,
    /// Whether any of the nodes belongs to a profile that the namespace may use.
    served: bool,
    /// Whether a node with accelerators belongs to no profile that the pod can have.
    bare: bool,
}

/// Finds the profiles on the nodes that a pod can run on: of each kind of node the highest priority, or all that tie.
/// Those that the named profile replaces do not count.
fn candidates_on_nodes(
    landing: &ClassSet,
    constraints: &NodeConstraintsOfPod<'_>,
    subject: &Subject<'_>,
    named: Option<&Profile>,
) -> CandidatesOnNodes {
    let snapshot = subject.snapshot;
    let catalog = snapshot.catalog();
    let mut ground = CandidatesOnNodes::default();
    // For each set of profiles that was seen, whether one of them serves the pod.
    let mut served: Vec<Option<bool>> = vec![None; catalog.profile_sets()];
    let known = named.and_then(|named| catalog.get(&named.name));
    let mut judged = vec![JudgedProfile::default(); catalog.numbered().len()];
    let accelerated = classes_with_requested_accelerators(constraints, snapshot);
    for (nth, number) in landing.ones().enumerate() {
        if nth.is_multiple_of(BLOCK) && subject.deadline.is_over() {
            break;
        }
        let fabric = catalog.profile_set_of_class(number);
        let Some(served) = served.get_mut(fabric) else { continue };
        let profiles = catalog.profile_set(fabric);
        let served = *served.get_or_insert_with(|| {
            let is_for_the_nodes = known.is_some_and(|named| profiles.contains(named));
            let replaced = |p: &Profile| named.is_some_and(|named| replaces(named, p, is_for_the_nodes));
            add_highest_priority(profiles, &replaced, subject, (&mut ground.found, &mut judged))
        });
        ground.served |= served;
        // The set of no profile is looked at class by class: some of its nodes may have accelerators.
        ground.bare |= !served && accelerated.contains(number);
    }
    ground
}

/// Whether a pod waits for a profile's nodes: no node that it can run on now carries a profile or has its
/// accelerators, and the profile's nodes could fit it. Then its selectors are evidence for the profile.
pub(crate) fn waits_for_nodes_of_profile(
    profile: &Profile,
    constraints: &NodeConstraintsOfPod<'_>,
    landing: &ClassSet,
    subject: &Subject<'_>,
) -> bool {
    let Subject { namespace, snapshot, deadline, .. } = subject;
    no_node_has_profile_or_accelerators(constraints, landing, namespace, snapshot)
        && Conditions::of(constraints, (*snapshot, namespace), deadline).may_fit_nodes_of(profile)
}

/// Whether no node that a pod can run on now carries a profile or has its accelerators.
pub(super) fn no_node_has_profile_or_accelerators(
    constraints: &NodeConstraintsOfPod<'_>,
    landing: &ClassSet,
    namespace: &str,
    snapshot: &Snapshot,
) -> bool {
    let catalog = snapshot.catalog();
    let landing = without_classes_lacking_accelerators(landing.clone(), constraints, snapshot);
    let accelerated = classes_with_requested_accelerators(constraints, snapshot);
    // For each set of profiles that was seen, whether one of them admits the namespace.
    let mut served: Vec<Option<bool>> = vec![None; catalog.profile_sets()];
    let mut idle = |class: usize| {
        let fabric = catalog.profile_set_of_class(class);
        let admitting = || catalog.profile_set(fabric).iter().any(|p| snapshot.admits(p, namespace));
        !accelerated.contains(class)
            && !served.get_mut(fabric).is_some_and(|served| *served.get_or_insert_with(admitting))
    };
    landing.ones().all(&mut idle)
}

/// The steps that look at nodes and selectors; `None` where they say nothing.
pub(super) fn resolve_by_nodes_or_selectors(
    subject: &Subject<'_>,
    default: Option<&str>,
) -> Option<Resolution> {
    let snapshot = subject.snapshot;
    snapshot.profiles().next()?;
    let constraints = &subject.constraints;
    let conditions = Conditions::of(constraints, (snapshot, subject.namespace), subject.deadline);
    let usable =
        |p: &Profile| snapshot.admits(p, subject.namespace) && unmet_condition_of_when(p, subject).is_none();
    // The default is what nodes without a profile are for; where the pod can run on those as well, it is one of
    // the answers.
    let default = default.and_then(|name| snapshot.profile(name)).filter(|p| usable(p));
    let landing = without_classes_lacking_accelerators(subject.landing().clone(), constraints, snapshot);
    let CandidatesOnNodes { mut found, served, bare } =
        candidates_on_nodes(&landing, constraints, subject, None);
    if served {
        let several = found.profiles.len() > 1;
        remove_outranked(&mut found.profiles, |p| without_strength_of_instance_type(conditions.strength(p)));
        if let Some(default) = default.filter(|_| bare && !found.profiles.is_empty()) {
            found.profiles.insert(default.name.clone(), Arc::clone(default));
        }
        let evidence = if several { Evidence::Asked } else { Evidence::Nodes };
        return resolution_from_candidates(found, AmbiguityCause::Nodes, |_| evidence.clone(), snapshot);
    }
    if bare || is_bound_to_existing_node(constraints, snapshot) {
        return None;
    }
    let (mut found, asked) = candidates_by_selectors_alone(&conditions, subject);
    remove_outranked(&mut found.profiles, |p| conditions.strength(p));
    // Unless every node that the pod could ever land on would carry a profile, one without may be added, and its pods
    // get the default.
    if let Some(default) = default.filter(|_| !asked && !found.profiles.is_empty()) {
        found.profiles.insert(default.name.clone(), Arc::clone(default));
    }
    resolution_from_candidates(
        found,
        AmbiguityCause::Selectors,
        |p| Evidence::Selectors(conditions.strength(p)),
        snapshot,
    )
}

/// The classes of nodes that a pod can run on, and those that lack a resource that it requests.
fn classes_that_fit_and_lack(
    constraints: &NodeConstraintsOfPod<'_>,
    subject: &Subject<'_>,
) -> (ClassSet, ClassSet) {
    let snapshot = subject.snapshot;
    // See `without_classes_lacking_accelerators`.
    let lacking = match constraints.node_name {
        Some(_) => snapshot.all_nodes().classes().empty_set(),
        None => ClassesLackingPublishedResources::of(constraints, subject).all(),
    };
    let mut landing = without_classes_lacking_accelerators(
        snapshot.landing(constraints, subject.deadline),
        constraints,
        snapshot,
    );
    landing.difference_with(&lacking);
    (landing, lacking)
}

/// Profiles whose nodes the pod's selectors ask for, although the pod can run now on none where they apply, beside the
/// profile that was found by the nodes it can run on.
pub(super) fn profiles_asked_beside_found(
    constraints: &NodeConstraintsOfPod<'_>,
    subject: &Subject<'_>,
    found: Option<&Arc<Profile>>,
) -> Vec<Arc<Profile>> {
    let nothing = constraints.terms.is_none() && constraints.selector.is_empty() && !constraints.any_labels;
    if constraints.node_name.is_some() || nothing {
        return Vec::new();
    }
    let conditions = Conditions::of(constraints, (subject.snapshot, subject.namespace), subject.deadline);
    let asked = AskedProfiles::of(&conditions, subject);
    if asked.profiles.iter().all(|(p, _)| found.is_some_and(|found| found.name == p.name)) {
        return Vec::new();
    }
    let (landing, _) = classes_that_fit_and_lack(constraints, subject);
    asked.without_usable_nodes(&conditions, (constraints, subject), &landing, found)
}

/// The profiles of the nodes that a pod can run on, except those that the profile it names replaces; while no such node
/// exists, the profiles that its selectors leave.
pub(super) fn profiles_of_nodes_beside_named(
    constraints: &NodeConstraintsOfPod<'_>,
    subject: &Subject<'_>,
    named: Option<&Arc<Profile>>,
) -> Vec<Arc<Profile>> {
    let snapshot = subject.snapshot;
    let conditions = Conditions::of(constraints, (snapshot, subject.namespace), subject.deadline);
    let bound = constraints.node_name.is_some();
    let (landing, lacking) = classes_that_fit_and_lack(constraints, subject);
    let CandidatesOnNodes { mut found, served, bare } =
        candidates_on_nodes(&landing, constraints, subject, named.map(|p| &**p));
    if served || bare || is_bound_to_existing_node(constraints, snapshot) {
        remove_outranked(&mut found.profiles, |p| without_strength_of_instance_type(conditions.strength(p)));
        if !bound {
            let asked = AskedProfiles::of(&conditions, subject);
            let asked = asked.without_usable_nodes(&conditions, (constraints, subject), &landing, named);
            found.profiles.extend(asked.into_iter().map(|p| (p.name.clone(), p)));
        }
        return found.profiles.into_values().collect();
    }
    found = candidates_by_selectors_alone(&conditions, subject).0;
    // The pod cannot run on the nodes that a profile has now, nor on further ones like them. A resource of the profile itself is
    // missing only until its plugin has registered it, and a node without accelerators may not have registered anything.
    let accelerated = classes_with_any_and_with_other_accelerators(
        &requested_accelerators(constraints, snapshot),
        snapshot,
    )
    .0;
    let published = ClassesLackingPublishedResources::of(constraints, subject);
    let elsewhere = |p: &Arc<Profile>| {
        let Some(carrying) = snapshot.catalog().node_classes_of(&p.name) else { return false };
        let mut carrying = carrying.clone();
        carrying.intersect_with(&accelerated);
        !carrying.is_clear()
            && carrying.is_subset(&lacking)
            && carrying.is_subset(&published.except_those_of(p))
    };
    found.profiles.retain(|_, p| !elsewhere(p));
    let fits = named.filter(|named| conditions.may_fit_nodes_of(named));
    found.profiles.extend(fits.map(|named| (named.name.clone(), Arc::clone(named))));
    remove_outranked(&mut found.profiles, |p| conditions.strength(p));
    if let Some(named) = named {
        // A profile whose nodes the pod asks for will be on each node that fits the pod.
        let on_all = fits.filter(|named| conditions.strength(named) == Strength::Nodes);
        found.profiles.retain(|_, p| p.name != named.name && !replaces(named, p, on_all.is_some()));
    }
    found.profiles.into_values().collect()
}

/// Whether a pod is bound to a node that exists: it runs only there.
fn is_bound_to_existing_node(constraints: &NodeConstraintsOfPod<'_>, snapshot: &Snapshot) -> bool {
    constraints.node_name.is_some_and(|name| snapshot.all_nodes().class_number_of_node(name).is_some())
}
