//! Profiles: the schema of a FabricProfile, its checks, and the compiled-in bases. Which pod gets a profile is decided
//! in `resolve`, and what the pod gets from it in `plan`.

pub mod base;
mod crd;
mod error;
mod fingerprint;
mod gke;
mod gke_check;
mod ignorable;
mod inherit;
mod injected_mark;
mod limits;
mod memlock;
mod memlock_check;
mod metadata;
mod parts;
mod placement;
mod read;
mod resolved;
pub mod schema;
mod selector;
pub(crate) mod small_files;
mod status;
mod subsets;
mod unknown_claims;
mod variables;
mod written_out;

#[cfg(test)]
mod schema_tests;

pub use crd::definition;
pub use error::ProfileError;
pub use gke::{GkeInterface, GkeNetworks};
pub use ignorable::Ignorable;
pub use injected_mark::{INJECTED_ANNOTATION, mark};
pub use memlock::Memlock;
pub use metadata::Metadata;
pub use parts::{EnvEntry, Rail, Subset};
pub use placement::{NodeAffinity, Placement};
pub use resolved::{Profile, fixed_units};
pub use schema::FabricProfile;
pub use status::{FabricProfileStatus, Problem};
pub use unknown_claims::UnknownClaims;
pub use written_out::{Origin, WrittenOut, written_out};
