//! The report: results as people and programs read them. The core's modules have the same paths here.

use fabric_admission_engine::{
    facts, json, multus, nccl_log, nodes, patch, plan, pod, profile, resolve, review, rules, snapshot, text,
};

// A folder's own file, and not its parent's: this crate begins in the folder of its only module.
#[path = "mod.rs"]
pub mod report;
