//! The plan: the values to set on a pod so that it fits a profile, and why. Only absent values are set; a user's
//! value is never changed or removed. One file per kind of change. A plan changes nothing itself: `patch` writes it
//! as JSON operations, and `overlay` shows the pod with it.

mod add_rails_to_networks_annotation;
mod annotation_names_and_paths;
mod annotation_size_limit;
mod change_kind;
mod gke_network_annotations;
mod injected_annotation;
mod ipc_lock;
mod is_value_from_plan;
mod is_variable_for_nccl_version;
mod left_out_types;
mod memlock_annotation;
mod mount_json;
mod namespaces_of_usable_networks;
mod nccl_conf_and_small_files;
mod networks_annotation_summary;
mod node_affinity;
mod node_labels_that_networks_require;
pub mod overlay;
mod patch_size_limit;
mod plan_pod;
mod planned_attachment;
mod planned_changes;
mod preflight_and_monitor;
mod rdma_resources_of_each_container;
mod reason_text;
mod shm;
mod target_container;
#[cfg(test)]
mod tests;
mod user_fabric;
pub mod user_fabric_counts;
mod value_and_path_of_change;
mod variables_to_add_type;
mod which_containers_get_profile;
mod which_lines_nccl_conf_gets;
mod which_rails_pod_gets;
mod which_variables_host_network_leaves_out;
mod which_variables_to_add;
mod why_pod_gets_nothing;

pub use annotation_names_and_paths::{
    CONTAINERS_ANNOTATION, FILE_ANNOTATION, FILES_PATH, INJECT_ANNOTATION, NCCL_CONF, NCCL_CONF_PATH,
    RAILS_ANNOTATION, SHM_PATH, TERMS_PATH,
};
pub use change_kind::{ChangeCounts, ChangeKind};
pub(crate) use gke_network_annotations::GKE_DOMAIN;
pub(crate) use is_variable_for_nccl_version::is_checked;
pub use left_out_types::{
    EnvRefusal, FileRefusal, InPodRefusal, IpcLockRefusal, Kept, OwnSetting, VariableSetByPod,
    VariableWithoutInterface, VariablesLeftOut,
};
pub(crate) use memlock_annotation::ULIMITS_ANNOTATION;
pub(crate) use namespaces_of_usable_networks::serves_namespace;
pub(crate) use nccl_conf_and_small_files::field_path as file_field_path;
pub use plan_pod::plan;
pub use planned_changes::{Change, Plan};
pub use reason_text::Reason;
pub use shm::recommended as recommended_shm;
pub use target_container::{Target, WrongContainers};
pub use user_fabric_counts::{Completeness, OtherFabric, UserFabric};
pub use value_and_path_of_change::{Carrier, Edit, ResourceList};
pub(crate) use which_variables_to_add::unused_interface;
pub use why_pod_gets_nothing::{MAX_CONTAINERS, Withheld, pod_level_refusal};
