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

mod amounts;
mod builder;
mod classes;
mod condition;
mod in_common;
mod largest;
mod members;
mod node;
mod node_filter;
mod requirement;
mod shards;
mod single_nodes;
mod taint;
#[cfg(test)]
mod tests;
mod view;

pub use builder::NodeBuilder;
pub use classes::{Class, ClassSet, Classes};
pub use condition::Condition;
pub use in_common::{InCommon, NodeSelection};
pub use node::NodeObject;
pub(crate) use node_filter::landing_of;
pub use node_filter::{Constraints, Dropped, Term, dropped, landing};
pub use requirement::{Relation, Requirement, Values};
pub use taint::{Taint, Toleration, Tolerations};
pub use view::NodeView;

/// Label that the kubelet sets to the host's name; its value differs on every node.
pub const HOSTNAME_LABEL: &str = "kubernetes.io/hostname";
/// Label that cloud providers set to the machine type.
pub const INSTANCE_TYPE_LABEL: &str = "node.kubernetes.io/instance-type";
