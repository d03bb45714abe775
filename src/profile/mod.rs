//! Profiles: the schema of a FabricProfile, its checks, and the compiled-in bases.

pub mod base;
mod crd;
mod gke;
mod ignorable;
mod memlock;
mod metadata;
mod print;
mod resolved;
pub mod schema;
mod selector;
pub(crate) mod small_files;
mod status;
mod subsets;
mod variables;

#[cfg(test)]
mod schema_tests;

pub use crd::definition;
pub use gke::{GkeInterface, GkeNetworks};
pub use ignorable::Ignorable;
pub use memlock::Memlock;
pub use print::{INJECTED_ANNOTATION, mark};
pub use resolved::{EnvEntry, Profile, ProfileError, Rail, Subset, fixed_units};
pub use schema::FabricProfile;
pub use status::{FabricProfileStatus, Problem};
