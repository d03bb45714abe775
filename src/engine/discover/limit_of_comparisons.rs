//! Policies and profiles are compared with nodes one by one. For files with thousands of each, that would take minutes.

use super::node_as_shown::Node;
use super::objects_by_resource::ByResource;
use super::objects_of_cluster::Sources;
use crate::pod::AcceleratorNames;

/// Most comparisons of nodes with the policies for their resources, or with profiles (count). A cluster of 2,000 nodes may have
/// a policy for each node. These many take about two seconds.
const MAX_COMPARISONS: usize = 4_000_000;

/// Why objects are not compared with nodes; `None` if they are.
pub(super) fn why_too_many_comparisons(comparisons: usize, objects: usize, what: &str) -> Option<String> {
    (comparisons > MAX_COMPARISONS).then(|| {
        format!(
            "discover would compare {objects} {what} with nodes {comparisons} times, and the limit is {MAX_COMPARISONS}"
        )
    })
}

impl Sources {
    /// Leaves policies out if they would be compared more often than the limit.
    pub(super) fn without_policies_above_limit_of_comparisons(mut self) -> Self {
        let known = AcceleratorNames::default();
        let with_policies = |node: &Node| -> usize {
            node.resources().map(|resource| self.policies.count_objects_of_resource(resource)).sum()
        };
        let nodes = self.nodes.values().filter(|node| node.has_accelerators(&known));
        let comparisons = nodes.map(with_policies).fold(0, usize::saturating_add);
        if let Some(why) = why_too_many_comparisons(comparisons, self.policies.all().len(), "policies") {
            self.policies = ByResource::default();
            self.add_unread_kind("SriovNetworkNodePolicy", &why);
        }
        self
    }
}
