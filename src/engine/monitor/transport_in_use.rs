//! Which transport a pod uses, by the log of NCCL or by bytes, and whether that is a fallback to TCP.

use crate::nccl_log::{Log, Transport, transport};

/// What shows a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The log of NCCL.
    Log,
    /// Bytes of RDMA devices and of interfaces.
    Bytes,
}

impl Source {
    /// Its name in a label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Bytes => "bytes",
        }
    }
}

/// The transport that a pod uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The transport.
    pub transport: Transport,
    /// What shows it.
    pub source: Source,
}

impl Used {
    /// The transport by the log where it shows one, else by the bytes. GPUDirect-TCPX moves its data over interfaces, so
    /// that bytes say nothing there.
    #[must_use]
    pub fn from_log_else_bytes(
        log: Option<Transport>,
        bytes: Option<Transport>,
        expected: Option<&str>,
    ) -> Option<Self> {
        let bytes = bytes.filter(|_| !matches!(expected, Some("tcpx" | "tcpxo")));
        let log = log.map(|transport| Self { transport, source: Source::Log });
        let bytes = bytes.map(|transport| Self { transport, source: Source::Bytes });
        log.filter(|used| used.transport != Transport::Unknown).or(bytes).or(log)
    }

    /// Whether it is TCP, and the profile does not expect TCP.
    #[must_use]
    pub fn is_fallback(&self, expected: Option<&str>) -> bool {
        self.transport == Transport::Tcp && expected != Some("ethernet")
    }
}

/// The transport that a log of NCCL shows, over all communicators that send over the network: the worst one.
#[must_use]
pub fn transport_of(log: &Log) -> Option<Transport> {
    let crossing = log.communicators().iter().filter(|communicator| log.does_use_network(communicator));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_wins_over_bytes_where_it_shows_a_transport() {
        let used = |transport, source| Some(Used { transport, source });
        for (log, bytes, expected) in [
            (Some(Transport::Rdma), Some(Transport::Tcp), used(Transport::Rdma, Source::Log)),
            (Some(Transport::Unknown), Some(Transport::Tcp), used(Transport::Tcp, Source::Bytes)),
            (Some(Transport::Unknown), None, used(Transport::Unknown, Source::Log)),
            (None, Some(Transport::Rdma), used(Transport::Rdma, Source::Bytes)),
            (None, None, None),
        ] {
            assert_eq!(Used::from_log_else_bytes(log, bytes, None), expected, "{log:?} {bytes:?}");
        }
        assert_eq!(Used::from_log_else_bytes(None, Some(Transport::Tcp), Some("tcpxo")), None);
    }

    #[test]
    fn tcp_is_a_fallback_unless_the_profile_expects_it() {
        let tcp = Used { transport: Transport::Tcp, source: Source::Bytes };
        assert!(tcp.is_fallback(None) && tcp.is_fallback(Some("roce")));
        assert!(!tcp.is_fallback(Some("ethernet")));
        assert!(!Used { transport: Transport::Rdma, ..tcp }.is_fallback(None));
    }
}
