//! `monitor` as a process: metrics of modelled trees, a log that shows a fallback, wrong requests, and SIGTERM.

use crate::support::file_trees::Tree;
use crate::support::monitor::Monitor;
use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Scratch, golden, read, root, run};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Two devices with counters: one saturates, some cannot be read. The device-level counters are a pipe, which would block
/// a reader for good.
const EXCLUSIVE: &str = "sys/class/infiniband/mlx5_{0..1}/ports/1/state = 4: ACTIVE
sys/class/infiniband/mlx5_{0..1}/ports/1/phys_state = 5: LinkUp
sys/class/infiniband/mlx5_{0..1}/ports/1/rate = 400 Gb/sec (4X NDR)
sys/class/infiniband/mlx5_{0..1}/ports/1/counters/port_rcv_data = 1000
sys/class/infiniband/mlx5_{0..1}/ports/1/counters/port_xmit_data = 2000
sys/class/infiniband/mlx5_0/ports/1/counters/link_downed = 255
sys/class/infiniband/mlx5_1/ports/1/counters/link_downed = 0
sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_wait = many
sys/class/infiniband/mlx5_1/ports/1/counters/symbol_error = N/A (no PMA)
sys/class/infiniband/mlx5_1/ports/1/counters/port_rcv_errors : pipe
sys/class/infiniband/mlx5_{0..1}/ports/1/hw_counters/np_cnp_sent = 7
sys/class/infiniband/mlx5_{0..1}/hw_counters/lifespan : pipe
.preflight/filesystems = /dev/shm 0x1021994 68719476736 68719472640
";

/// Shared mode: ports without counters. The kernel gives some by netlink, also of a device that the pod does not have.
const NETLINK: &str = "sys/class/infiniband/mlx5_{0..1}/ports/1/state = 4: ACTIVE
sys/class/infiniband/mlx5_{0..1}/ports/1/phys_state = 5: LinkUp
sys/class/infiniband/mlx5_{0..1}/hw_counters/lifespan : pipe
.preflight/rdma-namespaces = shared
.preflight/rdma-counters = mlx5_0 1 np_cnp_sent 7
.preflight/rdma-counters = mlx5_0 1 rx_write_requests 4294967295
.preflight/rdma-counters = mlx5_0 1 cc_rx_ce_pkts 1
.preflight/rdma-counters = mlx5_0 2 np_cnp_sent 8
.preflight/rdma-counters = mlx5_9 1 np_cnp_sent 9
";

/// Counters of drivers other than mlx5.
const EFA_AND_BNXT: &str = "sys/class/infiniband/rdmap{0..1}s27/ports/1/hw_counters/tx_pkts = 11
sys/class/infiniband/rdmap{0..1}s27/ports/1/hw_counters/rx_pkts = 12
sys/class/infiniband/rdmap{0..1}s27/ports/1/hw_counters/rx_drops = 13
sys/class/infiniband/rdmap{0..1}s27/ports/1/hw_counters/retrans_pkts = 14
sys/class/infiniband/rdmap{0..1}s27/ports/1/hw_counters/retrans_timeout_events = 15
sys/class/infiniband/bnxt_re0/ports/1/hw_counters/rx_ecn_marked_pkts = 21
sys/class/infiniband/bnxt_re0/ports/1/hw_counters/to_retransmits = 22
sys/class/infiniband/bnxt_re0/ports/1/hw_counters/seq_err_naks_rcvd = 23
sys/class/infiniband/bnxt_re0/ports/1/hw_counters/rnr_naks_rcvd = 24
sys/class/infiniband/bnxt_re0/ports/1/hw_counters/max_retry_exceeded = 25
sys/class/infiniband/bnxt_re0/ports/1/hw_counters/res_oos_drop_count = 26
sys/class/infiniband/bnxt_re0/ports/1/hw_counters/tx_pkts = 27
";

/// Odd files: of an interface table, of a GID table, and of the kernel's answers.
const ODD: &str = "sys/class/infiniband/mlx5_0/ports/1/state = ACTIVE
sys/class/infiniband/mlx5_0/ports/1/phys_state : dir
sys/class/infiniband/mlx5_0/ports/1/rate = 400 Gb/sec (4X NDR)
sys/class/infiniband/mlx5_0/ports/1/link_layer = InfiniBand
sys/class/infiniband/mlx5_0/ports/1/gids/0 = nonsense
sys/class/infiniband/mlx5_0/ports/one/state = 4: ACTIVE
proc/net/dev = nonsense
.preflight/rdma-namespaces = shared
.preflight/rdma-counters = nonsense
.preflight/filesystems = nonsense
";

/// Shared mode: ports without counters.
const SHARED: &str = "sys/class/infiniband/mlx5_{0..1}/ports/1/state = 4: ACTIVE
sys/class/infiniband/mlx5_{0..1}/ports/1/phys_state = 5: LinkUp
sys/class/infiniband/mlx5_{0..1}/ports/1/rate = 200 Gb/sec (4X HDR)
";

pub(crate) fn add(suite: &mut Suite) {
    for (name, tree) in [
        ("exclusive", EXCLUSIVE),
        ("shared", SHARED),
        ("shared-with-netlink", NETLINK),
        ("efa-and-bnxt", EFA_AND_BNXT),
        ("odd", ODD),
        ("nothing", ""),
    ] {
        suite.add(format!("monitor::{name}"), move || {
            let monitor = Monitor::of_tree(tree, &[])?;
            let metrics = monitor.get("/metrics")?;
            Ok(golden(&root().join(format!("tests/metrics-of-monitor/{name}.prom")), Some(&metrics))?)
        });
    }
    suite.add("monitor::a_fallback_is_a_metric_and_one_log_line", || Ok(fallback()?));
    suite.add("monitor::bytes_of_interfaces", || Ok(interfaces()?));
    suite.add("monitor::changes_of_gids_are_counted", || Ok(gids()?));
    suite.add("monitor::a_device_that_vanishes_is_absent", || Ok(vanished()?));
    suite.add("monitor::an_odd_file_is_logged_once", || Ok(logged_once()?));
    suite.add("monitor::devices_of_the_facts_only", || Ok(devices()?));
    suite.add("monitor::ras_answers_from_both_addresses", || Ok(ras()?));
    suite.add("monitor::ras_that_answers_nonsense_is_absent", || Ok(ras_nonsense()?));
    suite.add("monitor::ras_is_asked_by_rank_0_only", || Ok(ranks()?));
    suite.add("monitor::a_log_that_is_cut_is_read_again", || Ok(rotated()?));
    suite.add("monitor::facts_of_another_version_are_absent", || Ok(facts()?));
    suite.add("monitor::other_requests_get_no_metrics", || {
        let monitor = Monitor::of_tree(SHARED, &[])?;
        same("/healthz", "ok\n", monitor.get("/healthz")?.as_str())?;
        let answer = monitor.ask("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")?;
        same(&answer, true, answer.starts_with("HTTP/1.1 405"))?;
        let answer = monitor.ask("GET /secret HTTP/1.1\r\nHost: a\r\n\r\n")?;
        Ok(same(&answer, true, answer.starts_with("HTTP/1.1 404"))?)
    });
    suite.add("monitor::sigterm_ends_it_at_once", || Ok(sigterm()?));
    suite.add("monitor::sixty_four_devices_cost_little", || Ok(cost()?));
    suite.add("monitor::a_wrong_address_is_usage", || {
        let ran = run(&["monitor", "--listen", "nowhere"], b"", root())?;
        same("exit code", 2, ran.code)?;
        Ok(same(&ran.stderr, true, ran.stderr.contains(":9406"))?)
    });
    suite.add("monitor::page_is_current", || {
        Ok(golden(&root().join("docs/monitor.md"), Some(&fabric_admission::monitor::page()))?)
    });
}

/// Counters that mlx5 has, on 64 devices.
fn many_devices() -> String {
    let mut tree = "dev/infiniband/uverbs{0..63} = x\n".to_owned();
    let port = "sys/class/infiniband/mlx5_{0..63}/ports/1";
    for (file, value) in [
        ("state", "4: ACTIVE"),
        ("phys_state", "5: LinkUp"),
        ("rate", "400 Gb/sec (4X NDR)"),
        ("link_layer", "Ethernet"),
    ] {
        tree.push_str(&format!("{port}/{file} = {value}\n"));
    }
    let counters = [
        "link_downed",
        "link_error_recovery",
        "port_rcv_data",
        "port_rcv_errors",
        "port_rcv_packets",
        "port_xmit_data",
        "port_xmit_discards",
        "port_xmit_packets",
        "port_xmit_wait",
        "symbol_error",
    ];
    let hardware = [
        "duplicate_request",
        "implied_nak_seq_err",
        "local_ack_timeout_err",
        "np_cnp_sent",
        "np_ecn_marked_roce_packets",
        "out_of_buffer",
        "out_of_sequence",
        "packet_seq_err",
        "rnr_nak_retry_err",
        "roce_adp_retrans",
        "rp_cnp_handled",
        "rp_cnp_ignored",
    ];
    tree.extend(counters.map(|name| format!("{port}/counters/{name} = 123456789\n")));
    tree.extend(hardware.map(|name| format!("{port}/hw_counters/{name} = 123456789\n")));
    tree
}

/// A number of /proc/PID/status (kB).
fn status(pid: u32, key: &str) -> Result<u64, String> {
    let text = read(Path::new(&format!("/proc/{pid}/status")))?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| format!("no {key}"))
}

/// CPU time of a process (ms): the fields utime and stime of /proc/PID/stat, in hundredths of a second.
fn cpu(pid: u32) -> Result<u64, String> {
    let text = read(Path::new(&format!("/proc/{pid}/stat")))?;
    let fields =
        text.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect::<Vec<_>>()).unwrap_or_default();
    let times = [11, 12].map(|at| fields.get(at).and_then(|field| field.parse::<u64>().ok()));
    times.into_iter().sum::<Option<u64>>().map(|ticks| ticks * 10).ok_or_else(|| "no times".to_owned())
}

/// The figures of docs/monitor.md are those of the static binary of a release, where one is given.
fn cost() -> Result<(), String> {
    const SCRAPES: u64 = 40;
    let scratch = Scratch::new()?;
    Tree::parse(&many_devices())?.write(scratch.path())?;
    // Four rows of this pod and 252 empty ones, as the table of a ConnectX has.
    for (device, row) in (0..64).flat_map(|device| (0..256).map(move |row| (device, row))) {
        let gid = if row < 4 {
            "0000:0000:0000:0000:0000:ffff:0a01:0005"
        } else {
            "0000:0000:0000:0000:0000:0000:0000:0000"
        };
        scratch
            .write(&format!("sys/class/infiniband/mlx5_{device}/ports/1/gids/{row}"), format!("{gid}\n"))?;
    }
    scratch.write(".preflight/addresses", "rail0 10.1.0.5/24\n")?;
    // A job that runs for weeks with NCCL_DEBUG=INFO.
    let log = read(&root().join("tests/verify-log/nccl-2.18.log"))?;
    scratch.write("nccl/trainer.log", log.repeat((24 << 20) / log.len()))?;
    let release = std::env::var_os("FABRIC_ADMISSION_STATIC");
    let program = release.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_fabric-admission").into());
    let monitor = Monitor::of_program(&program, scratch, &["--nccl-log", "nccl"])?;
    let pid = monitor.child.id();
    // The first scrapes read the log, and the whole tables of GIDs.
    let first = cpu(pid)?;
    for _ in 0..5 {
        let metrics = monitor.get("/metrics")?;
        for metric in ["node_infiniband_state_id{", "fabric_monitor_gid_changes_total{"] {
            same(metric, 64, metrics.matches(&format!("\n{metric}")).count())?;
        }
    }
    eprintln!("{} ms of CPU time for the first five scrapes", cpu(pid)? - first);
    let before = cpu(pid)?;
    for _ in 0..SCRAPES {
        monitor.get("/metrics")?;
    }
    let scrape = (cpu(pid)? - before) / SCRAPES;
    let [own, file, all] = ["RssAnon", "RssFile", "VmRSS"].map(|key| status(pid, key));
    let (own, file, all) = (own?, file?, all?);
    eprintln!("{all} kB in memory: {own} kB own, {file} kB of files; {scrape} ms of CPU time per scrape");
    // A debug build has more code, and is slower.
    let (most, slow) = if release.is_some() { (10 << 10, 30) } else { (u64::MAX, 150) };
    same(&format!("{own} kB of its own is little"), true, own < 8 << 10)?;
    same(&format!("{all} kB in memory is little"), true, all <= most)?;
    // 30 ms every 15 s are 0.2 % of a core.
    same(&format!("{scrape} ms per scrape is little"), true, scrape <= slow)
}

fn fallback() -> Result<(), String> {
    let monitor = {
        let scratch = Scratch::new()?;
        std::fs::create_dir(scratch.path().join("nccl")).map_err(|e| e.to_string())?;
        Monitor::start(scratch, &["--nccl-log", "nccl"])?
    };
    let metrics = monitor.get("/metrics")?;
    same("before a line", false, metrics.contains("fabric_monitor_tcp_fallback"))?;
    let log = read(&root().join("tests/verify-log/no-device.log"))?;
    let file = monitor.scratch.path().join("nccl/trainer.log");
    // The log grows between two scrapes, in the middle of a line.
    std::fs::write(&file, &log[..1000]).map_err(|e| e.to_string())?;
    monitor.get("/metrics")?;
    std::fs::write(&file, &log).map_err(|e| e.to_string())?;
    for _ in 0..3 {
        let metrics = monitor.get("/metrics")?;
        same(&metrics, true, metrics.contains("\nfabric_monitor_tcp_fallback{source=\"log\"} 1\n"))?;
    }
    monitor.line("tcp-fallback")?;
    same("second log line", true, monitor.errors.try_recv().is_err())?;
    // A restarted container writes a new, shorter file: the old facts are gone.
    let log = read(&root().join("tests/verify-log/nccl-2.18.log"))?;
    std::fs::write(&file, log).map_err(|e| e.to_string())?;
    let metrics = monitor.get("/metrics")?;
    same(
        &metrics,
        true,
        metrics.contains("transport=\"rdma\",source=\"log\"} 1")
            && metrics.contains("tcp_fallback{source=\"log\"} 0"),
    )
}

/// `/proc/net/dev` with one interface.
pub(super) fn net_dev(received: u64, sent: u64) -> String {
    format!("Inter-|   Receive\n face |bytes\n  eth0: {received} 1 0 0 0 0 0 0 {sent} 1 0 0 0 0 0 0\n")
}

fn interfaces() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("proc/net/dev", net_dev(123, 456))?;
    let monitor = Monitor::start(scratch, &[])?;
    let metrics = monitor.get("/metrics")?;
    for line in [
        "node_network_receive_bytes_total{device=\"eth0\"} 123",
        "node_network_transmit_bytes_total{device=\"eth0\"} 456",
    ] {
        same(&metrics, true, metrics.lines().any(|found| found == line))?;
    }
    Ok(())
}

fn gids() -> Result<(), String> {
    let rows = |last: &str| {
        format!(
            "sys/class/infiniband/mlx5_{{0..1}}/ports/1/link_layer = Ethernet
sys/class/infiniband/mlx5_{{0..1}}/ports/1/gids/0 = fe80:0000:0000:0000:0000:0000:0000:0001
sys/class/infiniband/mlx5_{{0..1}}/ports/1/gids/1 = 0000:0000:0000:0000:0000:ffff:0a01:00{last}
sys/class/infiniband/mlx5_{{0..1}}/ports/1/gids/2 = 0000:0000:0000:0000:0000:ffff:0a63:0001
sys/class/infiniband/mlx5_{{0..1}}/ports/1/gids/3 = 0000:0000:0000:0000:0000:0000:0000:0000
.preflight/addresses = rail0 10.1.0.5/24
"
        )
    };
    let monitor = Monitor::of_tree(&rows("05"), &[])?;
    let count =
        |device: u32| format!("fabric_monitor_gid_changes_total{{device=\"mlx5_{device}\",port=\"1\"}} ");
    let expect = |label: &str, changes: u64| {
        let metrics = monitor.get("/metrics")?;
        let has = |device| metrics.contains(&format!("{}{changes}\n", count(device)));
        same(&format!("{label}: {metrics}"), true, has(0) && has(1))
    };
    expect("at first", 0)?;
    // A row of another pod changes nothing; the own row disappears.
    for device in 0..2 {
        let at = |row: u32| format!("sys/class/infiniband/mlx5_{device}/ports/1/gids/{row}");
        monitor.scratch.write(&at(2), "0000:0000:0000:0000:0000:ffff:0a63:0002\n")?;
    }
    expect("another pod", 0)?;
    for device in 0..2 {
        let at = format!("sys/class/infiniband/mlx5_{device}/ports/1/gids/1");
        monitor.scratch.write(&at, "0000:0000:0000:0000:0000:0000:0000:0000\n")?;
    }
    expect("the row is empty", 1)
}

fn vanished() -> Result<(), String> {
    let monitor = Monitor::of_tree(EXCLUSIVE, &[])?;
    same("before", true, monitor.get("/metrics")?.contains("mlx5_1"))?;
    let gone = monitor.scratch.path().join("sys/class/infiniband/mlx5_1");
    std::fs::remove_dir_all(gone).map_err(|e| e.to_string())?;
    let metrics = monitor.get("/metrics")?;
    same(&metrics, true, !metrics.contains("mlx5_1") && metrics.contains("mlx5_0"))
}

fn logged_once() -> Result<(), String> {
    let monitor = Monitor::of_tree(ODD, &[])?;
    for _ in 0..3 {
        monitor.get("/metrics")?;
    }
    let port = "/sys/class/infiniband/mlx5_0/ports/1";
    let expected = vec![
        "/proc/net/dev".to_owned(),
        format!("{port}/gids/0"),
        format!("{port}/phys_state"),
        format!("{port}/state"),
        "netlink RDMA_NLDEV_CMD_STAT_GET".to_owned(),
    ];
    let mut files = Vec::new();
    for _ in &expected {
        let line = monitor.line("unreadable")?;
        let json: serde_json::Value = serde_json::from_str(&line).map_err(|e| format!("{line}: {e}"))?;
        files.push(json["file"].as_str().unwrap_or_default().to_owned());
    }
    files.sort();
    same("files", expected, files)?;
    same("further lines", true, monitor.errors.try_recv().is_err())
}

fn devices() -> Result<(), String> {
    let scratch = Scratch::new()?;
    crate::support::file_trees::Tree::parse(SHARED)?.write(scratch.path())?;
    scratch.write("facts.json", "{\"version\": 1, \"devices\": [{\"name\": \"mlx5_1\"}]}")?;
    let monitor = Monitor::start(scratch, &["--facts", "facts.json"])?;
    let metrics = monitor.get("/metrics")?;
    same(&metrics, true, metrics.contains("mlx5_1") && !metrics.contains("mlx5_0"))
}

/// A server that answers each connection with a text, after it has read the question.
pub(super) fn answering(address: &str, text: &'static str) -> Result<u16, String> {
    let listener = TcpListener::bind(address).map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            let mut question = [0; 64];
            let length = stream.read(&mut question).unwrap_or(0);
            if question[..length] == *b"STATUS\n" {
                let _ = stream.write_all(text.as_bytes());
            }
        }
    });
    Ok(port)
}

/// An answer with a missing rank, in the form of NCCL 2.28.
pub(super) const RAS: &str = "NCCL version 2.28.9+cuda13.0 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13000

Job summary
===========

Communicators... (2.05s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4       7-8        32        32   RUNNING  INCOMPLETE

Errors
======

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  The missing rank: 21
";

/// Metrics after the first answer of RAS.
pub(super) fn asked(port: u16, flags: &[&str]) -> Result<(Monitor, String), String> {
    let port = port.to_string();
    let flags: Vec<&str> = ["--ras-port", port.as_str()].iter().chain(flags).copied().collect();
    let monitor = Monitor::of_tree("", &flags)?;
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let metrics = monitor.get("/metrics")?;
        if metrics.contains("fabric_monitor_ras_answers") {
            return Ok((monitor, metrics));
        }
        same(&metrics, true, Instant::now() < end)?;
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn ras() -> Result<(), String> {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (_, metrics) = asked(answering(address, RAS)?, &["--rank-index", "", "--rank-index", "0"])?;
        for line in ["answers 1", "missing_ranks 1", "dead_processes 0", "stuck_communicators 0"] {
            same(&metrics, true, metrics.contains(&format!("\nfabric_monitor_ras_{line}\n")))?;
        }
    }
    Ok(())
}

fn ras_nonsense() -> Result<(), String> {
    let (monitor, metrics) = asked(answering("127.0.0.1:0", "HTTP/1.1 400 Bad Request\r\n\r\n")?, &[])?;
    same(&metrics, true, metrics.contains("ras_answers 0\n") && !metrics.contains("missing_ranks"))?;
    monitor.line("ras-silent")?;
    Ok(())
}

fn ranks() -> Result<(), String> {
    let port = answering("127.0.0.1:0", RAS)?.to_string();
    for (index, warns) in [("1", false), ("", true)] {
        let flags = ["--ras-port", &port, "--rank-index", index];
        let monitor = Monitor::of_tree("", &flags)?;
        std::thread::sleep(Duration::from_millis(200));
        same(index, false, monitor.get("/metrics")?.contains("fabric_monitor_ras"))?;
        same(index, warns, monitor.early.contains("The rank of this pod is unknown"))?;
    }
    Ok(())
}

/// A log whose last line is cut, a folder whose files become empty, and a folder that a rotation empties.
fn rotated() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let log = read(&root().join("tests/verify-log/no-device.log"))?;
    scratch.write("nccl/a.log", &log)?;
    scratch.write("nccl/b.log", &log[..log.len() / 2])?;
    std::fs::create_dir(scratch.path().join("nccl/folder.log")).map_err(|e| e.to_string())?;
    let monitor = Monitor::start(scratch, &["--nccl-log", "nccl"])?;
    same("before", true, monitor.get("/metrics")?.contains("tcp_fallback{source=\"log\"} 1"))?;
    for file in ["a.log", "b.log"] {
        std::fs::write(monitor.scratch.path().join("nccl").join(file), "").map_err(|e| e.to_string())?;
    }
    let metrics = monitor.get("/metrics")?;
    same(&metrics, false, metrics.contains("tcp_fallback"))?;
    monitor.scratch.write("nccl/a.log", &log)?;
    same("again", true, monitor.get("/metrics")?.contains("tcp_fallback{source=\"log\"} 1"))?;
    std::fs::remove_file(monitor.scratch.path().join("nccl/a.log")).map_err(|e| e.to_string())?;
    let metrics = monitor.get("/metrics")?;
    same(&metrics, false, metrics.contains("tcp_fallback"))?;
    monitor.line("log-restarted")?;
    same("logged once", None, monitor.errors.try_iter().find(|line| line.contains("log-restarted")))
}

fn facts() -> Result<(), String> {
    for (text, expected) in [
        (
            "{\"version\": 1, \"profile\": \"h100-roce\", \"nccl\": \"2.28.9\", \"memlockBytes\": 8388608}",
            true,
        ),
        ("{\"version\": 2}", false),
        ("nonsense", false),
    ] {
        let scratch = Scratch::new()?;
        scratch.write("facts.json", text)?;
        let monitor = Monitor::start(scratch, &["--facts", "facts.json"])?;
        let metrics = monitor.get("/metrics")?;
        same(text, expected, metrics.contains("fabric_monitor_facts_info"))?;
        same(text, expected, metrics.contains("fabric_monitor_memlock_bytes 8388608"))?;
    }
    Ok(())
}

fn sigterm() -> Result<(), String> {
    let mut monitor = Monitor::of_tree(SHARED, &[])?;
    // A client that holds its connection open does not hold the process.
    let held = TcpStream::connect(&monitor.address).map_err(|e| e.to_string())?;
    let began = Instant::now();
    let pid = monitor.child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().map_err(|e| e.to_string())?;
    let status = monitor.child.wait().map_err(|e| e.to_string())?;
    drop(held);
    same("exit code", Some(0), status.code())?;
    same("time", true, began.elapsed() < Duration::from_secs(2))
}
