//! A pod as it was sent: a borrowed read model, quantities, accelerators, and the variables that its shell text sets.
//! Nothing here knows the cluster or a profile: `demands` joins the pod with facts, `plan::overlay` with changes.

pub mod accelerator_resources;
pub mod affinity_and_tolerations;
mod annotations_and_labels;
pub mod cached_answers_about_pod;
mod claims_in_pod_spec;
pub mod containers_and_their_resources;
mod decode_pod;
mod env_variables;
pub mod fabric_signs;
mod find_volume_container_or_mount;
mod gang_size;
pub mod how_ranks_start;
pub mod is_multi_node;
pub mod limits_and_costs_of_pods;
pub(crate) mod limits_of_template_search;
mod memory_limits_of_containers;
pub mod nic_resource_names;
mod place_index;
pub mod pod_fields;
pub mod prescan_for_fabric_signs;
mod presence;
mod quick_test_for_absent_variable;
mod raw_text_source;
mod references_in_env;
mod runs_as_root;
pub mod shell;
pub mod templates_by_shape;
#[cfg(test)]
mod templates_by_shape_tests;
pub mod variable_sources;
pub mod variable_value;
mod variables_and_nccl_version_of_container;
pub mod which_containers_webhook_added;
pub mod workload_kinds;

#[cfg(test)]
mod pod_fields_tests;

pub use crate::json::quantity::{Bytes, Quantity, QuantityError};
pub use accelerator_resources::AcceleratorNames;
pub use fabric_signs::FabricSigns;
pub use memory_limits_of_containers::memory_limit_of_containers_together;
pub use pod_fields::{Container, PodView};
pub use runs_as_root::runs_as_root;
