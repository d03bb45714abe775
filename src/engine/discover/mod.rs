//! `discover`: from the objects of a cluster to FabricProfiles. Three steps, each in files of its own:
//!
//! ```text
//! objects_of_cluster  objects, kept as far as they say something about a fabric
//! groups_of_nodes     nodes with accelerators, by what they list; counts are those of a majority
//! which_fabric        the fabric of a group, or the reason why it is unknown
//! profile_draft       the fabric as a profile, each value with the object that it comes from
//! ```
//!
//! A value is observed or absent. What objects do not say becomes a question; a profile that would be wrong without the
//! answer is not written.

mod claimed_nics;
mod commented_yaml;
mod contents_of_one_object;
mod counts_over_nodes;
mod device_plugin_resources;
mod devices_behind_resource;
mod discovered;
mod drift_of_profiles;
mod efa_fabric;
mod fabrics_to_profiles;
mod fields_with_origin;
mod gke_fabric;
mod gke_network_objects;
mod groups_of_nodes;
mod instance_types_of_pools_without_profile;
mod karpenter_node_pool;
mod label_with_values;
mod labels_that_separate_nodes;
mod limit_of_comparisons;
mod node_as_shown;
mod nodes_by_label;
mod nodes_of_profiles;
mod nodes_with_labels;
mod nodes_without_nic_resource_or_claim;
mod objects_by_resource;
mod objects_given_twice;
mod objects_of_cluster;
pub mod printed_result;
mod profile_draft;
mod profile_name;
mod rails_with_own_device;
mod resource_slices;
mod resource_with_networks;
mod resources_without_network;
mod shared_hca_rails;
mod signs_of_nics;
mod which_fabric;
mod which_groups_share_a_profile;

pub use discovered::{Discovered, Unknown};
pub use drift_of_profiles::{Comparison, Drift, NotCompared, drift};
pub use fabrics_to_profiles::discover;
pub use objects_of_cluster::{FURTHER_KINDS, Sources};
pub use profile_draft::Draft;
