//! Profiles: the schema of a FabricProfile, its checks, and the compiled-in bases. Which pod gets a profile is decided
//! in `resolve`, and what the pod gets from it in `plan`.

pub mod base;
mod checked_parts;
mod checked_profile;
mod checks;
mod crd;
mod error;
mod gke;
mod ignorable;
mod inherit;
mod injected_mark;
mod label_selector;
mod memlock;
mod metadata;
mod monitor;
mod placement;
mod preflight;
mod read;
pub mod schema;
mod settings_fingerprint;
mod status;
mod unknown_claims;
mod written_out;

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
pub use error::ProfileError;
pub use gke::{GkeInterface, GkeNetworks};
pub use ignorable::Ignorable;
pub use injected_mark::{INJECTED_ANNOTATION, mark};
pub use memlock::Memlock;
pub use metadata::Metadata;
pub use monitor::{Monitor, MonitorResources, Scrape};
pub use placement::{NodeAffinity, Placement};
pub use preflight::{CheckVerdict, Preflight, PreflightInstall, PreflightVerdict};
pub use schema::FabricProfile;
pub use status::{FabricProfileStatus, Problem};
pub use unknown_claims::UnknownClaims;
pub use written_out::{Origin, WrittenOut, written_out};
