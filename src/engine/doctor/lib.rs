//! The checks of an installation. The core's modules have the same paths here.

use fabric_admission_engine::{
    certificates, facts, kubernetes_version, multus, pod, profile, resolve, rules, snapshot, text,
};

// A folder's own file, and not its parent's: this crate begins in the folder of its only module.
#[path = "mod.rs"]
pub mod doctor;
