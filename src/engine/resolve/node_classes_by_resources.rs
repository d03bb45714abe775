//! Kinds of nodes by the accelerators and other resources that they list, and a pod requests.

use crate::demands::Subject;
use crate::nodes::{ClassSet, LabelRequirement, NodeConstraintsOfPod};
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Label of the GPU operator (NVIDIA/gpu-operator controllers/state_manager.go).
const GPU_PRESENT: &str = "nvidia.com/gpu.present";

/// Most resources of a pod that are looked up; a pod has far fewer.
const MAX_RESOURCES: usize = 64;

/// Removes the classes that have none of the accelerators that the pod requests: those with others, and those that list
/// resources without any. The pod cannot run there; before its plugin has started, a node is as good as none, and its
/// pool counts as one at zero. Nodes do not list a resource that a DeviceClass provides (kubernetes/enhancements
/// KEP-5004): a node with the class's accelerators may list none, or only names that the same vendor's device plugin
/// gives slices and shares, also with 0 units after the plugin has left the node. How many units it lists changes
/// nothing, or the ranks of one job would get several profiles (docs/adr/0009).
pub(crate) fn without_classes_lacking_accelerators(
    mut set: ClassSet,
    constraints: &NodeConstraintsOfPod<'_>,
    snapshot: &Snapshot,
) -> ClassSet {
    // For a pod that is bound by name, the kubelet drops requests for extended resources that its node does not list
    // (kubernetes/kubernetes pkg/kubelet/lifecycle/predicate.go, removeMissingExtendedResources). So they keep it off no node.
    if constraints.node_name.is_some() {
        return set;
    }
    let asked = requested_accelerators(constraints, snapshot);
    if asked.is_empty() {
        return set;
    }
    let (have, others) = classes_with_any_and_with_other_accelerators(&asked, snapshot);
    if !asked.iter().any(|name| is_claimed(name, snapshot)) {
        let classes = snapshot.all_nodes().classes();
        let mut without = classes.classes_listing_resources().clone();
        without.difference_with(&have);
        without.difference_with(&with_gpu_label(snapshot));
        set.difference_with(&without);
    }
    set.difference_with(&others);
    set
}

/// The accelerators among the resources that a pod requests.
pub(super) fn requested_accelerators<'a>(
    constraints: &NodeConstraintsOfPod<'a>,
    snapshot: &Snapshot,
) -> BTreeSet<&'a str> {
    let accelerators = &snapshot.settings().accelerators;
    constraints.resources.iter().copied().filter(|r| accelerators.contains(r)).collect()
}

/// The classes that list any accelerators, and those that list only others than some.
pub(super) fn classes_with_any_and_with_other_accelerators(
    asked: &BTreeSet<&str>,
    snapshot: &Snapshot,
) -> (ClassSet, ClassSet) {
    let accelerators = &snapshot.settings().accelerators;
    let claimed = asked.iter().copied().filter(|name| is_claimed(name, snapshot));
    let claimed: BTreeSet<&str> = claimed.map(vendor).collect();
    let classes = snapshot.all_nodes().classes();
    let (mut have, mut fit) = (classes.empty_set(), classes.empty_set());
    for (name, listing) in
        classes.resources_with_offering_classes().filter(|(name, _)| accelerators.contains(name))
    {
        listing.add_to_set(&mut have);
        if asked.contains(name) || claimed.contains(vendor(name)) {
            listing.add_to_set(&mut fit);
        }
    }
    let mut others = have.clone();
    others.difference_with(&fit);
    (have, others)
}

/// Whether a DeviceClass provides a resource. A device plugin may provide it too, on other nodes.
fn is_claimed(resource: &str, snapshot: &Snapshot) -> bool {
    snapshot.cluster_facts_for_audience().device_class_of_resource(resource).is_some()
}

/// The domain of a resource's name: device plugins use that of the vendor.
fn vendor(resource: &str) -> &str {
    resource.split_once('/').map_or(resource, |(domain, _)| domain)
}

/// The classes whose nodes have the accelerators that the pod requests.
pub(super) fn classes_with_requested_accelerators(
    constraints: &NodeConstraintsOfPod<'_>,
    snapshot: &Snapshot,
) -> ClassSet {
    let mut have = with_gpu_label(snapshot);
    let accelerators = &snapshot.settings().accelerators;
    for name in constraints.resources.iter().filter(|r| accelerators.contains(r)) {
        if let Some(offering) = snapshot.all_nodes().classes().classes_offering(name) {
            offering.add_to_set(&mut have);
        }
    }
    have
}

fn with_gpu_label(snapshot: &Snapshot) -> ClassSet {
    let classes = snapshot.all_nodes().classes();
    let mut present = classes.all().clone();
    classes
        .remove_classes_not_satisfying(&mut present, LabelRequirement::key_equals_value(GPU_PRESENT, "true"));
    present
}

/// The classes that list resources, but not all of those that the pod requests and that belong to a profile of its
/// namespace. By any other name, the answer would reveal which resources nodes have.
pub(super) struct ClassesLackingPublishedResources<'s> {
    /// For each such resource, the profiles that it belongs to, by name, and the classes that lack it.
    lacking: Vec<(&'s [Arc<Profile>], ClassSet)>,
    none: ClassSet,
}

impl<'s> ClassesLackingPublishedResources<'s> {
    pub(super) fn of(constraints: &NodeConstraintsOfPod<'_>, subject: &Subject<'s>) -> Self {
        let snapshot = subject.snapshot;
        let classes = snapshot.all_nodes().classes();
        let admitted = |p: &Arc<Profile>| snapshot.admits(p, subject.namespace);
        let published =
            constraints.resources.iter().map(|name| (*name, snapshot.catalog().with_resource(name)));
        let published = published.filter(|(_, of)| of.iter().any(admitted));
        // See `without_classes_lacking_accelerators`.
        let unclaimed = published.take(MAX_RESOURCES).filter(|(name, _)| !is_claimed(name, snapshot));
        let lacking = unclaimed.map(|(name, of)| {
            let mut without = classes.classes_listing_resources().clone();
            if let Some(offering) = classes.classes_offering(name) {
                offering.remove_from_set(&mut without);
            }
            (of, without)
        });
        Self { lacking: lacking.collect(), none: classes.empty_set() }
    }

    /// The classes that lack any.
    pub(super) fn all(&self) -> ClassSet {
        self.union_of(|_| true)
    }

    /// The same, without the resources of a profile itself.
    pub(super) fn except_those_of(&self, profile: &Profile) -> ClassSet {
        self.union_of(|of| of.binary_search_by(|other| other.name.cmp(&profile.name)).is_err())
    }

    fn union_of(&self, counts: impl Fn(&[Arc<Profile>]) -> bool) -> ClassSet {
        let mut all = self.none.clone();
        self.lacking.iter().filter(|(of, _)| counts(of)).for_each(|(_, without)| all.union_with(without));
        all
    }
}
