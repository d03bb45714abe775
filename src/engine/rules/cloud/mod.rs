//! FAB6xx: settings that are wrong only on the fabric of one cloud provider (AWS, GKE, OCI).

mod efa;
mod fab601_plugin_kept_out;
mod fab602_libfabric_settings;
mod fab603_efa_with_other_fabric;
mod fab604_gke_and_multus_networks;
mod fab605_oci_vf_count;

use crate::rules::rule_declaration::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab601_plugin_kept_out::RULE,
    &fab602_libfabric_settings::RULE,
    &fab603_efa_with_other_fabric::RULE,
    &fab604_gke_and_multus_networks::RULE,
    &fab605_oci_vf_count::RULE,
];
