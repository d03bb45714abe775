//! FAB6xx: fabrics of cloud providers.

mod efa;
mod gke;
mod oci;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] =
    &[&efa::PluginKeptOut, &efa::Libfabric, &efa::OtherFabric, &gke::BothNetworks, &oci::RdmaVf];
