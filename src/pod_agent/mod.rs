//! Reads what a pod sees of its fabric: a fixed list of files, and a few answers of the kernel. Nothing here judges.
//!
//! The list is fixed for a reason: reading `/sys/class/infiniband/<device>/hw_counters/*` from a pod crashed kernels
//! from 5.14 until "RDMA/core: Don't expose hw_counters outside of init net namespace" (2025). So nothing here follows a
//! directory below a device beyond the names that it knows.

mod bounded_files;
mod find_nccl_conf_files;
mod gpus_and_shared_memory;
mod image_libraries;
mod kernel_answers;
mod monitor_readings;
mod netlink_socket;
mod open_regular_file;
mod preflight_readings;
mod rdma_devices;
mod reach_peers;

pub use bounded_files::Root;
pub use monitor_readings::Counters;
pub use open_regular_file::{LastLink, create_or_empty_regular_file, open_regular_file};
pub use preflight_readings::{Options, read_everything, read_expectation};
