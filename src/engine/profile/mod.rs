//! Profiles: the schema of a FabricProfile, its checks, and the compiled-in bases. Which pod gets a profile is decided
//! in `resolve`, and what the pod gets from it in `plan`.

pub mod built_in_bases;
mod checked_parts;
mod checked_profile;
mod checks;
mod crd_with_cel_rules;
mod decode_profile;
mod gke_networks;
mod ignorable_setting;
mod inherit;
mod injected_mark;
mod label_selector;
mod memlock_setting;
mod metadata_of_profile_file;
mod monitor_settings;
mod placement_setting;
mod preflight_settings;
mod profile_error;
mod profile_with_all_defaults_written_out;
pub mod schema;
mod settings_fingerprint;
mod status_schema;
mod unknown_claims_setting;

#[cfg(test)]
mod node_selector_tests;
#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod subsets_tests;

pub use checked_parts::{EnvEntry, Rail, Subset};
pub use checked_profile::{Profile, units_of_other_resource};
pub(crate) use checks::files::MAX_FILE_BYTES;
pub use crd_with_cel_rules::custom_resource_definition;
pub use gke_networks::{GkeInterface, GkeNetworks};
pub use ignorable_setting::Ignorable;
pub use injected_mark::{INJECTED_ANNOTATION, injected_mark_of};
pub use memlock_setting::Memlock;
pub use metadata_of_profile_file::Metadata;
pub use monitor_settings::{Monitor, MonitorResources, Scrape};
pub use placement_setting::{NodeAffinity, Placement};
pub use preflight_settings::{CheckVerdict, Preflight, PreflightInstall, PreflightVerdict};
pub use profile_error::ProfileError;
pub use profile_with_all_defaults_written_out::{
    ProfileWithAllDefaults, ValueOrigin, write_out_all_defaults,
};
pub use schema::FabricProfile;
pub use status_schema::{FabricProfileStatus, Problem};
pub use unknown_claims_setting::UnknownClaims;
