//! fabric-admission: makes GPU training pods fit the RDMA fabric of their nodes, refuses combinations that are
//! known to break, and explains why. One engine serves the webhook and the offline review:
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
//! The core takes bytes and a [`snapshot::Snapshot`] and gives an outcome; it uses no files, sockets, clocks or
//! environment. The shell (`cli`, `cluster`, `keeper`, `manifest`, `server`, `telemetry`, `tls`) does the input and output.
//! Modules stand on floors and import downward only (docs/design.md). A test holds both lines.

// ---- core ----
pub mod certificates;
pub mod demands;
pub mod facts;
pub mod json;
pub mod multus;
pub mod nccl;
pub mod nodes;
pub mod patch;
pub mod plan;
pub mod pod;
pub mod profile;
pub mod report;
pub mod resolve;
pub mod review;
pub mod rules;
pub mod snapshot;
mod text;
// ---- shell ----
pub mod cli;
pub mod cluster;
pub mod keeper;
pub mod manifest;
pub mod server;
pub mod telemetry;
pub mod tls;
