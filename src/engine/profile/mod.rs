//! Profiles: the schema of a FabricProfile, its checks, and the compiled-in bases. Which pod gets a profile is decided
//! in `resolve`, and what the pod gets from it in `plan`.

pub mod built_in_bases;
mod checked_parts;
mod checked_profile;
mod checks;
mod crd;
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
pub use checked_profile::{Profile, fixed_units};
pub(crate) use checks::files::MAX_FILE;
pub use crd::definition;
pub use gke_networks::{GkeInterface, GkeNetworks};
pub use ignorable_setting::Ignorable;
pub use injected_mark::{INJECTED_ANNOTATION, injected_mark_of};
pub use memlock_setting::Memlock;
pub use metadata_of_profile_file::Metadata;
pub use monitor_settings::{Monitor, MonitorResources, Scrape};
pub use placement_setting::{NodeAffinity, Placement};
pub use preflight_settings::{CheckVerdict, Preflight, PreflightInstall, PreflightVerdict};
pub use profile_error::ProfileError;
pub use profile_with_all_defaults_written_out::{Origin, WrittenOut, written_out};
pub use schema::FabricProfile;
pub use status_schema::{FabricProfileStatus, Problem};
pub use unknown_claims_setting::UnknownClaims;
