//! A real Prometheus scrapes monitors of two pods over time: one of a job with faults, one of a healthy job. Every panel
//! of the jobs' dashboard shows something, every alert is true for the first, and none for the second.

use super::alerts::{alerts, rules};
use super::dashboard::queries;
use super::prometheus::Prometheus;
use crate::support::monitor::Monitor;
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{read, root};
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    if suite.need(Need::Prometheus, "monitoring::jobs").is_some() {
        suite.add("monitoring::a_monitor_over_time_shows_every_panel_and_alert", over_time);
    }
}

/// A pod with two devices.
const TREE: &str = "sys/class/infiniband/mlx5_{0..1}/ports/1/state = 4: ACTIVE
sys/class/infiniband/mlx5_{0..1}/ports/1/phys_state = 5: LinkUp
sys/class/infiniband/mlx5_{0..1}/ports/1/rate = 400 Gb/sec (4X NDR)
sys/class/infiniband/mlx5_{0..1}/ports/1/link_layer = Ethernet
sys/class/infiniband/mlx5_{0..1}/ports/1/gids/0 = 0000:0000:0000:0000:0000:ffff:0a01:0005
.preflight/addresses = rail0 10.1.0.5/24
.preflight/filesystems = /dev/shm 0x1021994 1000000 900000
";

/// Counters that grow, in `counters/` with their growth of a step, and in `hw_counters/`.
const PORT: [(&str, u64); 3] =
    [("port_rcv_data", 1_000_000_000), ("port_xmit_data", 1_000_000_000), ("port_xmit_wait", 1000)];
const HARDWARE: [&str; 12] = [
    "np_cnp_sent",
    "rp_cnp_handled",
    "np_ecn_marked_roce_packets",
    "packet_seq_err",
    "local_ack_timeout_err",
    "out_of_sequence",
    "roce_adp_retrans",
    // Of EFA and bnxt_re. No device has all of them, but each query must find its series.
    "retrans_pkts",
    "retrans_timeout_events",
    "rx_ecn_marked_pkts",
    "to_retransmits",
    "seq_err_naks_rcvd",
];

/// Replaces a file at once, so that a scrape between never reads half of it.
fn put(at: &Path, file: &str, content: &str) -> Result<(), String> {
    let (new, file) = (at.join(".new"), at.join(file));
    fs::create_dir_all(file.parent().unwrap_or(at)).map_err(|e| e.to_string())?;
    fs::write(&new, content).and_then(|()| fs::rename(&new, &file)).map_err(|e| e.to_string())
}

/// The state of a pod at a step.
fn step(at: &Path, step: u64, is_faulty: bool) -> Result<(), String> {
    for device in 0..2 {
        let port = format!("sys/class/infiniband/mlx5_{device}/ports/1");
        for (file, each) in PORT {
            put(at, &format!("{port}/counters/{file}"), &(step * each).to_string())?;
        }
        for file in HARDWARE {
            put(at, &format!("{port}/hw_counters/{file}"), &(step * 10).to_string())?;
        }
        // The counter saturates at 255.
        let downed = if is_faulty { (200 + 2 * step).min(255) } else { 3 };
        put(at, &format!("{port}/counters/link_downed"), &downed.to_string())?;
        let lost = if is_faulty { step } else { 1 };
        put(at, &format!("{port}/hw_counters/req_transport_retries_exceeded"), &lost.to_string())?;
    }
    if is_faulty {
        let port = "sys/class/infiniband/mlx5_0/ports/1";
        let state = if step / 6 % 2 == 1 { "1: DOWN" } else { "4: ACTIVE" };
        put(at, &format!("{port}/state"), state)?;
        let gid = if step / 8 % 2 == 1 { "0000:0000:0000:0000:0000:0000:0000:0000" } else { GID };
        put(at, &format!("{port}/gids/0"), gid)?;
        put(at, ".preflight/filesystems", "/dev/shm 0x1021994 1000000 50000\n")?;
    }
    let bytes = step * 1_000_000;
    let net = format!("Inter-|\n face |\n  eth0: {bytes} 1 0 0 0 0 0 0 {bytes} 1 0 0 0 0 0 0\n");
    put(at, "proc/net/dev", &net)
}

const GID: &str = "0000:0000:0000:0000:0000:ffff:0a01:0005";

/// An answer of NCCL's RAS.
fn ras(rest: &'static str) -> Result<String, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            let _ = stream.read(&mut [0; 64]);
            let _ =
                write!(stream, "NCCL version 2.28.9+cuda13.0\n\nGroup     Comms\n    0         1\n{rest}");
        }
    });
    Ok(port.to_string())
}

const MISSING: &str =
    "\nErrors\n======\n\n#0-0 (cf264af53edbe986) INCOMPLETE\n  Missing communicator data from 1 rank\n";

fn monitor(log: &str, port: &str) -> Result<Monitor, String> {
    let scratch = crate::support::Scratch::new()?;
    crate::support::file_trees::Tree::parse(TREE)?.write(scratch.path())?;
    step(scratch.path(), 0, false)?;
    scratch.write("nccl/trainer.log", read(&root().join("tests/verify-log").join(log))?)?;
    Monitor::start(scratch, &["--nccl-log", "nccl", "--ras-port", port])
}

/// A query with the ranges of a test that takes seconds.
fn short(query: &str) -> String {
    ["[10m]", "[15m]", "[30m]", "[1h]", "[$__rate_interval]"]
        .iter()
        .fold(query.to_owned(), |query, range| query.replace(range, "[15s]"))
}

fn over_time() -> Outcome {
    let faulty = monitor("no-device.log", &ras(MISSING)?)?;
    let healthy = monitor("nccl-2.18.log", &ras("")?)?;
    let target = |monitor: &Monitor, pod: &str| json!({"targets": [monitor.address], "labels": {"namespace": "team-a", "pod": pod}});
    let targets = json!([target(&faulty, "faulty-0-x7k2p"), target(&healthy, "healthy-0-9zqwe")]);
    let prometheus = Prometheus::start(&json!([{"job_name": "jobs", "static_configs": targets}]))?;
    let rules = rules()?;
    // RAS is asked once a minute, and a communicator is stuck after two answers: promtool tests that alert.
    let job_alerts = alerts(&rules).into_iter().filter_map(|rule| {
        let (name, expression) = (rule["alert"].as_str()?, rule["expr"].as_str()?);
        let is_tested = name.starts_with("FabricJob") && name != "FabricJobStuck";
        is_tested.then(|| (name.to_owned(), short(expression)))
    });
    let all: Vec<(String, String)> = job_alerts.collect();
    assert_eq!(all.len(), 8);
    let mut silent = all.clone();
    let panels = queries("dashboard-jobs.json")?.into_iter();
    let mut empty: Vec<(String, String)> = panels
        .map(|(title, query)| {
            (title, short(&query).replace("$namespace", "team-a").replace("$job", "faulty"))
        })
        .collect();
    let end = Instant::now() + Duration::from_secs(90);
    for number in 1.. {
        assert!(Instant::now() < end, "no series: {silent:#?} {empty:#?}");
        step(faulty.scratch.path(), number, true)?;
        step(healthy.scratch.path(), number, false)?;
        std::thread::sleep(Duration::from_millis(250));
        if number % 4 != 0 {
            continue;
        }
        for (name, query) in &all {
            let found = prometheus.query(query).unwrap_or_default();
            let pods: Vec<&str> = found.iter().filter_map(|s| s["metric"]["pod"].as_str()).collect();
            assert!(!pods.contains(&"healthy-0-9zqwe"), "{name}: {found:?}");
            if pods.contains(&"faulty-0-x7k2p") {
                silent.retain(|(other, _)| other != name);
            }
        }
        empty.retain(|(_, query)| prometheus.query(query).unwrap_or_default().is_empty());
        if silent.is_empty() && empty.is_empty() {
            break;
        }
    }
    Ok(())
}
