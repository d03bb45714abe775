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

#[allow(dead_code, reason = "another bench uses the rest")]
#[path = "../api_server/mod.rs"]
mod api_server;
#[allow(dead_code, reason = "another bench uses the rest")]
#[path = "../process/mod.rs"]
mod process;

use api_server::nodes::FABRICS;
use api_server::{ApiServer, Objects, RATE};
use process::{Process, Scratch};
use std::path::Path;
use std::time::{Duration, Instant};

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
    let cluster = ApiServer::new(count, objects());
    let bytes = cluster.node_bytes();
    assert!((33_000..36_000).contains(&bytes), "{bytes} bytes a node");
    println!("{count} nodes of {bytes} bytes, then {RATE} changes/s for {seconds} s");

    let address = cluster.serve();
    let binary = Path::new(env!("CARGO_BIN_EXE_fabric-admission"));
    let scratch = Scratch::with_certificate(binary);
    let begun = Instant::now();
    let serve = Process::serve(binary, &scratch.0, address, &[]);
    while !serve.ready() {
        assert!(begun.elapsed() < Duration::from_secs(900), "not ready after a quarter of an hour");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ready = begun.elapsed();
    let (synced, at_ready) = (serve.used().cpu, serve.memory("VmRSS"));
    let peak = serve.memory("VmHWM");
    assert_eq!(serve.metric("fabric_admission_watch_objects{kind=\"Node\"}"), count as f64);
    println!("ready after          {:>9.2} s", ready.as_secs_f64());
    println!("CPU until then       {synced:>9.2} s");
    println!("VmHWM until then     {peak:>9.1} MiB");
    println!("VmRSS then           {at_ready:>9.1} MiB");

    std::thread::sleep(Duration::from_secs(2));
    let published = serve.metric("fabric_admission_snapshots_published_total");
    let (before, begun) = (serve.used().cpu, Instant::now());
    cluster.churn(true);
    std::thread::sleep(Duration::from_secs(seconds));
    cluster.churn(false);
    std::thread::sleep(Duration::from_millis(500));
    let took = begun.elapsed().as_secs_f64();
    let sent = cluster.sent();
    let used = serve.used().cpu - before;
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

/// Objects of the other kinds: profiles that tell the nodes apart, and namespaces.
fn objects() -> Objects {
    let profiles = (0..FABRICS).map(|n| {
        serde_json::json!({
            "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
            "metadata": {"name": format!("fabric-{n}")},
            "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {
                "site.example.com/fabric": format!("fabric-{n}"), "site.example.com/repair": "false"}}}
        })
    });
    let namespaces = (0..200).map(|n| serde_json::json!({"metadata": {"name": format!("team-{n}")}}));
    Objects::from([("fabricprofiles", profiles.collect()), ("namespaces", namespaces.collect())])
}
