//! Nodes as resolution sees them: label sets, taints and extended resources, each with any number of nodes. No answer
//! depends on that number, or on readiness and cordons.
//!
//! ```text
//! Node objects -> NodeBuilder (add, delete, replace all)      one writer, no locks
//!                   `- view() -> NodeView                    immutable, shared by every decision
//!                                  |- Classes    label pair -> set of classes (bits)
//!                                  `- Shards     node name, and labels that every node has a value of its own for
//! pod            -> landing(constraints, view) -> set of classes
//! ```

mod build_node_index;
mod combined_conditions_on_label;
mod compact_class_set;
mod conditions_on_single_nodes;
#[cfg(test)]
mod index_tests;
mod label_requirement;
mod largest_nodes_of_resource;
mod node_classes;
mod node_object;
#[cfg(test)]
mod nodes_above_limits_tests;
mod nodes_of_two_selectors;
mod nodes_view;
mod resource_amounts;
mod sharded_map;
mod taints_and_tolerations;
mod which_nodes_fit_pod;
mod why_nodes_do_not_fit_pod;

pub use build_node_index::NodeBuilder;
pub use combined_conditions_on_label::CombinedConditions;
pub(crate) use compact_class_set::CompactClassSet;
pub use label_requirement::{LabelRequirement, Relation, Values};
pub use node_classes::{ClassSet, NodeClass, NodeClasses};
pub use node_object::NodeObject;
pub use nodes_of_two_selectors::{InCommon, NodeSelection};
pub use nodes_view::NodeView;
pub use taints_and_tolerations::{Taint, Toleration, Tolerations};
pub(crate) use which_nodes_fit_pod::classes_pod_can_run_on_within_deadline;
pub use which_nodes_fit_pod::{AffinityTerm, NodeConstraintsOfPod, classes_pod_can_run_on};
pub use why_nodes_do_not_fit_pod::{ExcludedBy, ExcludingConstraints, constraints_that_exclude_nodes};
pub(crate) use why_nodes_do_not_fit_pod::{MAX_SHOWN_CONSTRAINTS, TAINT};

/// Label that the kubelet sets to the host's name; its value differs on every node.
pub const HOSTNAME_LABEL: &str = "kubernetes.io/hostname";
/// Label that cloud providers set to the machine type.
pub const INSTANCE_TYPE_LABEL: &str = "node.kubernetes.io/instance-type";
