//! The readings of a scrape: ports, interfaces, shared memory.

use crate::rdma::net_dev::InterfaceBytes;
use crate::rdma::read_counter_file::Counter;

/// A port, with what could be read of it.
#[derive(Debug, Clone, Default)]
pub struct Port {
    /// Device.
    pub device: String,
    /// Number.
    pub port: u32,
    /// Number of the logical state; 4 is active.
    pub state: Option<u32>,
    /// Number of the physical state; 5 is a link that is up.
    pub physical_state: Option<u32>,
    /// Line rate (Gb/s).
    pub gigabits: Option<u32>,
    /// Values, by their place in the table of counters.
    pub counters: Vec<(usize, Counter)>,
    /// Changes of the GID table since the start; `None` where it cannot be read.
    pub gid_changes: Option<u64>,
}

/// An interface.
#[derive(Debug, Clone)]
pub struct Interface {
    /// Name and bytes.
    pub bytes: InterfaceBytes,
    /// Whether it is IP over InfiniBand, whose bytes the port counts too.
    pub is_ipoib: bool,
}

/// A file system at /dev/shm.
#[derive(Debug, Clone, Copy)]
pub struct SharedMemory {
    /// Size (bytes).
    pub size: u64,
    /// Free (bytes).
    pub free: u64,
}
