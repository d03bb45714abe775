//! What `monitor` exports: readings in, text of Prometheus out. A reading that is missing is absent, never 0.

mod counters;
mod metrics;
mod page;

pub use counters::{COUNTERS, Folder, PortCounter};
pub use metrics::{Port, Readings, SharedMemory, text};
pub use page::page;

use crate::nccl_log::{Log, Transport, transport};

/// The transport that a log of NCCL shows, over all communicators that send over the network: the worst one.
#[must_use]
pub fn transport_of(log: &Log) -> Option<Transport> {
    let crossing = log.communicators().iter().filter(|communicator| log.crosses(communicator));
    let ranks = crossing.flat_map(|communicator| log.ranks(communicator));
    let worst = |kind: &Transport| match kind {
        Transport::Tcp => 3,
        Transport::Unknown => 2,
        Transport::Cloud => 1,
        Transport::Rdma => 0,
    };
    ranks.filter_map(|rank| log.network_of(rank)).map(transport).max_by_key(worst)
}

/// Name of a transport in a label.
#[must_use]
pub fn transport_name(kind: Transport) -> &'static str {
    match kind {
        Transport::Rdma => "rdma",
        Transport::Cloud => "cloud",
        Transport::Tcp => "tcp",
        Transport::Unknown => "unknown",
    }
}
