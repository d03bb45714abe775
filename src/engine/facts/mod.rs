//! Facts: the small parts of cluster objects that decisions need. One file per kind; `collect_facts_of_all_objects` puts
//! them together, and `when_objects_disagree` decides what counts then.
//! Objects come from files or from watches; nothing here distinguishes the two. Nodes have a module of their own
//! (`nodes`), profiles too, and questions across objects are answered in `snapshot`.

pub mod address_pool;
mod collect_facts_of_all_objects;
mod compute_domain;
mod config_map;
pub mod device_claim;
pub mod device_class;
pub mod extended_resource;
pub mod fact_kinds;
mod facts_by_namespace_and_name;
mod facts_from_all_nodes;
pub mod facts_of_cluster;
mod memory_of_fact;
mod namespace_labels_and_mode;
pub mod network_of_one_object;
mod networks_attached_by_claims;
mod nic_cluster_and_node_policy;
mod nics_listed_by_sriov_policy;
mod object_shape;
mod pod_security;
pub mod resource_slice;
pub mod resources_in_device_plugin_config;
pub mod sriov_node_policy;
pub mod sriov_node_state;
mod sriov_operator_config;
mod sriov_policies_to_compare;
pub mod sriov_pool_config;
mod training_runtime;
mod when_objects_disagree;
pub mod which_dra_drivers_have_nics;
mod which_fact_object_gives;

pub use address_pool::AddressPool;
pub(crate) use collect_facts_of_all_objects::FactsOfAllObjects;
pub use compute_domain::ImexChannelClaimTemplate;
pub use config_map::ConfigMapTexts;
pub use device_claim::{DeviceClaim, DeviceRequest, RequestedDevices};
pub use device_class::DeviceClass;
pub use extended_resource::{ResourceFact, ResourceProvider, names_dpdk};
pub use fact_kinds::FactKind;
pub(crate) use facts_by_namespace_and_name::NamespacedFacts;
pub use facts_from_all_nodes::{InterfaceOnAllNodes, ResourceOnAllNodes};
pub use facts_of_cluster::{ClusterFacts, NodesWithSameNics, ResolvedNetwork};
pub use namespace_labels_and_mode::{
    EnforcementMode, MODE_LABEL, NAME_LABEL, NamespaceFacts, POD_SECURITY_LABEL, PROFILE_ANNOTATION,
};
pub use nic_cluster_and_node_policy::{
    DevicePluginConfigInPolicy, NicPolicy, device_plugin_configs_in_policy,
};
pub use nics_listed_by_sriov_policy::NicsListedByPolicy;
pub use pod_security::PodSecurity;
pub use resource_slice::{DevicePool, DevicesInResourceSlice};
pub use sriov_node_policy::SriovNodePolicy;
pub use sriov_node_state::SriovNodeState;
pub use sriov_operator_config::SriovOperatorConfig;
pub use sriov_policies_to_compare::PolicyToCompare;
pub use sriov_pool_config::SriovPoolConfig;
pub use training_runtime::TrainingRuntime;
pub use which_dra_drivers_have_nics::{DriverKind, DriverPattern, DriversWithoutNics};
pub use which_fact_object_gives::{Fact, FactEntry, check_object_is_readable, is_fact, read_fact_of_object};
