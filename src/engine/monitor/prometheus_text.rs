//! The text that Prometheus scrapes.

use super::other_metrics::OTHERS;
use super::parse_nccl_ras_answer::Ras;
use super::readings_of_scrape::{Interface, Port, SharedMemory};
use super::transport_by_traffic::Rates;
use super::which_counters_become_metrics::COUNTERS;
use super::{Used, transport_name};
use crate::preflight::facts_json_for_monitor::Facts;
use crate::rdma::Unreadable;
use crate::rdma::net_dev::InterfaceBytes;
use crate::rdma::read_counter_file::Counter;
use std::fmt::Write;

/// All readings of a scrape.
#[derive(Debug, Default)]
pub struct ScrapeReadings {
    /// Ports.
    pub ports: Vec<Port>,
    /// Interfaces.
    pub interfaces: Vec<Interface>,
    /// Files that exist and could not be read.
    pub unreadable: Vec<(String, Unreadable)>,
    /// /dev/shm.
    pub shm: Option<SharedMemory>,
    /// Facts of preflight.
    pub facts: Option<Facts>,
    /// Transport that the profile expects.
    pub expected: Option<String>,
    /// The transport.
    pub transport: Option<Used>,
    /// Averages of the last window.
    pub rates: Option<Rates>,
    /// The answers of RAS; `None` if RAS is not asked.
    pub ras: Option<Ras>,
}

/// The text.
#[must_use]
pub fn text(readings: &ScrapeReadings) -> String {
    let mut out = String::new();
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    write_metric(&mut out, "fabric_monitor_build_info", vec![(version, 1)]);
    let ports = || readings.ports.iter();
    let labels = |port: &Port| format!("device=\"{}\",port=\"{}\"", escaped(&port.device), port.port);
    let of = |value: fn(&Port) -> Option<u64>| {
        ports().filter_map(|port| Some((labels(port), value(port)?))).collect::<Vec<_>>()
    };
    write_metric(&mut out, "node_infiniband_state_id", of(|port| port.state.map(u64::from)));
    write_metric(
        &mut out,
        "node_infiniband_physical_state_id",
        of(|port| port.physical_state.map(u64::from)),
    );
    // A gigabit per second is 125 million bytes.
    write_metric(
        &mut out,
        "node_infiniband_rate_bytes_per_second",
        of(|port| port.gigabits.map(|g| u64::from(g) * 125_000_000)),
    );
    for (at, counter) in COUNTERS.iter().enumerate() {
        let found = ports().filter_map(|port| {
            let (_, value) = port.counters.iter().find(|(known, _)| *known == at)?;
            let (Counter::Value(value) | Counter::Saturated(value)) = *value;
            Some((labels(port), value.saturating_mul(counter.factor)))
        });
        write_family(
            &mut out,
            &format!("node_infiniband_{}", counter.metric),
            "counter",
            counter.help,
            found.collect(),
        );
    }
    let saturated = ports().flat_map(|port| {
        port.counters.iter().filter_map(move |(at, value)| {
            let file = COUNTERS.get(*at).filter(|_| matches!(value, Counter::Saturated(_)))?.file;
            Some((format!("{},counter=\"{file}\"", labels(port)), 1))
        })
    });
    write_metric(&mut out, "fabric_monitor_saturated", saturated.collect());
    let changes: Vec<(String, u64)> =
        ports().filter_map(|port| Some((labels(port), port.gid_changes?))).collect();
    write_metric(&mut out, "fabric_monitor_gid_changes_total", changes);
    let interface = |value: fn(&InterfaceBytes) -> u64| {
        let label = |i: &Interface| format!("device=\"{}\"", escaped(&i.bytes.interface));
        readings.interfaces.iter().map(|i| (label(i), value(&i.bytes))).collect::<Vec<_>>()
    };
    write_metric(&mut out, "node_network_receive_bytes_total", interface(|i| i.received));
    write_metric(&mut out, "node_network_transmit_bytes_total", interface(|i| i.sent));
    write_metric_without_labels(
        &mut out,
        "fabric_monitor_unreadable_files",
        Some(readings.unreadable.len() as u64),
    );
    write_metric_without_labels(&mut out, "fabric_monitor_shm_size_bytes", readings.shm.map(|shm| shm.size));
    let used = readings.shm.map(|shm| shm.size.saturating_sub(shm.free));
    write_metric_without_labels(&mut out, "fabric_monitor_shm_used_bytes", used);
    if let Some(facts) = &readings.facts {
        write_metric_without_labels(&mut out, "fabric_monitor_memlock_bytes", facts.memlock_bytes);
        let label = |name, value: &str| format!("{name}=\"{}\"", escaped(value));
        let all = [
            label("profile", facts.profile.as_deref().unwrap_or_default()),
            label("transport", facts.transport.as_deref().unwrap_or_default()),
            label("nccl", facts.nccl.as_deref().unwrap_or_default()),
            label("verdict", &facts.verdict),
            label("ipc_lock", facts.ipc_lock.map_or("", |has| if has { "true" } else { "false" })),
            label("written_by", &facts.written_by),
        ];
        write_metric(&mut out, "fabric_monitor_facts_info", vec![(all.join(","), 1)]);
    }
    write_transport_metrics(&mut out, readings);
    out
}

/// The transport, with the figures that show it, and the answers of RAS.
fn write_transport_metrics(out: &mut String, readings: &ScrapeReadings) {
    if let Some(used) = readings.transport {
        let source = format!("source=\"{}\"", used.source.name());
        let label = format!("transport=\"{}\",{source}", transport_name(used.transport));
        write_metric(out, "fabric_monitor_nccl_transport", vec![(label, 1)]);
        let fallback = u64::from(used.is_fallback(readings.expected.as_deref()));
        write_metric(out, "fabric_monitor_tcp_fallback", vec![(source, fallback)]);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // rates are never negative
    let whole = |rate: f64| rate as u64;
    let rates = readings.rates;
    let of = |name: &str, rate: fn(Rates) -> Option<f64>, out: &mut String| {
        write_metric_without_labels(out, name, rates.and_then(rate).map(whole));
    };
    of("fabric_monitor_traffic_rdma_bytes_per_second", |r| r.rdma_bytes, out);
    of("fabric_monitor_traffic_rdma_requests_per_second", |r| r.rdma_requests, out);
    of("fabric_monitor_traffic_received_bytes_per_second", |r| Some(r.received), out);
    of("fabric_monitor_traffic_sent_bytes_per_second", |r| Some(r.sent), out);
    let Some(ras) = &readings.ras else { return };
    write_metric_without_labels(out, "fabric_monitor_ras_answers", Some(u64::from(ras.answer.is_some())));
    let Some(answer) = &ras.answer else { return };
    write_metric_without_labels(out, "fabric_monitor_ras_missing_ranks", Some(answer.missing_ranks));
    write_metric_without_labels(out, "fabric_monitor_ras_dead_processes", Some(answer.dead_processes));
    write_metric_without_labels(out, "fabric_monitor_ras_stuck_communicators", Some(ras.stuck));
}

/// A metric without labels.
fn write_metric_without_labels(out: &mut String, name: &str, value: Option<u64>) {
    write_metric(out, name, value.map(|value| (String::new(), value)).into_iter().collect());
}

/// A metric of [`OTHERS`].
fn write_metric(out: &mut String, name: &str, samples: Vec<(String, u64)>) {
    let known = OTHERS.iter().find(|known| known.name == name);
    write_family(out, name, known.map_or("gauge", |k| k.kind), known.map_or("", |k| k.help), samples);
}

/// A family; without a sample it is absent.
fn write_family(out: &mut String, name: &str, kind: &str, help: &str, samples: Vec<(String, u64)>) {
    if samples.is_empty() {
        return;
    }
    // Writing to a String does not fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in samples {
        let _ = if labels.is_empty() {
            writeln!(out, "{name} {value}")
        } else {
            writeln!(out, "{name}{{{labels}}} {value}")
        };
    }
}

/// A label's value.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str) -> usize {
        COUNTERS.iter().position(|counter| counter.file == file).unwrap()
    }

    #[test]
    fn a_missing_reading_is_absent_and_never_0() {
        let nothing = text(&ScrapeReadings {
            ports: vec![Port { device: "mlx5_0".to_owned(), port: 1, ..Port::default() }],
            ..ScrapeReadings::default()
        });
        assert_eq!(
            nothing.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>(),
            [
                concat!("fabric_monitor_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
                "fabric_monitor_unreadable_files 0"
            ]
        );
    }

    #[test]
    fn a_saturated_counter_is_exported_as_saturated() {
        let counters = vec![
            (place("link_downed"), Counter::Saturated(255)),
            (place("port_rcv_data"), Counter::Value(10)),
        ];
        let port =
            Port { device: "mlx5_0".to_owned(), port: 1, gigabits: Some(400), counters, ..Port::default() };
        let text = text(&ScrapeReadings { ports: vec![port], ..ScrapeReadings::default() });
        for line in [
            "node_infiniband_link_downed_total{device=\"mlx5_0\",port=\"1\"} 255",
            "fabric_monitor_saturated{device=\"mlx5_0\",port=\"1\",counter=\"link_downed\"} 1",
            "node_infiniband_port_data_received_bytes_total{device=\"mlx5_0\",port=\"1\"} 40",
            "node_infiniband_rate_bytes_per_second{device=\"mlx5_0\",port=\"1\"} 50000000000",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert_eq!(text.matches("monitor_saturated{").count(), 1);
    }

    #[test]
    fn metrics_have_names_of_their_own_and_labels_are_escaped() {
        let names: std::collections::BTreeSet<&str> = COUNTERS.iter().map(|counter| counter.metric).collect();
        assert_eq!(names.len(), COUNTERS.len());
        let others: std::collections::BTreeSet<&str> = OTHERS.iter().map(|other| other.name).collect();
        assert_eq!(others.len(), OTHERS.len());
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
