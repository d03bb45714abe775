//! Counters of a port: the fixed list of files that is read. Device-level `hw_counters` are not on it: reading them in a pod
//! crashed kernels from 5.14 until 2025.

/// Folder below `ports/N/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// `counters`; those of few bits stop at their maximum.
    Port,
    /// `hw_counters`; they wrap.
    Hardware,
}

impl Folder {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Port => "counters",
            Self::Hardware => "hw_counters",
        }
    }
}

/// A counter.
#[derive(Debug)]
pub struct PortCounter {
    /// Folder of its file.
    pub folder: Folder,
    /// File.
    pub file: &'static str,
    /// Metric, after `node_infiniband_`; the names are those of node_exporter where it has one.
    pub metric: &'static str,
    /// Factor of the value: port data is counted in words of four bytes.
    pub factor: u64,
    /// What a rise means.
    pub help: &'static str,
}

const fn port(file: &'static str, metric: &'static str, help: &'static str) -> PortCounter {
    PortCounter { folder: Folder::Port, file, metric, factor: 1, help }
}

const fn data(file: &'static str, metric: &'static str, help: &'static str) -> PortCounter {
    PortCounter { folder: Folder::Port, file, metric, factor: 4, help }
}

const fn hardware(file: &'static str, metric: &'static str, help: &'static str) -> PortCounter {
    PortCounter { folder: Folder::Hardware, file, metric, factor: 1, help }
}

/// The counters, in the order of the page.
pub static COUNTERS: [PortCounter; 47] = [
    data("port_rcv_data", "port_data_received_bytes_total", "Bytes received"),
    data("port_xmit_data", "port_data_transmitted_bytes_total", "Bytes sent"),
    port("port_rcv_packets", "port_packets_received_total", "Packets received"),
    port("port_xmit_packets", "port_packets_transmitted_total", "Packets sent"),
    port(
        "port_rcv_errors",
        "port_errors_received_total",
        "Packets received with an error (cause: cable or transceiver)",
    ),
    port(
        "port_xmit_discards",
        "port_discards_transmitted_total",
        "Packets dropped before sending (cause: congestion, or a port that is down)",
    ),
    port(
        "port_xmit_wait",
        "port_transmit_wait_total",
        "Ticks in which data waited and nothing was sent (cause: congestion)",
    ),
    port(
        "port_rcv_constraint_errors",
        "port_constraint_errors_received_total",
        "Packets that a filter, such as a partition, dropped on receipt",
    ),
    port(
        "port_xmit_constraint_errors",
        "port_constraint_errors_transmitted_total",
        "Packets that a filter, such as a partition, dropped before sending",
    ),
    port(
        "port_rcv_remote_physical_errors",
        "port_receive_remote_physical_errors_total",
        "Packets received that were already marked as bad on another link",
    ),
    port(
        "port_rcv_switch_relay_errors",
        "port_receive_switch_relay_errors_total",
        "Packets that a switch could not forward",
    ),
    port("link_downed", "link_downed_total", "How often the link went down"),
    port("link_error_recovery", "link_error_recovery_total", "How often the link recovered from an error"),
    port(
        "local_link_integrity_errors",
        "local_link_integrity_errors_total",
        "How often local physical errors exceeded a threshold",
    ),
    port(
        "excessive_buffer_overrun_errors",
        "excessive_buffer_overrun_errors_total",
        "How often a receive buffer overran",
    ),
    port("symbol_error", "symbol_error_total", "Minor link errors (cause: cable or transceiver)"),
    port("VL15_dropped", "vl15_dropped_total", "Management packets dropped because no buffer was free"),
    hardware(
        "np_cnp_sent",
        "np_cnp_packets_sent_total",
        "Congestion notifications sent to senders (cause: congestion on the way to this port)",
    ),
    hardware(
        "np_ecn_marked_roce_packets",
        "np_ecn_marked_roce_packets_received_total",
        "Packets received with a congestion mark",
    ),
    hardware(
        "rp_cnp_handled",
        "rp_cnp_packets_handled_total",
        "Congestion notifications received, which reduce the sending rate of this port",
    ),
    hardware(
        "rp_cnp_ignored",
        "rp_cnp_ignored_packets_received_total",
        "Congestion notifications received and ignored (cause: congestion control is off)",
    ),
    hardware(
        "out_of_sequence",
        "out_of_sequence_packets_received_total",
        "Packets received out of order (cause: loss, or adaptive routing)",
    ),
    hardware(
        "packet_seq_err",
        "packet_sequence_errors_total",
        "Negative acknowledgements received (cause: loss)",
    ),
    hardware(
        "local_ack_timeout_err",
        "local_ack_timeout_errors_total",
        "Acknowledgements that did not arrive in time; the packets were sent again",
    ),
    hardware(
        "req_transport_retries_exceeded",
        "req_transport_retries_exceeded_total",
        "Connections that failed after their last retry; NCCL fails with status 12",
    ),
    hardware(
        "req_rnr_retries_exceeded",
        "req_rnr_retries_exceeded_total",
        "Connections that failed because the receiver was not ready after the last retry",
    ),
    hardware(
        "rnr_nak_retry_err",
        "rnr_nak_retry_packets_received_total",
        "Answers of receivers that were not ready (RNR NAK); the packets were sent again",
    ),
    hardware("roce_adp_retrans", "roce_adp_retransmits_total", "Adaptive retransmissions"),
    hardware(
        "roce_adp_retrans_to",
        "roce_adp_retransmits_timeout_total",
        "Timeouts of adaptive retransmission",
    ),
    hardware(
        "out_of_buffer",
        "out_of_buffer_drops_total",
        "Packets dropped because the application had posted no receive request",
    ),
    hardware(
        "rx_icrc_encapsulated",
        "rx_icrc_encapsulated_errors_total",
        "RoCE packets received with a wrong checksum (cause: cable or switch)",
    ),
    hardware("rx_write_requests", "rx_write_requests_total", "RDMA writes received"),
    hardware("rx_read_requests", "rx_read_requests_total", "RDMA reads received"),
    hardware(
        "tx_bytes",
        "hw_transmitted_bytes_total",
        "Bytes sent, from drivers with this counter (EFA, bnxt_re)",
    ),
    hardware(
        "rx_bytes",
        "hw_received_bytes_total",
        "Bytes received, from drivers with this counter (EFA, bnxt_re)",
    ),
    hardware("retrans_bytes", "hw_retransmitted_bytes_total", "Bytes sent again (EFA)"),
    hardware(
        "tx_pkts",
        "hw_transmitted_packets_total",
        "Packets sent, from drivers with this counter (EFA, bnxt_re)",
    ),
    hardware(
        "rx_pkts",
        "hw_received_packets_total",
        "Packets received, from drivers with this counter (EFA, bnxt_re)",
    ),
    hardware("rx_drops", "hw_received_packets_dropped_total", "Packets dropped on receipt (EFA)"),
    hardware("retrans_pkts", "hw_retransmitted_packets_total", "Packets sent again (EFA; cause: loss)"),
    hardware(
        "retrans_timeout_events",
        "hw_retransmit_timeouts_total",
        "How often packets were sent again because no acknowledgement arrived in time (EFA)",
    ),
    hardware(
        "rx_ecn_marked_pkts",
        "ecn_marked_packets_received_total",
        "Packets received with a congestion mark (bnxt_re)",
    ),
    hardware(
        "to_retransmits",
        "timeout_retransmits_total",
        "How often packets were sent again after a timeout (bnxt_re)",
    ),
    hardware(
        "seq_err_naks_rcvd",
        "sequence_error_naks_received_total",
        "Negative acknowledgements received for packets out of order (bnxt_re; cause: loss)",
    ),
    hardware(
        "rnr_naks_rcvd",
        "rnr_naks_received_total",
        "Answers of receivers that were not ready (RNR NAK); the packets were sent again (bnxt_re)",
    ),
    hardware(
        "max_retry_exceeded",
        "max_retry_exceeded_total",
        "Connections that failed after their last retry (bnxt_re); NCCL fails with status 12",
    ),
    hardware(
        "res_oos_drop_count",
        "out_of_sequence_drops_total",
        "Packets dropped because they arrived out of order (bnxt_re; cause: loss, or adaptive routing)",
    ),
];
