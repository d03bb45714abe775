//! `discover`: from the objects of a cluster to FabricProfiles. Three steps, each in files of its own:
//!
//! ```text
//! sources  objects, kept as far as they say something about a fabric
//! groups   nodes with accelerators, by what they list; counts are those of a majority
//! derive   the fabric of a group, or the reason why it is unknown
//! draft    the fabric as a profile, each value with the object that it comes from
//! ```
//!
//! A value is observed or absent. What objects do not say becomes a question; a profile that would be wrong without the
//! answer is not written.

mod at_zero;
mod attached;
mod bare;
mod claimed;
mod copies;
mod count;
mod derive;
mod devices;
mod discovered;
mod draft;
mod drift;
mod efa;
mod fabric;
mod gke;
mod gke_network;
mod groups;
mod name;
mod nics;
mod node;
mod node_pool;
mod plain;
mod pool;
pub mod report;
mod separate;
mod shared;
mod slices;
mod sources;
mod supply;
mod tree;
mod twice;

pub use discovered::{Discovered, Unknown};
pub use draft::Draft;
pub use drift::{Comparison, Drift, NotCompared, drift};
pub use sources::{FURTHER_KINDS, Sources};

use crate::pod::Accelerators;
use crate::profile::FabricProfile;
use draft::Frame;
use fabric::{Fabric, Outcome, Withheld};
use groups::Group;
use node::Node;
use std::collections::BTreeSet;

/// Groups with one fabric.
struct Together<'a> {
    fabric: Fabric,
    groups: Vec<Group<'a>>,
}

/// Discovers the fabrics of a cluster.
#[must_use]
pub fn discover(sources: Sources, bases: &[FabricProfile]) -> Discovered {
    let sources = sources.with_networks().with_slices();
    let mut together: Vec<Together<'_>> = Vec::new();
    let mut unknown = Vec::new();
    let mut outside: Vec<&Node> = Vec::new();
    for group in groups::groups(&sources) {
        match derive::outcome(&group, &sources) {
            Outcome::Withheld(why) => {
                outside.extend(group.nodes.iter().copied());
                unknown.push(no_profile(&group.nodes, why));
            }
            Outcome::Fabric(fabric) => {
                let same = |of: &&mut Together<'_>| {
                    let units = |group: &Group<'_>| group.accelerators.as_ref().map(|(_, count)| count.units);
                    of.fabric == *fabric
                        && of.groups.first().is_some_and(|first| {
                            units(first) == units(&group) && first.provider == group.provider
                        })
                };
                match together.iter_mut().find(same) {
                    Some(known) => known.groups.push(group),
                    None => together.push(Together { fabric: *fabric, groups: vec![group] }),
                }
            }
        }
    }
    let mut drafts: Vec<Draft> = Vec::new();
    let known = Accelerators::default();
    let bare: Vec<&Node> = sources.nodes.values().filter(|node| !node.has_accelerators(&known)).collect();
    let mut taken = BTreeSet::new();
    for (at, one) in together.iter().enumerate() {
        let inside: Vec<&Node> = one.groups.iter().flat_map(|group| group.nodes.iter().copied()).collect();
        let others = together.iter().enumerate().filter(|(other, _)| *other != at);
        let others =
            others.flat_map(|(_, other)| other.groups.iter().flat_map(|group| group.nodes.iter().copied()));
        let outside: Vec<&Node> = outside.iter().copied().chain(others).collect();
        let hints = hints(one, &inside, &sources);
        let Some(selector) = separate::separate(&inside, &outside, &bare, &hints) else {
            let alike = separate::alike(&inside, &outside, &hints);
            unknown.push(no_profile(&inside, inseparable(&inside, &alike)));
            continue;
        };
        let accelerators = one.groups.first().and_then(|group| group.accelerators.as_ref());
        let Some((resource, _)) = accelerators else { continue };
        let count = count::Count::of(&inside, |node| {
            node.accelerators(&known).filter(|(of, _)| of == resource).map_or(0, |(_, units)| units)
        });
        let name = name::name(&inside, one.fabric.suffix, &taken);
        taken.insert(name.clone());
        let frame =
            Frame { name, nodes: &inside, selector: &selector, accelerators: (resource.as_str(), &count) };
        drafts.push(Draft::new(frame, &one.fabric, bases));
    }
    drafts.sort_by(|a, b| a.name.cmp(&b.name));
    let pools = &sources.node_pools;
    unknown.extend(at_zero::ask(pools, &sources.nodes, &mut drafts, &sources.profiles, bases));
    let nodes = sources.nodes.values().filter(|node| node.has_accelerators(&known)).cloned().collect();
    let mut found = Discovered {
        drafts,
        unknown,
        unread: sources.unread.clone().into_iter().collect(),
        profiles: sources.profiles.values().cloned().collect(),
        nodes,
    };
    let mut drafts = std::mem::take(&mut found.drafts);
    for draft in &mut drafts {
        let known = drift::selecting(&found, draft, bases);
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
    resources.into_iter().flat_map(|name| supply::Supply::of(name, inside, sources).node_labels).collect()
}

/// Why no selector is possible: nodes of another fabric, or of an unknown one, have the same labels.
fn inseparable(inside: &[&Node], alike: &[&Node]) -> Withheld {
    let place = draft::nodes_of(inside);
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
            draft::nodes_of(alike)
        ),
        question: "Which label separates the two fabrics? Add a label to the nodes of each fabric, such as fabric=NAME."
            .to_owned(),
    }
}
