//! From groups of nodes to drafts of profiles: labels must separate the nodes of two profiles.

use super::discovered::{Discovered, Unknown};
use super::fields_with_origin::{DraftOrWithheld, Withheld};
use super::label_with_values::Label;
use super::labels_that_separate_nodes::Machines;
use super::node_as_shown::Node;
use super::nodes_with_labels::TooManyLooks;
use super::objects_of_cluster::Sources;
use super::profile_draft::Draft;
use super::profile_draft::Frame;
use super::which_groups_share_a_profile::{Joined, Together};
use super::{
    counts_over_nodes, devices_behind_resource, drift_of_profiles, groups_of_nodes,
    instance_types_of_pools_without_profile, profile_draft, profile_name, which_fabric,
};
use crate::pod::AcceleratorNames;
use crate::profile::FabricProfile;
use crate::text::escaped_and_cut;
use std::collections::BTreeSet;

/// Longest reason or question (characters). It is repeated for each profile that selects the nodes, and labels of nodes in it
/// have any length in a file.
const MAX_REASON: usize = 2000;

/// Discovers the fabrics of a cluster.
///
/// # Errors
/// A text if the objects need too many comparisons.
pub fn discover(sources: Sources, bases: &[FabricProfile]) -> Result<Discovered, String> {
    let sources = sources.with_lookup_tables().with_devices_of_slices();
    let mut together = Joined::default();
    let mut unknown = Vec::new();
    let mut outside: Vec<&Node> = Vec::new();
    for group in groups_of_nodes::group_nodes_that_look_alike(&sources) {
        match which_fabric::fabric_of_group(&group, &sources) {
            DraftOrWithheld::Withheld(why) => {
                outside.extend(group.nodes.iter().copied());
                unknown.push(no_profile(&group.nodes, why));
            }
            DraftOrWithheld::Fabric(fabric) => together.add_to_equal_profile_or_new(group, *fabric),
        }
    }
    let together = together.profiles;
    let mut drafts: Vec<Draft> = Vec::new();
    let known = AcceleratorNames::default();
    let bare: Vec<&Node> = sources.nodes.values().filter(|node| !node.has_accelerators(&known)).collect();
    let mut names = profile_name::Names::default();
    let insides = together.iter().map(|one| {
        let inside = one.nodes();
        let hints = labels_that_operator_policies_select_by(one, &inside, &sources);
        (inside, hints)
    });
    let mut machines = Machines::new(&outside, insides.collect(), &bare);
    for (at, one) in together.iter().enumerate() {
        let inside = one.nodes();
        let selector = match selector_of_fabric(&mut machines, at, &inside) {
            Ok(selector) => selector,
            Err(why) => {
                unknown.push(no_profile(&inside, why));
                continue;
            }
        };
        let accelerators = one.groups.first().and_then(|group| group.accelerators.as_ref());
        let Some((resource, _)) = accelerators else { continue };
        let count = counts_over_nodes::Count::count_units_over_nodes(&inside, |node| {
            node.accelerators(&known).filter(|(of, _)| of == resource).map_or(0, |(_, units)| units)
        });
        let name = profile_name::new_name_for_nodes(&inside, one.fabric.suffix, &mut names);
        let frame =
            Frame { name, nodes: &inside, selector: &selector, accelerators: (resource.as_str(), &count) };
        drafts.push(Draft::new(frame, &one.fabric, bases));
    }
    drafts.sort_by(|a, b| a.name.cmp(&b.name));
    let pools = &sources.node_pools;
    unknown.extend(instance_types_of_pools_without_profile::ask_in_drafts_and_return_pools_without_nodes(
        pools,
        &sources.nodes,
        &mut drafts,
        &sources.profiles,
        bases,
    ));
    let nodes = sources.nodes.values().filter(|node| node.has_accelerators(&known)).cloned().collect();
    let mut found = Discovered {
        drafts,
        unknown,
        unread: sources.unread.clone().into_iter().collect(),
        profiles: sources.profiles.values().cloned().collect(),
        nodes,
    };
    let mut drafts = std::mem::take(&mut found.drafts);
    let selecting =
        drift_of_profiles::profiles_selecting_nodes_of_drafts(&found, &drafts, bases, &sources.comparisons);
    for (draft, names) in drafts.iter_mut().zip(selecting) {
        if !names.is_empty() {
            let question = format!(
                "Does this profile replace FabricProfile {names} of the cluster, which selects these nodes? If you keep both profiles, pods may match two profiles. To compare the profiles, run discover --diff."
            );
            draft.questions.insert(0, question);
        }
    }
    found.drafts = drafts;
    sources.comparisons.require_within_limit().map(|()| found)
}

fn no_profile(nodes: &[&Node], why: Withheld) -> Unknown {
    let nodes = nodes.iter().map(|node| node.name.clone()).collect();
    let cut = |text: String| escaped_and_cut(&text, MAX_REASON);
    Unknown { nodes, reason: cut(why.reason), question: cut(why.question) }
}

/// Labels by which the operators' policies select the nodes of a fabric.
fn labels_that_operator_policies_select_by(
    one: &Together<'_>,
    inside: &[&Node],
    sources: &Sources,
) -> BTreeSet<String> {
    let resources: BTreeSet<&String> = one.groups.iter().flat_map(|group| group.resources.keys()).collect();
    resources
        .into_iter()
        .flat_map(|name| devices_behind_resource::Supply::devices_behind(name, inside, sources).node_labels)
        .collect()
}

/// The labels that select a fabric, or why no labels do.
fn selector_of_fabric(
    machines: &mut Machines<'_>,
    at: usize,
    inside: &[&Node],
) -> Result<Vec<Label>, Withheld> {
    let too_many = |TooManyLooks| Withheld {
        reason: format!(
            "the nodes have too many different labels to find those that select only {}",
            profile_draft::nodes_of(inside)
        ),
        question: "Which label do only the nodes of this fabric have? Add one, such as fabric=NAME."
            .to_owned(),
    };
    match machines.labels_selecting_exactly(at).map_err(too_many)? {
        Some(selector) => Ok(selector),
        None => {
            let (first, count) = machines.outside_nodes_with_all_candidate_labels(at).map_err(too_many)?;
            Err(withheld_since_no_label_separates(inside, &first, count))
        }
    }
}

/// Why no selector is possible: nodes of another fabric, or of an unknown one, have the same labels.
fn withheld_since_no_label_separates(inside: &[&Node], first: &[&Node], count: usize) -> Withheld {
    let place = profile_draft::nodes_of(inside);
    if count == 0 {
        return Withheld {
            reason: format!("no label selects {place}"),
            question: "Which label do all nodes of this fabric have? Add one, such as fabric=NAME."
                .to_owned(),
        };
    }
    Withheld {
        reason: format!(
            "no label separates {place} from {}, which have another fabric",
            profile_draft::first_of_nodes(first, count)
        ),
        question: "Which label separates the two fabrics? Add a label to the nodes of each fabric, such as fabric=NAME."
            .to_owned(),
    }
}
