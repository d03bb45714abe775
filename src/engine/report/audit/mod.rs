//! The audit of a cluster: what is kept of each workload, and the result as text and JSON.
//!
//! An audit decides on a hundred thousand pods and holds none of them:
//! [`sums_per_workload`] keeps sums by top owner, [`json`]
//! orders them, [`text`] and `serde` write them.

pub mod json;
pub mod sums_per_workload;
pub mod suppressions;
pub mod text;
