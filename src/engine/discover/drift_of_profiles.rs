//! Where existing profiles and the cluster differ.

use super::discovered::Discovered;
use super::profile_draft::Draft;
use crate::profile::schema::{Inject, Per};
use crate::profile::{FabricProfile, Profile};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Most names in one line.
const MAX_NAMES: usize = 3;

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
/// A text if a profile cannot be used.
pub fn drift(
    found: &Discovered,
    existing: &[FabricProfile],
    bases: &[FabricProfile],
) -> Result<Comparison, String> {
    let mut comparison = Comparison::default();
    let Comparison { drifts, not_compared, compared } = &mut comparison;
    let mut covered: BTreeSet<&str> = BTreeSet::new();
    for profile in existing {
        let profile = Profile::resolve(profile, bases).map_err(|error| error.to_string())?;
        // A profile without nodes is for pods that name it, and one for networks only describes no fabric.
        let mut skip = |reason: &str| {
            not_compared.push(NotCompared { profile: profile.name.clone(), reason: reason.to_owned() });
        };
        if profile.inject == Inject::Networks {
            skip("its field inject is \"networks\", so it describes no fabric");
            continue;
        }
        if !profile.has_nodes() {
            skip("it has no node selector and no instance types");
            continue;
        }
        let nodes = selected(found, &profile);
        let drift = |field, in_profile: String, in_cluster: String, origin: &str| Drift {
            profile: Some(profile.name.clone()),
            field,
            in_profile,
            in_cluster,
            origin: origin.to_owned(),
        };
        if nodes.is_empty() {
            // A pool may be scaled to zero.
            skip("its node selector and instance types match no node with accelerators");
            continue;
        }
        covered.extend(nodes.iter().copied());
        let of = |draft: &&Draft| draft.nodes.iter().any(|node| nodes.contains(node.as_str()));
        let fabrics: Vec<&Draft> = found.drafts.iter().filter(of).collect();
        for unknown in &found.unknown {
            let unknown_nodes: Vec<&str> =
                unknown.nodes.iter().map(String::as_str).filter(|node| nodes.contains(node)).collect();
            if !unknown_nodes.is_empty() {
                skip(&format!("the fabric of {} is unknown: {}", list(&unknown_nodes), unknown.reason));
            }
        }
        if let [draft] = fabrics.as_slice() {
            *compared += 1;
            compare(&profile, draft, bases, drifts)?;
        } else if fabrics.len() > 1 {
            *compared += 1;
            let names: Vec<&str> = fabrics.iter().map(|draft| draft.name.as_str()).collect();
            let cluster = format!("{} fabrics on these nodes: {}", fabrics.len(), names.join(", "));
            drifts.push(drift("nodes", format!("{} nodes", nodes.len()), cluster, ""));
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
                in_cluster: format!("fabric {} on {}", draft.name, list(&missing)),
                origin: String::new(),
            });
        }
    }
    Ok(comparison)
}

/// Names of existing profiles that select nodes of a fabric. A profile that cannot be used selects none.
pub(super) fn selecting(found: &Discovered, draft: &Draft, bases: &[FabricProfile]) -> Vec<String> {
    let usable = found.profiles.iter().filter_map(|profile| Profile::resolve(profile, bases).ok());
    let of = |profile: &Profile| {
        let nodes = if profile.has_nodes() { selected(found, profile) } else { BTreeSet::new() };
        profile.inject != Inject::Networks && draft.nodes.iter().any(|node| nodes.contains(node.as_str()))
    };
    usable.filter(of).map(|profile| profile.name).collect()
}

fn list(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMES).copied().collect();
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Nodes with accelerators that a profile selects.
fn selected<'a>(found: &'a Discovered, profile: &Profile) -> BTreeSet<&'a str> {
    let matches = |labels: &std::collections::BTreeMap<String, String>| {
        let by_selector = profile.node_selector.as_ref().is_none_or(|selector| selector.matches(labels));
        let of = labels.get(super::node_as_shown::INSTANCE_TYPE);
        let by_type = profile.instance_types.is_empty()
            || of.is_some_and(|of| profile.instance_types.iter().any(|known| known == of));
        by_selector && by_type
    };
    found.nodes.iter().filter(|node| matches(&node.labels)).map(|node| node.name.as_str()).collect()
}

/// The values of a fabric, field by field, as a person compares them.
fn values(profile: &Profile) -> [(&'static str, &'static str, String); 6] {
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
        ("rails", "/spec/rails/0/network", counted(&rails)),
        ("resources", "/spec/resources/0/name", counted(&resources)),
        ("gkeNetworks", "/spec/gkeNetworks/interfaces/1/network", networks.join(", ")),
    ]
}

/// Equal neighbours as one, with their number.
fn counted(names: &[String]) -> String {
    let runs = names.chunk_by(|a, b| a == b);
    let run = |run: &[String]| match run {
        [only] => only.clone(),
        [first, ..] => format!("{} x {first}", run.len()),
        [] => String::new(),
    };
    runs.map(run).collect::<Vec<_>>().join(", ")
}

fn compare(
    existing: &Profile,
    draft: &Draft,
    bases: &[FabricProfile],
    drifts: &mut Vec<Drift>,
) -> Result<(), String> {
    let text = draft.json().to_string();
    let discovered = FabricProfile::read(&text).map_err(|error| error.to_string())?;
    let discovered = Profile::resolve(&discovered, bases).map_err(|error| error.to_string())?;
    let origins = draft.origins();
    let shown = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    for ((field, pointer, ours), (_, _, theirs)) in values(existing).into_iter().zip(values(&discovered)) {
        if ours == theirs {
            continue;
        }
        let origin = origins.iter().find(|(at, _)| at == pointer).map(|(_, from)| from.clone());
        drifts.push(Drift {
            profile: Some(existing.name.clone()),
            field,
            in_profile: shown(ours),
            in_cluster: shown(theirs),
            origin: origin.unwrap_or_default(),
        });
    }
    Ok(())
}
