//! Formats of what Linux shows about RDMA devices and a process's limits: sysfs files, GIDs, counters, netlink messages,
//! `/proc`. Bytes in; a value, or the reason why there is none. The formats are those of linux
//! `drivers/infiniband/core/{sysfs,nldev}.c` where no other source is named.

pub mod gid;
pub mod interface_addresses;
pub mod net_dev;
pub mod netlink;
pub mod netlink_counters;
pub mod port;
pub mod process_limits;
pub mod read_counter_file;
pub mod why_unreadable;

pub use why_unreadable::{Reading, Unreadable};
