//! fabric-admission: makes GPU training pods fit the RDMA fabric of their nodes, refuses combinations that are
//! known to break, and explains why. One engine serves the webhook and the offline review.
//!
//! This crate is the shell: it does the input and output. The core, a crate of its own in `src/engine`, takes bytes and
//! a [`snapshot::Snapshot`] and gives an outcome. Its modules have the same paths here.

use fabric_admission_engine::text;
#[doc(inline)]
pub use fabric_admission_engine::{
    certificates, deadline, demands, discover, doctor, estimate, facts, json, known_lines,
    kubernetes_version, monitor, multus, nccl, nccl_log, nodes, patch, plan, pod, preflight, profile, rdma,
    report, resolve, review, rules, snapshot,
};

pub mod certificate_keeper;
pub mod cli;
pub mod cluster;
pub mod manifest;
pub mod pod_agent;
pub mod server;
pub mod telemetry;
pub mod tls;
