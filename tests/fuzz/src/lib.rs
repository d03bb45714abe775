//! What must hold of any input, one function for each target. libFuzzer runs them on inputs that it makes up, the
//! integration tests on the inputs that are kept below `seeds/`.
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

pub mod cost;
mod der;
mod log;
pub mod mutate;
mod pod;
mod text;
mod world;

pub use der::{agree, certificate};
pub use log::nccl_log;
pub use pod::{expectation, library, netlink, sysfs};
pub use text::{cni, nccl, networks, quantity, shell, yaml};
pub use world::{decision, objects, review};

/// A target: what is checked of an input.
pub type Check = fn(&[u8]);

/// Every target by its name, which is that of its seeds' folder too.
pub const TARGETS: &[(&str, Check)] = &[
    ("certificate", certificate),
    ("cni", cni),
    ("decision", decision),
    ("expectation", expectation),
    ("library", library),
    ("nccl", nccl),
    ("nccl_log", nccl_log),
    ("netlink", netlink),
    ("networks", networks),
    ("objects", objects),
    ("quantity", quantity),
    ("review", review),
    ("shell", shell),
    ("sysfs", sysfs),
    ("yaml", yaml),
];
