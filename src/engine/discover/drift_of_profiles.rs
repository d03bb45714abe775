//! Where existing profiles and the cluster differ.

use super::discovered::{Discovered, Unknown};
use super::limit_of_comparisons::Comparisons;
use super::nodes_of_profiles;
use super::profile_draft::Draft;
use crate::profile::schema::{Inject, Per};
use crate::profile::{FabricProfile, Profile};
use crate::text::{count_with_noun, escaped_and_cut, names_in_message};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Most names in one line, and most groups of unknown nodes that are named for a profile.
const MAX_NAMES: usize = 3;
/// Longest value that is shown (characters): several profiles may differ from one long list.
const MAX_VALUE: usize = 4096;
/// Longest name of a node, and longest origin, that is shown (characters): in a file they have any length, and each profile that
/// selects the node may show them.
const MAX_NAME: usize = 253;
const MAX_ORIGIN: usize = 1000;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// Name of the existing profile; null for nodes without one.
    pub profile: Option<String>,
    /// Field of the profile.
    pub field: &'static str,
    /// Value in the profile.
    pub in_profile: String,
    /// Value in the cluster.
    pub in_cluster: String,
    /// Object that shows the value in the cluster; may be empty.
    pub origin: String,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.profile {
            Some(profile) => write!(f, "FabricProfile {profile}: ")?,
            None => f.write_str("no FabricProfile: ")?,
        }
        let (field, in_profile, in_cluster) = (self.field, &self.in_profile, &self.in_cluster);
        write!(f, "{field}: profile has {in_profile}, cluster has {in_cluster}")?;
        if self.origin.is_empty() { Ok(()) } else { write!(f, " ({})", self.origin) }
    }
}

/// A profile, or a part of its nodes, about which the objects show nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotCompared {
    /// Name of the profile.
    pub profile: String,
    /// Why it is not compared.
    pub reason: String,
}

/// The comparison of existing profiles with a cluster.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The differences, in the order of the profiles.
    pub drifts: Vec<Drift>,
    /// What could not be compared.
    pub not_compared: Vec<NotCompared>,
    /// Profiles that were compared (count).
    pub compared: usize,
}

/// The differences between the existing profiles and the cluster, in the order of the profiles.
///
/// # Errors
/// A text if a profile cannot be used, or if the objects need too many comparisons.
pub fn drift(
    found: &Discovered,
    existing: &[FabricProfile],
    bases: &[FabricProfile],
) -> Result<Comparison, String> {
    let mut comparison = Comparison::default();
    let Comparison { drifts, not_compared, compared } = &mut comparison;
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    let resolved: Result<Vec<Profile>, _> =
        existing.iter().map(|profile| Profile::checked_with_base(profile, bases)).collect();
    let resolved = resolved.map_err(|error| error.to_string())?;
    let places = Places::index_by_node(found);
    let comparisons = Comparisons::default();
    let profiles: Vec<&Profile> = resolved.iter().collect();
    let selected = nodes_of_profiles::nodes_that_profiles_select(&found.nodes, &profiles, &comparisons);
    comparisons.require_within_limit()?;
    let mut values_of_drafts: BTreeMap<usize, ValuesOfDraft> = BTreeMap::new();
    for (profile, nodes) in resolved.iter().zip(selected) {
        // A profile without nodes is for pods that name it, and one for networks only describes no fabric.
        let mut skip = |reason: &str| {
            not_compared.push(NotCompared { profile: profile.name.clone(), reason: reason.to_owned() });
        };
        if profile.inject == Inject::Networks {
            skip("its field inject is \"networks\", so it describes no fabric");
            continue;
        }
        if !profile.has_node_requirements() {
            skip("it has no node selector and no instance types");
            continue;
        }
        if nodes.is_empty() {
            // A pool may be scaled to zero.
            skip("its node selector and instance types match no node with accelerators");
            continue;
        }
        let nodes: Vec<&str> = nodes.into_iter().map(|node| node.name.as_str()).collect();
        covered.extend(&nodes);
        let unknown = places.unknown_groups_on_nodes(found, &nodes);
        for (unknown, nodes) in unknown.iter().take(MAX_NAMES) {
            skip(&format!(
                "the fabric of {} is unknown: {}",
                first_names_and_number_of_rest(nodes),
                unknown.reason
            ));
        }
        // Each profile may select nodes of each group.
        if let more @ 1.. = unknown.len().saturating_sub(MAX_NAMES) {
            skip(&format!(
                "the fabrics of {} of these nodes are unknown",
                count_with_noun(more, "more group")
            ));
        }
        let fabrics = places.fabrics_on_nodes(found, &nodes);
        if let [(at, draft)] = fabrics.as_slice() {
            *compared += 1;
            let values = match values_of_drafts.entry(*at) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(ValuesOfDraft::new(draft, bases)?),
            };
            values.push_drifts_of_profile(profile, drifts);
        } else if fabrics.len() > 1 {
            *compared += 1;
            let names: Vec<&str> = fabrics.iter().map(|(_, draft)| draft.name.as_str()).collect();
            drifts.push(Drift {
                profile: Some(profile.name.clone()),
                field: "nodes",
                in_profile: format!("{} nodes", nodes.len()),
                in_cluster: format!("{} fabrics on these nodes: {}", fabrics.len(), names_in_message(&names)),
                origin: String::new(),
            });
        }
    }
    for draft in &found.drafts {
        let missing: Vec<&str> =
            draft.nodes.iter().map(String::as_str).filter(|node| !covered.contains(node)).collect();
        if !missing.is_empty() {
            drifts.push(Drift {
                profile: None,
                field: "nodes",
                in_profile: "no selector for these nodes".to_owned(),
                in_cluster: format!("fabric {} on {}", draft.name, first_names_and_number_of_rest(&missing)),
                origin: String::new(),
            });
        }
    }
    Ok(comparison)
}

/// Where the nodes of a cluster are.
#[derive(Default)]
struct Places<'a> {
    /// The draft of a node.
    drafts: BTreeMap<&'a str, usize>,
    /// The fabric of a node that is unknown, and the node's place in its list.
    unknown: BTreeMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> Places<'a> {
    fn index_by_node(found: &'a Discovered) -> Self {
        let mut places = Self::default();
        for (at, draft) in found.drafts.iter().enumerate() {
            places.drafts.extend(draft.nodes.iter().map(|node| (node.as_str(), at)));
        }
        for (at, unknown) in found.unknown.iter().enumerate() {
            for (place, node) in unknown.nodes.iter().enumerate() {
                places.unknown.entry(node).or_default().push((at, place));
            }
        }
        places
    }

    /// The fabrics of nodes, with their places in the list.
    fn fabrics_on_nodes(&self, found: &'a Discovered, nodes: &[&str]) -> Vec<(usize, &'a Draft)> {
        let drafts: BTreeSet<usize> =
            nodes.iter().filter_map(|node| self.drafts.get(node)).copied().collect();
        drafts.into_iter().filter_map(|at| Some((at, found.drafts.get(at)?))).collect()
    }

    /// The unknown fabrics of nodes, each with these nodes.
    fn unknown_groups_on_nodes(
        &self,
        found: &'a Discovered,
        nodes: &[&'a str],
    ) -> Vec<(&'a Unknown, Vec<&'a str>)> {
        let mut all: BTreeMap<usize, BTreeMap<usize, &str>> = BTreeMap::new();
        for node in nodes {
            for (at, place) in self.unknown.get(node).into_iter().flatten() {
                all.entry(*at).or_default().insert(*place, node);
            }
        }
        all.into_iter()
            .filter_map(|(at, nodes)| Some((found.unknown.get(at)?, nodes.into_values().collect())))
            .collect()
    }
}

/// Existing profiles that select nodes of each draft, named in one text, which is empty if there are none. A profile that cannot
/// be used selects none.
pub(super) fn profiles_selecting_nodes_of_drafts(
    found: &Discovered,
    drafts: &[Draft],
    bases: &[FabricProfile],
    comparisons: &Comparisons,
) -> Vec<String> {
    let usable = found.profiles.iter().filter_map(|profile| Profile::checked_with_base(profile, bases).ok());
    let usable: Vec<Profile> = usable.filter(|profile| profile.inject != Inject::Networks).collect();
    let mut of_nodes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let profiles: Vec<&Profile> = usable.iter().collect();
    let selected = nodes_of_profiles::nodes_that_profiles_select(&found.nodes, &profiles, comparisons);
    for (at, nodes) in selected.into_iter().enumerate() {
        for node in nodes {
            of_nodes.entry(&node.name).or_default().push(at);
        }
    }
    let names = |draft: &Draft| {
        let of = draft.nodes.iter().filter_map(|node| of_nodes.get(node.as_str()));
        let profiles: BTreeSet<usize> = of.flatten().copied().collect();
        let names: Vec<&str> =
            profiles.into_iter().filter_map(|at| Some(usable.get(at)?.name.as_str())).collect();
        names_in_message(&names)
    };
    drafts.iter().map(names).collect()
}

fn first_names_and_number_of_rest(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_NAMES).map(|name| escaped_and_cut(name, MAX_NAME)).collect();
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The values of a fabric, field by field, as a person compares them.
fn compared_values(profile: &Profile) -> [(&'static str, &'static str, String); 6] {
    let rails: Vec<String> = profile
        .rails
        .iter()
        .map(|rail| match &rail.resource {
            Some(resource) => format!("{} ({resource})", rail.network),
            None => rail.network.to_string(),
        })
        .collect();
    let resources: Vec<String> = profile
        .resources
        .iter()
        .map(|resource| {
            let per = match resource.per {
                Per::Container => "container",
                Per::Rail => "rail",
                Per::Accelerator => "accelerator",
            };
            format!("{} {} per {per}", resource.quantity, resource.name)
        })
        .collect();
    let networks = profile.gke_networks.iter().flat_map(|networks| networks.interfaces.iter());
    let networks: Vec<&str> = networks.map(|of| of.network.as_str()).collect();
    [
        ("transport", "/spec/base", super::profile_draft::word(&profile.transport)),
        ("attachment", "/spec/base", super::profile_draft::word(&profile.attachment)),
        ("acceleratorsPerNode", "/spec/acceleratorsPerNode", profile.accelerators_per_node.to_string()),
        ("rails", "/spec/rails/0/network", group_repeated_names(&rails)),
        ("resources", "/spec/resources/0/name", group_repeated_names(&resources)),
        ("gkeNetworks", "/spec/gkeNetworks/interfaces/1/network", networks.join(", ")),
    ]
}

/// Equal neighbours as one, with their number.
fn group_repeated_names(names: &[String]) -> String {
    let runs = names.chunk_by(|a, b| a == b);
    let run = |run: &[String]| match run {
        [only] => only.clone(),
        [first, ..] => format!("{} x {first}", run.len()),
        [] => String::new(),
    };
    runs.map(run).collect::<Vec<_>>().join(", ")
}

/// The values of a draft, with their origins. They are read once: each profile may select the nodes of a long draft.
struct ValuesOfDraft {
    values: [(&'static str, &'static str, String); 6],
    origins: Vec<(String, String)>,
}

impl ValuesOfDraft {
    fn new(draft: &Draft, bases: &[FabricProfile]) -> Result<Self, String> {
        let text = draft.json().to_string();
        let discovered = FabricProfile::read(&text).map_err(|error| error.to_string())?;
        let discovered = Profile::checked_with_base(&discovered, bases).map_err(|error| error.to_string())?;
        let values = compared_values(&discovered);
        let mut origins = draft.origins();
        origins.retain(|(at, _)| values.iter().any(|(_, pointer, _)| at == pointer));
        Ok(Self { values, origins })
    }

    fn push_drifts_of_profile(&self, existing: &Profile, drifts: &mut Vec<Drift>) {
        let shown = |text: &str| match text {
            "" => "none".to_owned(),
            text => escaped_and_cut(text, MAX_VALUE),
        };
        for ((field, pointer, ours), (_, _, theirs)) in compared_values(existing).iter().zip(&self.values) {
            if ours == theirs {
                continue;
            }
            let origin = self.origins.iter().find(|(at, _)| at == pointer);
            drifts.push(Drift {
                profile: Some(existing.name.clone()),
                field,
                in_profile: shown(ours),
                in_cluster: shown(theirs),
                origin: origin.map(|(_, from)| escaped_and_cut(from, MAX_ORIGIN)).unwrap_or_default(),
            });
        }
    }
}
