//! Fabrics: what a profile says, the compiled-in bases, and which profile a pod gets.

pub mod base;
pub mod catalog;
mod crd;
mod gke;
mod ignorable;
mod memlock;
mod metadata;
mod missing;
pub mod nodes;
mod placement;
mod print;
pub mod profile;
pub mod resolve;
mod resolved;
mod selector;
pub(crate) mod small_files;
pub mod status;
mod subsets;
mod unknown_claims;
mod variables;
pub mod why;

pub use catalog::Catalog;
pub use crd::definition;
pub use gke::{GkeInterface, GkeNetworks};
pub use ignorable::Ignorable;
pub use memlock::Memlock;
pub use missing::{Missing, missing, missing_anywhere};
pub use placement::{NodeAffinity, Placement};
pub use print::{INJECTED_ANNOTATION, Then, mark};
pub use profile::FabricProfile;
pub(crate) use resolve::default_profile;
pub use resolve::{Because, Evidence, Question, Resolution, SHOWN, resolve};
pub use resolved::{EnvEntry, Profile, ProfileError, Rail, Subset, fixed_units};
pub use unknown_claims::UnknownClaims;
