//! The command line of fabric-admission, on top of the shell and the core. Their modules have the same paths here.

use fabric_admission::{
    certificate_keeper, certificates, cluster, decision_limits, discover, doctor, estimate, facts, json,
    known_lines, kubernetes_version, manifest, monitor, multus, nccl, nccl_log, patch, plan, pod, pod_agent,
    preflight, profile, rdma, report, resolve, review, rules, server, snapshot, telemetry, tls,
};
use fabric_admission_engine::text;

// A folder's own file, and not its parent's: this crate begins in the folder of its only module.
#[path = "mod.rs"]
pub mod cli;
