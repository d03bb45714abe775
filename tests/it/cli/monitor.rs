//! `monitor` as a process: metrics of modelled trees, a log that shows a fallback, wrong requests, and SIGTERM.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::tree::Tree;
use crate::support::{Scratch, golden, read, root, run};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
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

/// Shared mode: ports without counters.
const SHARED: &str = "sys/class/infiniband/mlx5_{0..1}/ports/1/state = 4: ACTIVE
sys/class/infiniband/mlx5_{0..1}/ports/1/phys_state = 5: LinkUp
sys/class/infiniband/mlx5_{0..1}/ports/1/rate = 200 Gb/sec (4X HDR)
";

pub(crate) fn add(suite: &mut Suite) {
    for (name, tree) in [("exclusive", EXCLUSIVE), ("shared", SHARED), ("nothing", "")] {
        suite.add(format!("monitor::{name}"), move || {
            let monitor = Monitor::of_tree(tree, &[])?;
            let metrics = monitor.get("/metrics")?;
            Ok(golden(&root().join(format!("tests/monitor/{name}.prom")), Some(&metrics))?)
        });
    }
    suite.add("monitor::a_fallback_is_a_metric_and_one_log_line", || Ok(fallback()?));
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
    suite.add("monitor::a_wrong_address_is_usage", || {
        let ran = run(&["monitor", "--listen", "nowhere"], b"", root())?;
        same("exit code", 2, ran.code)?;
        Ok(same(&ran.stderr, true, ran.stderr.contains(":9406"))?)
    });
    suite.add("monitor::page_is_current", || {
        Ok(golden(&root().join("docs/monitor.md"), Some(&fabric_admission::monitor::page()))?)
    });
}

/// A running monitor, and its folder.
struct Monitor {
    child: Child,
    address: String,
    errors: Receiver<String>,
    scratch: Scratch,
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Monitor {
    /// Paths in the flags are below the folder of the tree.
    fn of_tree(tree: &str, flags: &[&str]) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        Tree::parse(tree)?.write(scratch.path())?;
        Self::start(scratch, flags)
    }

    fn start(scratch: Scratch, flags: &[&str]) -> Result<Self, String> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fabric-admission"))
            .args(["monitor", "--listen", "127.0.0.1:0", "--root", "."])
            .args(flags)
            .current_dir(scratch.path())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let stderr = child.stderr.take().ok_or("no stderr")?;
        let (sender, errors) = channel();
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut monitor = Self { child, address: String::new(), errors, scratch };
        let line = monitor.line("listening")?;
        let json: serde_json::Value = serde_json::from_str(&line).map_err(|e| format!("{line}: {e}"))?;
        monitor.address = json["address"].as_str().ok_or("no address")?.to_owned();
        Ok(monitor)
    }

    /// The next line of stderr that has this word.
    fn line(&self, word: &str) -> Result<String, String> {
        loop {
            let line =
                self.errors.recv_timeout(Duration::from_secs(20)).map_err(|_| format!("no line {word:?}"))?;
            if line.contains(word) {
                return Ok(line);
            }
        }
    }

    fn ask(&self, request: &str) -> Result<String, String> {
        let mut stream = TcpStream::connect(&self.address).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).map_err(|e| e.to_string())?;
        stream.write_all(request.as_bytes()).map_err(|e| e.to_string())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(|e| e.to_string())?;
        Ok(answer)
    }

    fn get(&self, path: &str) -> Result<String, String> {
        let answer = self.ask(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("no end of the head")?;
        same(head, true, head.starts_with("HTTP/1.1 200"))?;
        Ok(body.to_owned())
    }
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
        same(&metrics, true, metrics.contains("\nfabric_monitor_tcp_fallback 1\n"))?;
    }
    monitor.line("tcp-fallback")?;
    same("second log line", true, monitor.errors.try_recv().is_err())?;
    // A restarted container writes a new, shorter file: the old facts are gone.
    let log = read(&root().join("tests/verify-log/nccl-2.18.log"))?;
    std::fs::write(&file, log).map_err(|e| e.to_string())?;
    let metrics = monitor.get("/metrics")?;
    same(&metrics, true, metrics.contains("transport=\"rdma\"} 1") && metrics.contains("tcp_fallback 0"))
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
