//! What it costs `serve` to follow a large cluster: an API server that makes up its nodes as it writes them, a first
//! list, and then changes. Time and memory of a whole process, so not a matter for criterion; Linux only.
//!
//! `cargo bench --bench cluster -- --nodes 130000`. Without `--bench`, as a test would run it, a small cluster.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout
)]

#[path = "../../tests/it/server/live/http.rs"]
mod http;
mod nodes;

use http::{Request, answer, chunk, chunked, gone, request};
use nodes::{FABRICS, Template};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Changes of nodes in a second.
const RATE: u64 = 500;
/// Of so many changes one changes a label; the others are heartbeats.
const LABEL_EVERY: u64 = 100;
/// Batches of changes in a second.
const BEATS: u64 = 50;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let bench = arguments.iter().any(|a| a == "--bench");
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|a| a == name);
        at.and_then(|at| arguments.get(at + 1)).map_or(default, |n| n.parse().unwrap())
    };
    let count = number("--nodes", if bench { 10_000 } else { 200 });
    let seconds = number("--seconds", if bench { 30 } else { 2 }) as u64;
    if !Path::new("/proc/self/status").exists() {
        println!("cluster: needs /proc; left out");
        return;
    }
    run(count, seconds);
}

fn run(count: usize, seconds: u64) {
    let cluster = Arc::new(Cluster {
        template: Template::new(),
        count,
        churn: AtomicBool::new(false),
        sent: AtomicU64::new(0),
    });
    let mut one = Vec::new();
    cluster.template.write(0, 0, false, &mut one);
    assert!((33_000..36_000).contains(&one.len()), "{} bytes a node", one.len());
    println!("{count} nodes of {} bytes, then {RATE} changes/s for {seconds} s", one.len());

    let address = cluster.serve();
    let scratch = Scratch::new();
    let begun = Instant::now();
    let serve = Serve::start(&scratch.0, address);
    while !serve.get("/readyz").starts_with("HTTP/1.1 200") {
        assert!(begun.elapsed() < Duration::from_secs(900), "not ready after a quarter of an hour");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ready = begun.elapsed();
    let (synced, at_ready) = (serve.cpu(), serve.memory("VmRSS"));
    let peak = serve.memory("VmHWM");
    assert_eq!(serve.metric("fabric_admission_watch_objects{kind=\"Node\"}"), count as f64);
    println!("ready after          {:>9.2} s", ready.as_secs_f64());
    println!("CPU until then       {synced:>9.2} s");
    println!("VmHWM until then     {peak:>9.1} MiB");
    println!("VmRSS then           {at_ready:>9.1} MiB");

    std::thread::sleep(Duration::from_secs(2));
    let published = serve.metric("fabric_admission_snapshots_published_total");
    let (before, begun) = (serve.cpu(), Instant::now());
    cluster.churn.store(true, Ordering::SeqCst);
    std::thread::sleep(Duration::from_secs(seconds));
    cluster.churn.store(false, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(500));
    let took = begun.elapsed().as_secs_f64();
    let sent = cluster.sent.load(Ordering::SeqCst);
    let used = serve.cpu() - before;
    println!("changes sent         {sent:>9}   {:.0}/s", sent as f64 / took);
    println!("CPU a second         {:>9.3} s", used / took);
    println!("CPU a change         {:>9.1} us", used / sent as f64 * 1e6);
    let published = serve.metric("fabric_admission_snapshots_published_total") - published;
    println!("Snapshots published  {published:>9}   {:.1}/s", published / took);
    std::thread::sleep(Duration::from_secs(2));
    println!("VmHWM in the end     {:>9.1} MiB", serve.memory("VmHWM"));
    println!("VmRSS in the end     {:>9.1} MiB", serve.memory("VmRSS"));
    assert!(sent >= RATE * seconds * 9 / 10, "the changes were held up");
    assert_eq!(
        serve.metric("fabric_admission_watch_lists_total{kind=\"Node\"}"),
        1.0,
        "it had to list again"
    );
}

/// The API server.
struct Cluster {
    template: Template,
    count: usize,
    churn: AtomicBool,
    sent: AtomicU64,
}

impl Cluster {
    fn serve(self: &Arc<Self>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let cluster = Arc::clone(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let cluster = Arc::clone(&cluster);
                std::thread::spawn(move || cluster.connection(stream));
            }
        });
        address
    }

    fn connection(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(asked) = request(&mut reader)? {
            assert_eq!(asked.method, "GET");
            let nodes = asked.path == "/api/v1/nodes";
            match (nodes, asked.watch()) {
                (true, false) => self.page(&mut stream, &asked)?,
                (true, true) => self.changes(&mut stream)?,
                (false, false) => {
                    let list = format!(
                        "{{\"metadata\":{{\"resourceVersion\":\"1000\"}},\"items\":[{}]}}",
                        few(&asked.path)
                    );
                    answer(&mut stream, 200, "application/json", list.as_bytes())?;
                }
                (false, true) => {
                    chunked(&mut stream)?;
                    while !gone(&stream) {
                        std::thread::sleep(Duration::from_millis(500));
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// A page of nodes, one chunk each.
    fn page(&self, stream: &mut TcpStream, asked: &Request) -> io::Result<()> {
        let limit: usize = asked.parameter("limit").parse().unwrap();
        let from: usize = asked.parameter("continue").parse().unwrap_or(0);
        let to = (from + limit).min(self.count);
        let next = if to < self.count { format!(",\"continue\":\"{to}\"") } else { String::new() };
        chunked(stream)?;
        let head = format!(
            "{{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"1000\"{next}}},\"items\":["
        );
        chunk(stream, head.as_bytes())?;
        let mut text = Vec::new();
        for number in from..to {
            text.clear();
            self.template.write(number, 0, false, &mut text);
            if number + 1 < to {
                text.push(b',');
            }
            chunk(stream, &text)?;
        }
        chunk(stream, b"]}")?;
        chunk(stream, b"")
    }

    /// Changes, as long as there are to be any.
    fn changes(&self, stream: &mut TcpStream) -> io::Result<()> {
        chunked(stream)?;
        let mut line = Vec::new();
        let mut next = Instant::now();
        loop {
            if !self.churn.load(Ordering::SeqCst) {
                if gone(stream) {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(10));
                next = Instant::now();
                continue;
            }
            for _ in 0..RATE / BEATS {
                let change = self.sent.fetch_add(1, Ordering::SeqCst) + 1;
                // A prime step spreads the changes over all nodes.
                let number = (change * 7919) as usize % self.count;
                line.clear();
                line.extend_from_slice(b"{\"type\":\"MODIFIED\",\"object\":");
                self.template.write(number, change, change.is_multiple_of(LABEL_EVERY), &mut line);
                line.extend_from_slice(b"}\n");
                chunk(stream, &line)?;
            }
            next += Duration::from_millis(1000 / BEATS);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
}

/// Objects of the other kinds: profiles that tell the nodes apart, and namespaces.
fn few(path: &str) -> String {
    let all: Vec<serde_json::Value> = match path.rsplit('/').next().unwrap_or_default() {
        "fabricprofiles" => (0..FABRICS)
            .map(|n| {
                serde_json::json!({
                    "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
                    "metadata": {"name": format!("fabric-{n}")},
                    "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {
                        "site.example.com/fabric": format!("fabric-{n}"), "site.example.com/repair": "false"}}}
                })
            })
            .collect(),
        "namespaces" => (0..200).map(|n| serde_json::json!({"metadata": {"name": format!("team-{n}")}})).collect(),
        _ => Vec::new(),
    };
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The process that is measured; ended when dropped.
struct Serve {
    child: Child,
    admin: SocketAddr,
}

impl Serve {
    fn start(directory: &Path, api: SocketAddr) -> Self {
        let binary = env!("CARGO_BIN_EXE_fabric-admission");
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: \"http://{api}\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
        );
        std::fs::write(directory.join("kubeconfig"), kubeconfig).unwrap();
        let made = Command::new(binary)
            .args(["certs", "dev", "--out", "tls"])
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(made.status.success());
        let mut child = Command::new(binary)
            .args([
                "serve",
                "--bind",
                "127.0.0.1:0",
                "--admin-bind",
                "127.0.0.1:0",
                "--kubeconfig",
                "kubeconfig",
            ])
            .args(["--tls-cert", "tls/tls.crt", "--tls-key", "tls/tls.key"])
            .current_dir(directory)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("\"listening\"") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "serve ended");
        }
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        let admin = event["admin"].as_str().unwrap().parse().unwrap();
        std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        Self { child, admin }
    }

    /// What the admin port says, head and body.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.admin).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics");
        let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name}")).trim().parse().unwrap()
    }

    fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap()
    }

    /// Memory (MiB).
    fn memory(&self, what: &str) -> f64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|l| l.strip_prefix(what)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }

    /// CPU time (seconds), user and system. The kernel counts it in hundredths for every program.
    fn cpu(&self) -> f64 {
        let stat = self.proc("stat");
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        [11, 12].iter().map(|n| fields[*n].parse::<f64>().unwrap()).sum::<f64>() / 100.0
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("fabric-admission-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
