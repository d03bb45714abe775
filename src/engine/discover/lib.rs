//! FabricProfiles from what a cluster shows. The core's modules have the same paths here.

use fabric_admission_engine::{facts, json, multus, pod, profile, text};

// A folder's own file, and not its parent's: this crate begins in the folder of its only module.
#[path = "mod.rs"]
pub mod discover;
