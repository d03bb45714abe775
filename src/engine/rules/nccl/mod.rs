//! FAB4xx: variables of NCCL and its companions, as one container gets them. Differences between the pods of a workload
//! belong to `placement`.

mod chosen_transport;
mod fab401_ib_disabled;
mod fab402_word_for_number;
mod fab403_differs_from_profile;
mod fab404_env_from;
mod fab405_ranks_over_ssh;
mod fab406_profile_files_missing;
mod fab407_unknown_nccl_version;
mod fab408_unread_variable;
mod fab409_unknown_word;
mod fab410_number_out_of_range;
mod fab411_interface_list_marks;
mod fab412_ib_hca_names;
mod fab413_net_transport;
mod fab414_gid_index;
mod fab415_socket_interface;
mod fab416_slow_workarounds;
mod fab417_diagnostics_left_on;
mod fab418_set_twice;
mod fab419_mnnvl_without_imex;
mod fab420_fixed_comm_id;
mod fab421_psk_inline;
mod fab422_ucx_settings;
mod fab423_open_mpi_interfaces;
mod fab424_nvshmem_hca_list;
mod fab425_settings_without_benefit;
mod fab426_settings_without_device;
mod fab427_set_by_command;
mod is_without_rdma_device;
mod nccl_version_and_other_networks;
mod other_rdma_users;
mod variables_left_out_in_words;

use crate::rules::rule_declaration::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab401_ib_disabled::RULE,
    &fab402_word_for_number::RULE,
    &fab403_differs_from_profile::RULE,
    &fab404_env_from::RULE,
    &fab405_ranks_over_ssh::RULE,
    &fab406_profile_files_missing::RULE,
    &fab407_unknown_nccl_version::RULE,
    &fab408_unread_variable::RULE,
    &fab409_unknown_word::RULE,
    &fab410_number_out_of_range::RULE,
    &fab411_interface_list_marks::RULE,
    &fab412_ib_hca_names::RULE,
    &fab413_net_transport::RULE,
    &fab414_gid_index::RULE,
    &fab415_socket_interface::RULE,
    &fab416_slow_workarounds::RULE,
    &fab417_diagnostics_left_on::RULE,
    &fab418_set_twice::RULE,
    &fab419_mnnvl_without_imex::RULE,
    &fab420_fixed_comm_id::RULE,
    &fab421_psk_inline::RULE,
    &fab422_ucx_settings::RULE,
    &fab423_open_mpi_interfaces::RULE,
    &fab424_nvshmem_hca_list::RULE,
    &fab425_settings_without_benefit::RULE,
    &fab426_settings_without_device::RULE,
    &fab427_set_by_command::RULE,
];
