//! The text that Prometheus scrapes.

use super::counters::COUNTERS;
use super::transport_name;
use crate::nccl_log::Transport;
use crate::preflight::facts::Facts;
use crate::rdma::counter::Counter;
use std::fmt::Write;

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
    /// Values, by their place in [`COUNTERS`].
    pub counters: Vec<(usize, Counter)>,
}

/// A file system at /dev/shm.
#[derive(Debug, Clone, Copy)]
pub struct SharedMemory {
    /// Size (bytes).
    pub size: u64,
    /// Free (bytes).
    pub free: u64,
}

/// All readings of a scrape.
#[derive(Debug, Default)]
pub struct Readings {
    /// Ports.
    pub ports: Vec<Port>,
    /// Files that exist and could not be read.
    pub unreadable: u64,
    /// /dev/shm.
    pub shm: Option<SharedMemory>,
    /// Facts of preflight.
    pub facts: Option<Facts>,
    /// The transport, by the log of NCCL.
    pub transport: Option<Transport>,
}

/// The metrics other than counters of ports: name, unit, source and meaning.
pub(super) const OTHERS: [(&str, &str, &str, &str); 11] = [
    ("node_infiniband_state_id", "number", "`ports/N/state`", "Logical state of the port; 4 is active"),
    (
        "node_infiniband_physical_state_id",
        "number",
        "`ports/N/phys_state`",
        "Physical state of the port; 5 is a link that is up",
    ),
    ("node_infiniband_rate_bytes_per_second", "bytes per second", "`ports/N/rate`", "Line rate of the port"),
    (
        "fabric_monitor_saturated",
        "1",
        "`ports/N/counters/*`",
        "A counter that has reached its maximum, where it stays; its rate says nothing",
    ),
    (
        "fabric_monitor_unreadable_files",
        "files",
        "all files",
        "Files of the last scrape that exist and could not be read",
    ),
    ("fabric_monitor_shm_size_bytes", "bytes", "`/dev/shm`", "Size of /dev/shm in this container"),
    ("fabric_monitor_shm_used_bytes", "bytes", "`/dev/shm`", "Used part of /dev/shm"),
    (
        "fabric_monitor_memlock_bytes",
        "bytes",
        "facts of preflight",
        "Limit of locked memory of the training container; absent without a limit",
    ),
    (
        "fabric_monitor_facts_info",
        "1",
        "facts of preflight",
        "Profile, expected transport, version of NCCL and verdict of preflight",
    ),
    (
        "fabric_monitor_nccl_transport",
        "1",
        "log of NCCL",
        "Transport that NCCL uses between nodes: rdma, cloud, tcp or unknown",
    ),
    (
        "fabric_monitor_tcp_fallback",
        "0 or 1",
        "log of NCCL",
        "Whether NCCL sends over TCP between nodes; absent while the log does not show it",
    ),
];

/// The text.
#[must_use]
pub fn text(readings: &Readings) -> String {
    let mut out = String::new();
    let ports = || readings.ports.iter();
    let labels = |port: &Port| format!("device=\"{}\",port=\"{}\"", escaped(&port.device), port.port);
    let of = |value: fn(&Port) -> Option<u64>| {
        ports().filter_map(|port| Some((labels(port), value(port)?))).collect::<Vec<_>>()
    };
    gauge(&mut out, "node_infiniband_state_id", of(|port| port.state.map(u64::from)));
    gauge(&mut out, "node_infiniband_physical_state_id", of(|port| port.physical_state.map(u64::from)));
    // A gigabit per second is 125 million bytes.
    gauge(
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
        family(
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
    gauge(&mut out, "fabric_monitor_saturated", saturated.collect());
    gauge(&mut out, "fabric_monitor_unreadable_files", vec![(String::new(), readings.unreadable)]);
    if let Some(shm) = readings.shm {
        gauge(&mut out, "fabric_monitor_shm_size_bytes", vec![(String::new(), shm.size)]);
        gauge(
            &mut out,
            "fabric_monitor_shm_used_bytes",
            vec![(String::new(), shm.size.saturating_sub(shm.free))],
        );
    }
    if let Some(facts) = &readings.facts {
        let memlock = facts.memlock_bytes.map(|bytes| (String::new(), bytes));
        gauge(&mut out, "fabric_monitor_memlock_bytes", memlock.into_iter().collect());
        let label = |name, value: &str| format!("{name}=\"{}\"", escaped(value));
        let all = [
            label("profile", facts.profile.as_deref().unwrap_or_default()),
            label("transport", facts.transport.as_deref().unwrap_or_default()),
            label("nccl", facts.nccl.as_deref().unwrap_or_default()),
            label("verdict", &facts.verdict),
        ];
        gauge(&mut out, "fabric_monitor_facts_info", vec![(all.join(","), 1)]);
    }
    if let Some(kind) = readings.transport {
        let label = format!("transport=\"{}\"", transport_name(kind));
        gauge(&mut out, "fabric_monitor_nccl_transport", vec![(label, 1)]);
        gauge(
            &mut out,
            "fabric_monitor_tcp_fallback",
            vec![(String::new(), u64::from(kind == Transport::Tcp))],
        );
    }
    out
}

fn gauge(out: &mut String, name: &str, samples: Vec<(String, u64)>) {
    let help = OTHERS.iter().find(|(known, ..)| *known == name).map_or("", |(.., help)| help);
    family(out, name, "gauge", help, samples);
}

/// A family; without a sample it is absent.
fn family(out: &mut String, name: &str, kind: &str, help: &str, samples: Vec<(String, u64)>) {
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
        let nothing = text(&Readings {
            ports: vec![Port { device: "mlx5_0".to_owned(), port: 1, ..Port::default() }],
            ..Readings::default()
        });
        assert_eq!(
            nothing.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>(),
            ["fabric_monitor_unreadable_files 0"]
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
        let text = text(&Readings { ports: vec![port], ..Readings::default() });
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
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
