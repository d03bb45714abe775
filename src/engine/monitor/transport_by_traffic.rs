//! The transport by bytes, for pods without a log of NCCL: whether the RDMA devices or the interfaces move the data while
//! much is moved. It is a conclusion and not a certainty, so its figures are exported beside it.

use super::readings_of_scrape::{Interface, Port};
use super::which_counters_become_metrics::COUNTERS;
use crate::nccl_log::Transport;
use crate::rdma::read_counter_file::Counter;
use std::time::Duration;

/// Shortest time between the two samples of a conclusion.
const MIN_TIME_BETWEEN_SAMPLES: Duration = Duration::from_secs(60);
/// Least bytes per second that count as activity of a training.
const MIN_ACTIVE_BYTES_PER_SECOND: f64 = 10e6;
/// Least RDMA requests per second that count as activity.
const MIN_ACTIVE_REQUESTS_PER_SECOND: f64 = 100.0;

/// What RDMA devices have moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moved {
    /// Bytes of both directions.
    Bytes(u64),
    /// Requests from other nodes, of drivers that count no bytes here (mlx5 in shared mode).
    Requests(u64),
}

/// Sums at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    at: Duration,
    /// Counters and interfaces in the sums (counts). A device that comes back brings everything that it ever moved.
    parts: (usize, usize),
    rdma: Option<Moved>,
    received: u64,
    sent: u64,
    ipoib: u64,
}

/// Averages over a window (per second).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Bytes that RDMA devices moved, both directions; `None` if they count requests only.
    pub rdma_bytes: Option<f64>,
    /// Requests that RDMA devices received, where they count no bytes.
    pub rdma_requests: Option<f64>,
    /// Bytes that interfaces received.
    pub received: f64,
    /// Bytes that interfaces sent.
    pub sent: f64,
}

/// The last conclusion.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traffic {
    start: Option<Sample>,
    /// Averages of the last window.
    pub rates: Option<Rates>,
    /// The transport of the last window with activity.
    pub transport: Option<Transport>,
}

impl Sample {
    /// The sums of a scrape. The time counts from any fixed start.
    #[must_use]
    pub fn sum_of_ports_and_interfaces(ports: &[Port], interfaces: &[Interface], at: Duration) -> Self {
        let sum = |files: &[&str]| {
            let value = |(at, value): &(usize, Counter)| {
                let counter = COUNTERS.get(*at).filter(|counter| files.contains(&counter.file))?;
                match value {
                    Counter::Value(value) => Some((1, value.saturating_mul(counter.factor))),
                    Counter::Saturated(_) => None,
                }
            };
            let values = ports.iter().flat_map(|port| &port.counters).filter_map(value);
            values.reduce(|(count, sum), (_, value)| (count + 1, sum.saturating_add(value)))
        };
        let bytes = sum(&["port_rcv_data", "port_xmit_data"]).or_else(|| sum(&["rx_bytes", "tx_bytes"]));
        let requests = || sum(&["rx_write_requests", "rx_read_requests"]);
        let interfaces = || interfaces.iter().filter(|interface| interface.bytes.interface != "lo");
        let total = |of: fn(&Interface) -> u64| interfaces().map(of).fold(0, u64::saturating_add);
        let moved = |of: fn(u64) -> Moved| move |(count, sum)| (count, of(sum));
        let rdma = bytes.map(moved(Moved::Bytes)).or_else(|| requests().map(moved(Moved::Requests)));
        Self {
            at,
            parts: (rdma.map_or(0, |(count, _)| count), interfaces().count()),
            rdma: rdma.map(|(_, moved)| moved),
            received: total(|i| i.bytes.received),
            sent: total(|i| i.bytes.sent),
            ipoib: total(|i| if i.is_ipoib { i.bytes.received.saturating_add(i.bytes.sent) } else { 0 }),
        }
    }
}

impl Traffic {
    /// Takes a sample. A counter that is lower than before wrapped, or its device disappeared: the window begins again, as
    /// when a device comes back.
    pub fn add_sample_and_conclude(&mut self, sample: Sample) {
        let Some(start) = self.start else {
            self.start = Some(sample);
            return;
        };
        let Some(change) = rates_between(&start, &sample) else {
            self.start = Some(sample);
            return;
        };
        if sample.at.saturating_sub(start.at) < MIN_TIME_BETWEEN_SAMPLES {
            return;
        }
        self.start = Some(sample);
        let (rates, ipoib) = change;
        self.rates = Some(rates);
        self.transport = transport_by_rates(&rates, ipoib).or(self.transport);
    }
}

/// Averages between two samples, with those of IPoIB. `None` if a sum fell, or is not of the same number of parts.
fn rates_between(start: &Sample, end: &Sample) -> Option<(Rates, f64)> {
    if start.parts != end.parts {
        return None;
    }
    let seconds = end.at.saturating_sub(start.at).as_secs_f64();
    #[allow(clippy::cast_precision_loss)] // a rate needs no 53 bits
    let rate = |from: u64, to: u64| to.checked_sub(from).map(|moved| moved as f64 / seconds);
    let (rdma_bytes, rdma_requests) = match (start.rdma, end.rdma) {
        (Some(Moved::Bytes(from)), Some(Moved::Bytes(to))) => (Some(rate(from, to)?), None),
        (Some(Moved::Requests(from)), Some(Moved::Requests(to))) => (None, Some(rate(from, to)?)),
        (None, None) => (None, None),
        _ => return None,
    };
    let (received, sent) = (rate(start.received, end.received)?, rate(start.sent, end.sent)?);
    Some((Rates { rdma_bytes, rdma_requests, received, sent }, rate(start.ipoib, end.ipoib)?))
}

/// What a window shows. RDMA traffic is certain where there is much of it. TCP is concluded only where the devices are
/// silent and the interfaces move much in both directions, as the ring of an all-reduce does: a download of data or an
/// upload of a checkpoint moves data in one.
fn transport_by_rates(rates: &Rates, ipoib: f64) -> Option<Transport> {
    let (low, high) = (rates.received.min(rates.sent), rates.received.max(rates.sent));
    let (is_active, is_silent) = match (rates.rdma_bytes, rates.rdma_requests) {
        // The counters of an InfiniBand port contain IPoIB, with a few bytes of headers for each packet.
        (Some(bytes), _) => {
            let own = bytes - 1.1 * ipoib;
            (own >= MIN_ACTIVE_BYTES_PER_SECOND, own < 0.01 * (low + high))
        }
        (None, Some(requests)) => (requests >= MIN_ACTIVE_REQUESTS_PER_SECOND, requests < 1.0),
        (None, None) => return None,
    };
    if is_active {
        Some(Transport::Rdma)
    } else if is_silent && low >= MIN_ACTIVE_BYTES_PER_SECOND && high <= 3.0 * low {
        Some(Transport::Tcp)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a window of a minute with rates in MB/s: RDMA, received, sent and IPoIB.
    fn minute(traffic: &mut Traffic, [rdma, received, sent, ipoib]: [u64; 4]) -> Option<Transport> {
        let start = traffic.start.unwrap_or(Sample {
            at: Duration::ZERO,
            parts: (2, 1),
            rdma: Some(Moved::Bytes(0)),
            received: 0,
            sent: 0,
            ipoib: 0,
        });
        traffic.add_sample_and_conclude(start);
        let Some(Moved::Bytes(before)) = start.rdma else { return None };
        for part in 1..=4 {
            let moved = |rate: u64| rate * 15_000_000 * part;
            traffic.add_sample_and_conclude(Sample {
                at: start.at + Duration::from_secs(15 * part),
                parts: start.parts,
                rdma: Some(Moved::Bytes(before + moved(rdma))),
                received: start.received + moved(received),
                sent: start.sent + moved(sent),
                ipoib: start.ipoib + moved(ipoib),
            });
        }
        traffic.transport
    }

    #[test]
    fn windows_and_what_they_show() {
        for (rates, expected) in [
            // RDMA, beside a download of data.
            ([4000, 800, 1, 0], Some(Transport::Rdma)),
            // An all-reduce over TCP.
            ([0, 900, 900, 0], Some(Transport::Tcp)),
            // A download, a checkpoint, and nothing.
            ([0, 900, 10, 0], None),
            ([0, 10, 900, 0], None),
            ([0, 0, 0, 0], None),
            // The port counts what IPoIB moves.
            ([920, 450, 450, 900], Some(Transport::Tcp)),
            ([4920, 450, 450, 900], Some(Transport::Rdma)),
            // A little RDMA beside much TCP.
            ([9, 100, 100, 0], None),
        ] {
            assert_eq!(minute(&mut Traffic::default(), rates), expected, "{rates:?}");
        }
    }

    #[test]
    fn a_conclusion_stays_while_nothing_moves() {
        let mut traffic = Traffic::default();
        assert_eq!(minute(&mut traffic, [0, 900, 900, 0]), Some(Transport::Tcp));
        assert_eq!(minute(&mut traffic, [0, 0, 0, 0]), Some(Transport::Tcp));
        assert_eq!(minute(&mut traffic, [4000, 0, 0, 0]), Some(Transport::Rdma));
        assert!(traffic.rates.is_some_and(|r| (r.rdma_bytes.unwrap_or_default() - 4e9).abs() < 1.0));
    }

    #[test]
    fn a_counter_that_falls_begins_the_window_again() {
        let sample = |seconds, rdma, received| Sample {
            at: Duration::from_secs(seconds),
            parts: (2, 1),
            rdma: Some(rdma),
            received,
            sent: 10 << 40,
            ipoib: 0,
        };
        let mut traffic = Traffic::default();
        traffic.add_sample_and_conclude(sample(0, Moved::Requests(u64::from(u32::MAX)), 0));
        traffic.add_sample_and_conclude(sample(60, Moved::Requests(5), 1 << 40));
        assert_eq!((traffic.transport, traffic.rates), (None, None));
        traffic.add_sample_and_conclude(sample(120, Moved::Requests(60_005), 1 << 40));
        assert_eq!(traffic.transport, Some(Transport::Rdma));
        // A device that vanishes has no sum any more.
        traffic.add_sample_and_conclude(sample(180, Moved::Bytes(1), 1 << 41));
        assert_eq!(traffic.start.map(|s| s.at), Some(Duration::from_secs(180)));
    }

    #[test]
    fn a_device_that_comes_back_has_moved_nothing() {
        let sample = |seconds, counters, rdma| Sample {
            at: Duration::from_secs(seconds),
            parts: (counters, 1),
            rdma: Some(Moved::Bytes(rdma)),
            received: 0,
            sent: 0,
            ipoib: 0,
        };
        let mut traffic = Traffic::default();
        for (seconds, counters, rdma) in
            [(0, 4, 5_u64 << 40), (60, 2, 3 << 40), (90, 4, 5 << 40), (150, 4, 5 << 40)]
        {
            traffic.add_sample_and_conclude(sample(seconds, counters, rdma));
            assert_eq!(traffic.transport, None, "after {seconds} s");
        }
        assert_eq!(traffic.rates.and_then(|rates| rates.rdma_bytes), Some(0.0));
    }

    #[test]
    fn without_counters_nothing_is_concluded() {
        let sample = |seconds, bytes| Sample {
            at: Duration::from_secs(seconds),
            parts: (2, 1),
            rdma: None,
            received: bytes,
            sent: bytes,
            ipoib: 0,
        };
        let mut traffic = Traffic::default();
        traffic.add_sample_and_conclude(sample(0, 0));
        traffic.add_sample_and_conclude(sample(60, 1 << 40));
        assert_eq!(traffic.transport, None);
        assert!(traffic.rates.is_some());
    }
}
