//! Fabrics: what a profile says, the compiled-in bases, and which profile a pod gets.

pub mod base;
mod crd;
mod metadata;
pub mod profile;
pub mod resolve;
mod resolved;
pub mod status;

pub use crd::definition;
pub use profile::FabricProfile;
pub use resolve::{Evidence, Question, Resolution, resolve};
pub use resolved::{EnvEntry, Profile, ProfileError, Rail, fixed_units};
