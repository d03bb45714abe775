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
pub mod device_driver;
pub mod device_plugin;
pub mod extended_resource;
pub mod fact_kinds;
mod facts_from_all_nodes;
pub mod facts_of_cluster;
mod facts_of_namespace;
mod memory_of_fact;
mod namespace;
pub mod network_of_one_object;
mod networks_attached_by_claims;
mod nic_cluster_policy;
mod object_shape;
mod pod_security;
mod policies_that_may_meet;
pub mod resource_slice;
pub mod sriov_node_policy;
pub mod sriov_node_state;
mod sriov_operator_config;
pub mod sriov_pool_config;
mod training_runtime;
mod when_objects_disagree;
mod which_fact_object_gives;

pub use address_pool::AddressPool;
pub(crate) use collect_facts_of_all_objects::Combined;
pub use compute_domain::ChannelTemplate;
pub use config_map::Texts;
pub use device_claim::{Ask, DeviceClaim, DeviceRequest};
pub use device_class::DeviceClass;
pub use device_driver::{DriverKind, DriverPattern, HarmlessDrivers};
pub use extended_resource::{ResourceFact, Server, names_dpdk};
pub use fact_kinds::Kind;
pub use facts_from_all_nodes::{Port, Site};
pub use facts_of_cluster::{Index, NetworkClass, NicSet};
pub(crate) use facts_of_namespace::Namespaced;
pub use namespace::{MODE_LABEL, Mode, NAME_LABEL, NamespaceFacts, POD_SECURITY_LABEL, PROFILE_ANNOTATION};
pub use nic_cluster_policy::{ConfigText, NicPolicy, config_texts};
pub use pod_security::PodSecurity;
pub use resource_slice::{DevicePool, Slice};
pub use sriov_node_policy::NodePolicy;
pub use sriov_node_state::NodeState;
pub use sriov_operator_config::OperatorConfig;
pub use sriov_pool_config::PoolConfig;
pub use training_runtime::TrainingRuntime;
pub use which_fact_object_gives::{Fact, FactEntry, check, is_fact, read};
