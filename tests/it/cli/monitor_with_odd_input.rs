//! `monitor` with odd input: devices that are not there, files that cannot be read, logs that are replaced, and a RAS
//! that never answers.

use super::monitor::{RAS, answering, asked, net_dev};
use crate::support::file_trees::Tree;
use crate::support::monitor::Monitor;
use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Scratch, read, root};
use std::net::TcpListener;

/// Two ports of RoCE, in exclusive mode.
const TWO: &str = "sys/class/infiniband/mlx5_{0..1}/ports/1/state = 4: ACTIVE
sys/class/infiniband/mlx5_{0..1}/ports/1/link_layer = Ethernet
sys/class/infiniband/mlx5_{0..1}/ports/1/counters/port_rcv_data = 1000
";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("monitor::facts_without_devices_export_none", || Ok(no_devices()?));
    suite.add("monitor::expected_tcp_is_no_fallback_without_facts", || Ok(expected_tcp()?));
    suite.add("monitor::odd_answers_and_folders_are_counted", || Ok(odd_answers()?));
    suite.add("monitor::gids_without_addresses_are_not_counted", || Ok(no_addresses()?));
    suite.add("monitor::a_log_that_is_replaced_is_read_again", || Ok(replaced()?));
    suite.add("monitor::a_vanished_device_is_counted_and_logged_once", || Ok(vanished()?));
    suite.add("monitor::facts_of_another_version_are_counted", || Ok(other_facts()?));
    suite.add("monitor::facts_are_labels", || Ok(labels()?));
    suite.add("monitor::ras_that_never_answers", || Ok(silent()?));
}

fn has(metrics: &str, line: &str) -> Result<(), String> {
    same(&format!("{line} in\n{metrics}"), true, metrics.lines().any(|found| found == line))
}

/// Files of the log lines so far, of events `unreadable`; each line is JSON.
fn logged(monitor: &Monitor, count: usize) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for _ in 0..count {
        let line = monitor.line("unreadable")?;
        let json: serde_json::Value = serde_json::from_str(&line).map_err(|e| format!("{line}: {e}"))?;
        files.push(json["file"].as_str().unwrap_or_default().to_owned());
    }
    same("further lines", None, monitor.errors.try_recv().ok())?;
    files.sort();
    Ok(files)
}

/// Preflight saw that the pod has no device; or it could not see the devices.
fn no_devices() -> Result<(), String> {
    for (devices, exported) in [("[]", false), ("null", true)] {
        let scratch = Scratch::new()?;
        Tree::parse(TWO)?.write(scratch.path())?;
        scratch.write("facts.json", format!("{{\"version\": 1, \"devices\": {devices}}}"))?;
        let monitor = Monitor::start(scratch, &["--facts", "facts.json"])?;
        same(devices, exported, monitor.get("/metrics")?.contains("mlx5_0"))?;
    }
    Ok(())
}

fn expected_tcp() -> Result<(), String> {
    for (transport, fallback) in [("ethernet", 0), ("roce", 1)] {
        let scratch = Scratch::new()?;
        scratch.write("nccl/a.log", read(&root().join("tests/verify-log/no-device.log"))?)?;
        let monitor = Monitor::start(scratch, &["--nccl-log", "nccl", "--expect-transport", transport])?;
        let metrics = monitor.get("/metrics")?;
        has(&metrics, &format!("fabric_monitor_tcp_fallback{{source=\"log\"}} {fallback}"))?;
    }
    Ok(())
}

fn odd_answers() -> Result<(), String> {
    let tree = "sys/class/infiniband = a file and not a directory
sys/class/net/eth0/type = nonsense
.preflight/filesystems = /dev/shm nonsense
";
    let scratch = Scratch::new()?;
    Tree::parse(tree)?.write(scratch.path())?;
    scratch.write("proc/net/dev", net_dev(1, 2))?;
    scratch.write("nccl", "a file and not a folder")?;
    let monitor = Monitor::start(scratch, &["--nccl-log", "nccl"])?;
    for _ in 0..2 {
        has(&monitor.get("/metrics")?, "fabric_monitor_unreadable_files 4")?;
    }
    let files = ["/dev/shm", "/sys/class/infiniband", "/sys/class/net/eth0/type", "nccl"];
    same("files", files.map(str::to_owned).to_vec(), logged(&monitor, 4)?)?;

    let tree = "sys/class/infiniband/mlx5_0/ports = a file and not a directory
sys/class/infiniband/mlx5_1/ports/1/link_layer : dir
sys/class/infiniband/mlx5_1/ports/1/gids/0 = fe80:0000:0000:0000:0000:0000:0000:0001
.preflight/rdma-namespaces = nonsense
.preflight/addresses = nonsense
";
    let monitor = Monitor::of_tree(tree, &[])?;
    for _ in 0..2 {
        has(&monitor.get("/metrics")?, "fabric_monitor_unreadable_files 4")?;
    }
    let files = [
        "/sys/class/infiniband/mlx5_0/ports",
        "/sys/class/infiniband/mlx5_1/ports/1/link_layer",
        "netlink RDMA_NLDEV_CMD_SYS_GET",
        "netlink RTM_GETADDR",
    ];
    same("files", files.map(str::to_owned).to_vec(), logged(&monitor, 4)?)
}

/// Without the addresses of the pod, the rows of other pods cannot be told apart from its own.
fn no_addresses() -> Result<(), String> {
    let rows = |last: u32| {
        format!(
            "{TWO}sys/class/infiniband/mlx5_0/ports/1/gids/0 = 0000:0000:0000:0000:0000:ffff:0a63:000{last}
sys/class/infiniband/mlx5_2/ports/1/link_layer = InfiniBand
sys/class/infiniband/mlx5_2/ports/1/gids/0 = fe80:0000:0000:0000:0000:0000:0000:0001
"
        )
    };
    let monitor = Monitor::of_tree(&rows(1), &[])?;
    for last in [1, 2, 2] {
        Tree::parse(&rows(last))?.write(monitor.scratch.path())?;
        let metrics = monitor.get("/metrics")?;
        same(&metrics, false, metrics.contains("gid_changes_total{device=\"mlx5_0\""))?;
    }
    // On InfiniBand a GID is not an address.
    has(&monitor.get("/metrics")?, "fabric_monitor_gid_changes_total{device=\"mlx5_2\",port=\"1\"} 0")
}

/// A log with another file behind its name, which is not shorter than before, and a log that is deleted.
fn replaced() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("nccl/a.log", read(&root().join("tests/verify-log/no-device.log"))?)?;
    let monitor = Monitor::start(scratch, &["--nccl-log", "nccl"])?;
    let folder = monitor.scratch.path().join("nccl");
    has(&monitor.get("/metrics")?, "fabric_monitor_tcp_fallback{source=\"log\"} 1")?;
    let filler = "\n".repeat(64 << 10);
    let other = read(&root().join("tests/verify-log/nccl-2.18.log"))? + &filler;
    monitor.scratch.write("new.log", other)?;
    std::fs::rename(monitor.scratch.path().join("new.log"), folder.join("a.log"))
        .map_err(|e| e.to_string())?;
    has(&monitor.get("/metrics")?, "fabric_monitor_tcp_fallback{source=\"log\"} 0")?;
    monitor.line("log-restarted")?;
    std::fs::remove_file(folder.join("a.log")).map_err(|e| e.to_string())?;
    let metrics = monitor.get("/metrics")?;
    same(&metrics, false, metrics.contains("fabric_monitor_tcp_fallback"))?;
    // A folder that is deleted is a log that is deleted.
    monitor.scratch.write("nccl/a.log", read(&root().join("tests/verify-log/no-device.log"))?)?;
    has(&monitor.get("/metrics")?, "fabric_monitor_tcp_fallback{source=\"log\"} 1")?;
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    let metrics = monitor.get("/metrics")?;
    same(&metrics, false, metrics.contains("fabric_monitor_tcp_fallback"))?;
    same("second log line", None, monitor.errors.try_recv().ok())
}

fn vanished() -> Result<(), String> {
    let monitor = Monitor::of_tree(TWO, &[])?;
    has(&monitor.get("/metrics")?, "fabric_monitor_unreadable_files 0")?;
    let gone = monitor.scratch.path().join("sys/class/infiniband/mlx5_1");
    std::fs::remove_dir_all(gone).map_err(|e| e.to_string())?;
    for _ in 0..2 {
        has(&monitor.get("/metrics")?, "fabric_monitor_unreadable_files 1")?;
    }
    same("files", vec!["/sys/class/infiniband/mlx5_1".to_owned()], logged(&monitor, 1)?)
}

fn other_facts() -> Result<(), String> {
    for text in ["{\"version\": 2}", "nonsense"] {
        let scratch = Scratch::new()?;
        scratch.write("facts.json", text)?;
        let monitor = Monitor::start(scratch, &["--facts", "facts.json"])?;
        for _ in 0..2 {
            has(&monitor.get("/metrics")?, "fabric_monitor_unreadable_files 1")?;
        }
        same("before it listens", "", monitor.early.as_str())?;
        same("files", vec!["facts.json".to_owned()], logged(&monitor, 1)?)?;
    }
    Ok(())
}

fn labels() -> Result<(), String> {
    for (value, label) in [("true", "true"), ("false", "false"), ("null", "")] {
        let scratch = Scratch::new()?;
        let text = format!("{{\"version\": 1, \"writtenBy\": \"0.9.0\", \"ipcLock\": {value}}}");
        scratch.write("facts.json", text)?;
        let monitor = Monitor::start(scratch, &["--facts", "facts.json"])?;
        let metrics = monitor.get("/metrics")?;
        let labels = format!("ipc_lock=\"{label}\",written_by=\"0.9.0\"}} 1\n");
        same(&metrics, true, metrics.contains(&labels))?;
    }
    Ok(())
}

/// A server that accepts connections and never answers does not hold the monitor up. The other address is asked too.
fn silent() -> Result<(), String> {
    let (port, listener) = {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        (listener.local_addr().map_err(|e| e.to_string())?.port(), listener)
    };
    let (monitor, metrics) = asked(port, &["--ras-timeout", "1"])?;
    has(&metrics, "fabric_monitor_ras_answers 0")?;
    same(&metrics, false, metrics.contains("missing_ranks"))?;
    monitor.line("ras-silent")?;
    same("port", port, answering(&format!("[::1]:{port}"), RAS)?)?;
    let (_, metrics) = asked(port, &["--ras-timeout", "1"])?;
    drop(listener);
    has(&metrics, "fabric_monitor_ras_answers 1")
}
