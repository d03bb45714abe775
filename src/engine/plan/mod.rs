//! The plan: the values to set on a pod so that it fits a profile, and why. Only absent values are set; a user's
//! value is never changed or removed. One file per kind of change. A plan changes nothing itself: `patch` writes it
//! as JSON operations, and `overlay` shows the pod with it.

mod add_rails_to_networks_annotation;
mod annotation_names_and_paths;
mod annotation_size_limit;
mod change_kind;
mod does_variable_name_interface;
mod edit_type;
mod gke_network_annotations;
mod injected_annotation;
mod ipc_lock;
mod is_value_from_plan;
mod is_variable_for_nccl_version;
mod left_out_types;
mod memlock_annotation;
mod mount_json;
mod nccl_conf_and_small_files;
mod nccl_conf_format;
mod networks_annotation_summary;
mod node_affinity;
mod node_labels_that_networks_require;
mod own_or_default_namespace;
mod patch_size_limit;
mod plan_pod;
mod plan_type;
mod planned_attachment;
pub mod pod_with_plan;
mod preflight_and_monitor;
mod rdma_resources_of_each_container;
mod reason_text;
mod shm;
mod target_container_type;
#[cfg(test)]
mod tests;
mod user_fabric;
pub mod user_fabric_counts;
mod variables_to_add_type;
mod which_containers_get_profile;
mod which_rails_pod_gets;
mod which_variables_to_add;
mod why_pod_gets_nothing;

pub use annotation_names_and_paths::{
    CONTAINERS_ANNOTATION, FILE_ANNOTATION, FILES_PATH, INJECT_ANNOTATION, NCCL_CONF, NCCL_CONF_PATH,
    NODE_AFFINITY_TERMS_PATH, RAILS_ANNOTATION, SHM_PATH,
};
pub use change_kind::{ChangeCounts, ChangeKind};
pub use edit_type::{Carrier, Edit, ResourceList};
pub(crate) use gke_network_annotations::GKE_DOMAIN;
pub(crate) use is_variable_for_nccl_version::is_checked_by_nccl_version;
pub use left_out_types::{
    AddedContainerRefusal, EnvRefusal, FileRefusal, IpcLockRefusal, OwnFieldKept, OwnSetting,
    VariableSetByPod, VariableWithoutInterface, VariablesLeftOut,
};
pub(crate) use memlock_annotation::ULIMITS_ANNOTATION;
pub(crate) use nccl_conf_and_small_files::count_variables_in_nccl_conf_of_annotation;
pub(crate) use nccl_conf_and_small_files::field_path as file_field_path;
pub(crate) use own_or_default_namespace::is_own_or_default_namespace;
pub use plan_pod::plan_profile_for_pod;
pub use plan_type::{Change, Plan};
pub use reason_text::Reason;
pub use shm::recommended_shm_size as recommended_shm;
pub use target_container_type::{Target, WrongContainers};
pub use user_fabric_counts::{OtherFabric, OwnFabricResult, UserFabric};
pub(crate) use which_variables_to_add::unused_interface_named_by_variable;
pub use why_pod_gets_nothing::{MAX_CONTAINERS, WhyNothingPlanned, why_pod_itself_excludes_profile};
