//! What a pod reads of its fabric. The core's modules have the same paths here.

use fabric_admission_engine::{monitor, nccl, preflight, rdma};

// A folder's own file, and not its parent's: this crate begins in the folder of its only module.
#[path = "mod.rs"]
pub mod pod_agent;
