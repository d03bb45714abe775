//! The metrics other than counters of ports.

/// Name, type, unit, source and meaning of a metric.
pub(super) struct Other {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) unit: &'static str,
    pub(super) source: &'static str,
    pub(super) help: &'static str,
}

const fn gauge(name: &'static str, unit: &'static str, source: &'static str, help: &'static str) -> Other {
    Other { name, kind: "gauge", unit, source, help }
}

const fn counter(name: &'static str, unit: &'static str, source: &'static str, help: &'static str) -> Other {
    Other { name, kind: "counter", unit, source, help }
}

/// The metrics, in the order of the page.
pub(super) static OTHERS: [Other; 23] = [
    gauge(
        "fabric_monitor_build_info",
        "1",
        "the program",
        "Version of fabric-admission in label version; the value is always 1",
    ),
    gauge(
        "node_infiniband_state_id",
        "number",
        "`ports/N/state`",
        "Logical state of the port; 4 means active",
    ),
    gauge(
        "node_infiniband_physical_state_id",
        "number",
        "`ports/N/phys_state`",
        "Physical state of the port; 5 means that the link is up",
    ),
    gauge(
        "node_infiniband_rate_bytes_per_second",
        "bytes per second",
        "`ports/N/rate`",
        "Line rate of the port",
    ),
    gauge(
        "fabric_monitor_saturated",
        "1",
        "`ports/N/counters/*`",
        "1 for a counter that has reached its maximum; it no longer rises, so its rate is wrong",
    ),
    counter(
        "fabric_monitor_gid_changes_total",
        "rows",
        "`ports/N/gids/*`",
        "Number of GIDs of the pod that appeared, disappeared or changed since the monitor started",
    ),
    counter(
        "node_network_receive_bytes_total",
        "bytes",
        "`/proc/net/dev`",
        "Bytes that an interface of the pod received, without RDMA",
    ),
    counter(
        "node_network_transmit_bytes_total",
        "bytes",
        "`/proc/net/dev`",
        "Bytes that an interface of the pod sent, without RDMA",
    ),
    gauge(
        "fabric_monitor_unreadable_files",
        "files",
        "all files and answers",
        "Number of existing files and kernel answers that the monitor could not read at the last scrape, plus the number of devices that disappeared",
    ),
    gauge("fabric_monitor_shm_size_bytes", "bytes", "`/dev/shm`", "Size of /dev/shm in this container"),
    gauge("fabric_monitor_shm_used_bytes", "bytes", "`/dev/shm`", "Used part of /dev/shm"),
    gauge(
        "fabric_monitor_memlock_bytes",
        "bytes",
        "facts of preflight",
        "Limit of locked memory in the training container; absent if the memory is not limited",
    ),
    gauge(
        "fabric_monitor_facts_info",
        "1",
        "facts of preflight",
        "Facts of preflight as labels: profile, expected transport, version of NCCL, verdict, IPC_LOCK, version of fabric-admission",
    ),
    gauge(
        "fabric_monitor_nccl_transport",
        "1",
        "log of NCCL, or bytes",
        "Transport that NCCL uses between nodes, as a label: rdma, cloud, tcp or unknown; label source is log or bytes",
    ),
    gauge(
        "fabric_monitor_tcp_fallback",
        "0 or 1",
        "log of NCCL, or bytes",
        "1 if NCCL sends over TCP between nodes and the profile expects another transport, else 0; absent while the transport is unknown",
    ),
    gauge(
        "fabric_monitor_traffic_rdma_bytes_per_second",
        "bytes per second",
        "counters of ports",
        "Bytes that RDMA devices moved in the last window of at least a minute",
    ),
    gauge(
        "fabric_monitor_traffic_rdma_requests_per_second",
        "requests per second",
        "counters of ports",
        "RDMA requests that other nodes sent in the last window; present only for drivers that do not count bytes",
    ),
    gauge(
        "fabric_monitor_traffic_received_bytes_per_second",
        "bytes per second",
        "`/proc/net/dev`",
        "Bytes that interfaces received in the last window",
    ),
    gauge(
        "fabric_monitor_traffic_sent_bytes_per_second",
        "bytes per second",
        "`/proc/net/dev`",
        "Bytes that interfaces sent in the last window",
    ),
    gauge(
        "fabric_monitor_ras_answers",
        "0 or 1",
        "NCCL's RAS",
        "1 if RAS answered the last request, else 0; absent without --ras-port, and on ranks other than 0",
    ),
    gauge(
        "fabric_monitor_ras_missing_ranks",
        "ranks",
        "NCCL's RAS",
        "Number of ranks that did not answer, for the communicator with the most missing ranks",
    ),
    gauge(
        "fabric_monitor_ras_dead_processes",
        "processes",
        "NCCL's RAS",
        "Number of processes that NCCL considers dead",
    ),
    gauge(
        "fabric_monitor_ras_stuck_communicators",
        "communicators",
        "NCCL's RAS",
        "Stuck communicators: their ranks have different counts of operations, and the counts do not change",
    ),
];
