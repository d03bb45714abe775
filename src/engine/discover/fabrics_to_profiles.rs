//! From groups of nodes to drafts of profiles: equal fabrics are joined, and labels must separate their nodes.

use super::discovered::{Discovered, Unknown};
use super::fields_with_origin::{Fabric, Outcome, Withheld};
use super::groups_of_nodes::Group;
use super::labels_that_separate_nodes::Machines;
use super::node_as_shown::Node;
use super::objects_of_cluster::Sources;
use super::profile_draft::Draft;
use super::profile_draft::Frame;
use super::{
    counts_over_nodes, devices_behind_resource, drift_of_profiles, groups_of_nodes, pools_at_zero,
    profile_draft, profile_name, which_fabric,
};
use crate::pod::Accelerators;
use crate::profile::FabricProfile;
use std::collections::{BTreeMap, BTreeSet};

/// Groups with one fabric.
struct Together<'a> {
    fabric: Fabric,
    groups: Vec<Group<'a>>,
}

impl<'a> Together<'a> {
    fn inside(&self) -> Vec<&'a Node> {
        self.groups.iter().flat_map(|group| group.nodes.iter().copied()).collect()
    }
}

/// Discovers the fabrics of a cluster.
#[must_use]
pub fn discover(sources: Sources, bases: &[FabricProfile]) -> Discovered {
    let sources = sources.looked_up().with_slices();
    let mut together: Vec<Together<'_>> = Vec::new();
    // Fabrics by the names in them: a cluster may have one for each of its groups.
    let mut named: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut outside: Vec<&Node> = Vec::new();
    for group in groups_of_nodes::groups(&sources) {
        match which_fabric::outcome(&group, &sources) {
            Outcome::Withheld(why) => {
                outside.extend(group.nodes.iter().copied());
                unknown.push(no_profile(&group.nodes, why));
            }
            Outcome::Fabric(fabric) => {
                let alike = named.entry(fabric.names()).or_default();
                let same = |of: &Together<'_>| {
                    let units = |group: &Group<'_>| group.accelerators.as_ref().map(|(_, count)| count.units);
                    of.fabric == *fabric
                        && of.groups.first().is_some_and(|first| {
                            units(first) == units(&group) && first.provider == group.provider
                        })
                };
                let known = alike.iter().copied().find(|at| together.get(*at).is_some_and(same));
                match known.and_then(|at| together.get_mut(at)) {
                    Some(known) => known.groups.push(group),
                    None => {
                        alike.push(together.len());
                        together.push(Together { fabric: *fabric, groups: vec![group] });
                    }
                }
            }
        }
    }
    let mut drafts: Vec<Draft> = Vec::new();
    let known = Accelerators::default();
    let bare: Vec<&Node> = sources.nodes.values().filter(|node| !node.has_accelerators(&known)).collect();
    let mut names = profile_name::Names::default();
    let insides = together.iter().map(|one| {
        let inside = one.inside();
        let hints = hints(one, &inside, &sources);
        (inside, hints)
    });
    let machines = Machines::new(&outside, insides.collect(), &bare);
    for (at, one) in together.iter().enumerate() {
        let inside = one.inside();
        let Some(selector) = machines.separate(at) else {
            unknown.push(no_profile(&inside, inseparable(&inside, &machines.alike(at))));
            continue;
        };
        let accelerators = one.groups.first().and_then(|group| group.accelerators.as_ref());
        let Some((resource, _)) = accelerators else { continue };
        let count = counts_over_nodes::Count::of(&inside, |node| {
            node.accelerators(&known).filter(|(of, _)| of == resource).map_or(0, |(_, units)| units)
        });
        let name = profile_name::name(&inside, one.fabric.suffix, &mut names);
        let frame =
            Frame { name, nodes: &inside, selector: &selector, accelerators: (resource.as_str(), &count) };
        drafts.push(Draft::new(frame, &one.fabric, bases));
    }
    drafts.sort_by(|a, b| a.name.cmp(&b.name));
    let pools = &sources.node_pools;
    unknown.extend(pools_at_zero::ask(pools, &sources.nodes, &mut drafts, &sources.profiles, bases));
    let nodes = sources.nodes.values().filter(|node| node.has_accelerators(&known)).cloned().collect();
    let mut found = Discovered {
        drafts,
        unknown,
        unread: sources.unread.clone().into_iter().collect(),
        profiles: sources.profiles.values().cloned().collect(),
        nodes,
    };
    let mut drafts = std::mem::take(&mut found.drafts);
    let selecting = drift_of_profiles::selecting(&found, &drafts, bases);
    for (draft, known) in drafts.iter_mut().zip(selecting) {
        if !known.is_empty() {
            let names = known.join(", ");
            let question = format!(
                "Does this profile replace FabricProfile {names} of the cluster, which selects these nodes? If you keep both profiles, pods may match two profiles. To compare the profiles, run discover --diff."
            );
            draft.questions.insert(0, question);
        }
    }
    found.drafts = drafts;
    found
}

fn no_profile(nodes: &[&Node], why: Withheld) -> Unknown {
    let nodes = nodes.iter().map(|node| node.name.clone()).collect();
    Unknown { nodes, reason: why.reason, question: why.question }
}

/// Labels by which the operators' policies select the nodes of a fabric.
fn hints(one: &Together<'_>, inside: &[&Node], sources: &Sources) -> BTreeSet<String> {
    let resources: BTreeSet<&String> = one.groups.iter().flat_map(|group| group.resources.keys()).collect();
    resources
        .into_iter()
        .flat_map(|name| devices_behind_resource::Supply::of(name, inside, sources).node_labels)
        .collect()
}

/// Why no selector is possible: nodes of another fabric, or of an unknown one, have the same labels.
fn inseparable(inside: &[&Node], alike: &[&Node]) -> Withheld {
    let place = profile_draft::nodes_of(inside);
    if alike.is_empty() {
        return Withheld {
            reason: format!("no label selects {place}"),
            question: "Which label do all nodes of this fabric have? Add one, such as fabric=NAME."
                .to_owned(),
        };
    }
    Withheld {
        reason: format!(
            "no label separates {place} from {}, which have another fabric",
            profile_draft::nodes_of(alike)
        ),
        question: "Which label separates the two fabrics? Add a label to the nodes of each fabric, such as fabric=NAME."
            .to_owned(),
    }
}
