//! The core of fabric-admission. It takes bytes and a [`snapshot::Snapshot`] and gives an outcome; it uses no files,
//! sockets, clocks or environment. One engine serves the webhook and the offline review:
//!
//! ```text
//! bytes -> envelope (object stays raw) -> in scope?  no -> allow, nothing decoded
//!       -> PodView  (borrows)          -> resolve(Snapshot) -> profile and evidence
//!       -> plan     changes, each with a reason; a user's value is kept
//!       -> rules    findings on the pod with the plan laid over it
//!       -> patch    RFC 6902 operations on the raw object
//!       -> verdict, response or report
//! ```
//!
//! Modules stand on floors and import downward only (docs/design.md). A test holds that; the compiler keeps this crate
//! from naming the shell.

pub mod certificates;
pub mod decision_limits;
pub mod demands;
pub mod estimate;
pub mod facts;
pub mod json;
pub mod known_lines;
pub mod kubernetes_version;
pub mod monitor;
pub mod multus;
pub mod nccl;
pub mod nccl_log;
pub mod nodes;
pub mod patch;
pub mod plan;
pub mod pod;
pub mod preflight;
pub mod profile;
pub mod rdma;
pub mod resolve;
pub mod review;
pub mod rules;
pub mod schemas;
pub mod snapshot;
pub mod text;
