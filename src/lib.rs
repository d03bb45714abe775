//! fabric-admission: makes GPU training pods fit the RDMA fabric of their nodes, refuses combinations that are
//! known to break, and explains why. One engine serves the webhook and the offline review.
//!
//! This crate is the shell: it does the input and output. The core, a crate of its own in `src/engine`, takes bytes and
//! a [`snapshot::Snapshot`] and gives an outcome. Its modules have the same paths here.

use fabric_admission_engine::text;
#[doc(inline)]
pub use fabric_admission_engine::{
    certificates, decision_limits, demands, estimate, facts, json, known_lines, kubernetes_version, monitor,
    multus, nccl, nccl_log, nodes, patch, plan, pod, preflight, profile, rdma, resolve, review, rules,
    snapshot,
};

#[doc(inline)]
pub use fabric_admission_discover::discover;
#[doc(inline)]
pub use fabric_admission_doctor::doctor;
#[doc(inline)]
pub use fabric_admission_manifest::manifest;
#[doc(inline)]
pub use fabric_admission_pod_agent::pod_agent;
#[doc(inline)]
pub use fabric_admission_report::report;

pub mod certificate_keeper;
pub mod cluster;
pub mod server;
pub mod telemetry;
pub mod tls;
