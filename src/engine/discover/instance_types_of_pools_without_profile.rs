//! Instance types that a Karpenter NodePool may create and that no profile names.

use super::discovered::Unknown;
use super::karpenter_node_pool::NodePool;
use super::node_as_shown::Node;
use super::profile_draft::Draft;
use crate::profile::FabricProfile;
use std::collections::{BTreeMap, BTreeSet};

/// Label of the nodes of a NodePool.
const LABEL: &str = "karpenter.sh/nodepool";

/// Instance types of a profile, with those of its base.
fn instance_types_of_profile<'a>(profile: &'a FabricProfile, bases: &'a [FabricProfile]) -> &'a [String] {
    let base = || bases.iter().find(|base| Some(&base.metadata.name) == profile.spec.base.as_ref());
    let own = profile.spec.instance_types.as_ref();
    own.or_else(|| base()?.spec.instance_types.as_ref()).map(Vec::as_slice).unwrap_or_default()
}

/// Asks about the machines of NodePools that have no profile: in the profile of the pool's nodes, or, for a pool without
/// nodes, as the result for it. A machine that no base is for may have any fabric, or no GPU.
pub(super) fn ask_in_drafts_and_return_pools_without_nodes(
    pools: &BTreeMap<String, NodePool>,
    nodes: &BTreeMap<String, Node>,
    drafts: &mut [Draft],
    profiles: &BTreeMap<String, FabricProfile>,
    bases: &[FabricProfile],
) -> Vec<Unknown> {
    let mut covered: BTreeSet<String> = drafts.iter().flat_map(Draft::instance_types).collect();
    covered.extend(profiles.values().flat_map(|profile| instance_types_of_profile(profile, bases)).cloned());
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for base in bases {
        known.extend(
            instance_types_of_profile(base, &[]).iter().map(|of| (of.as_str(), base.metadata.name.as_str())),
        );
    }
    let mut unknown = Vec::new();
    let of_draft = |(at, draft): (usize, &Draft)| {
        draft.nodes.iter().map(move |node| (node.clone(), at)).collect::<Vec<_>>()
    };
    let of_nodes: BTreeMap<String, usize> = drafts.iter().enumerate().flat_map(of_draft).collect();
    let mut of_pools: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for node in nodes.values() {
        if let Some(pool) = node.label(LABEL) {
            of_pools.entry(pool).or_default().insert(node.name.as_str());
        }
    }
    for pool in pools.values() {
        let open: Vec<(&str, &str)> = known
            .iter()
            .map(|(of, base)| (*of, *base))
            .filter(|(of, _)| pool.creates(of) && !covered.contains(*of))
            .collect();
        let Some((_, base)) = open.first() else { continue };
        let names = open.iter().map(|(of, _)| *of).collect::<Vec<_>>().join(", ");
        match of_pools.get(pool.name.as_str()) {
            None => unknown.push(Unknown {
                nodes: Vec::new(),
                reason: format!("NodePool {} has no nodes now, but may create nodes of type {names}", pool.name),
                question: format!(
                    "Will these nodes have the fabric of base {base}? If yes, write a profile with base: {base}, or run discover when a node exists."
                ),
            }),
            Some(of) => {
                let first = of.iter().filter_map(|node| of_nodes.get(*node)).min();
                if let Some(draft) = first.and_then(|at| drafts.get_mut(*at)) {
                    draft.questions.push(format!(
                        "Do nodes of type {names} have this fabric? NodePool {} may create them, and none exists now. If \
                         they have it, add the types to instanceTypes.",
                        pool.name
                    ));
                }
            }
        }
    }
    unknown
}
