//! Checks of the values of a profile: one file per field, named like the field. `Profile::resolve` calls them all, since it
//! also reads files, which no API server has checked. The API server checks some of the same before it stores a profile:
//! the bounds of single values in [`crate::profile::schema`], and several values together, in CEL, in `profile/crd_with_cel_rules.rs`.

pub(super) mod accelerators_per_node;
pub(super) mod bootstrap;
pub(super) mod env;
pub(super) mod files;
pub(super) mod gke_networks;
pub(super) mod list_lengths;
pub(super) mod memlock;
pub(super) mod metadata;
pub(super) mod nccl_version;
pub(super) mod node_selector;
pub(super) mod preflight_and_monitor;
pub(super) mod rails;
pub(super) mod resources;
pub(super) mod shared_memory;
pub(super) mod subsets;
