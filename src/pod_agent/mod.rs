//! Reads what a pod sees of its fabric: a fixed list of files, and a few answers of the kernel. Nothing here judges.
//!
//! The list is fixed for a reason: reading `/sys/class/infiniband/<device>/hw_counters/*` from a pod crashed kernels
//! from 5.14 until "RDMA/core: Don't expose hw_counters outside of init net namespace" (2025). So nothing here follows a
//! directory below a device beyond the names that it knows.

mod counters;
mod files;
mod gpus;
mod image;
mod kernel;
mod look;
mod nccl_settings;
mod netlink_socket;
mod peers;
mod rdma_devices;

pub use counters::Counters;
pub use files::Root;
pub use look::{Options, expectation, look};
