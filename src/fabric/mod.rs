//! Fabrics: what a profile says, the compiled-in bases, and which profile a pod gets.

pub mod base;
pub mod profile;
pub mod resolve;
mod resolved;
mod selector;
mod subsets;

pub use profile::FabricProfile;
pub use resolve::{Evidence, Question, Resolution, resolve};
pub use resolved::{EnvEntry, Profile, ProfileError, Rail, Subset, fixed_units};
