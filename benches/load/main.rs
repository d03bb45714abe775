//! What a webhook costs at a constant rate of requests, with the connections of an API server. `cargo bench --bench load
//! -- --help` lists the options, and docs/performance.md the tables. Linux only.
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
mod cluster;
mod connection;
mod driver;
mod layer;
mod machine;
mod options;
mod payload;
#[allow(dead_code, reason = "another bench uses the rest")]
#[path = "../process/mod.rs"]
mod process;
#[allow(dead_code, reason = "another bench uses the rest")]
#[path = "../scene/mod.rs"]
mod scene;
mod table;

use api_server::ApiServer;
use cluster::Size;
use connection::Endpoint;
use driver::{Client, Outcome, Plan};
use layer::{Runtime, Work};
use options::{HELP, Options};
use payload::Payload;
use process::{Process, Scratch, Used, used};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use table::{Round, Scenario};

/// Threads of a server: those of `serve`, which uses at most four.
const MOST_THREADS: usize = 4;
/// Requests before the first round, which are not counted. So few that bodies of 3 MB stay within the budget of memory.
const WARM: Plan = Plan { count: 10, rate: Some(5.0) };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, layer, answer, tls] = arguments.as_slice()
        && first == "layer"
    {
        serve_layer(layer, answer.parse().unwrap(), Path::new(tls));
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if !Path::new("/proc/self/schedstat").exists() {
        println!("load: needs /proc/self/schedstat; left out");
        return ExitCode::SUCCESS;
    }
    match Options::new(&arguments).and_then(|options| run(&options)) {
        Ok(failed) => ExitCode::from(u8::from(failed)),
        Err(error) => {
            println!("{error}");
            ExitCode::from(2)
        }
    }
}

/// A server that is a layer, in a process of its own.
fn serve_layer(layer: &str, answer: usize, tls: &Path) {
    let (work, runtime) = layer_of(layer).unwrap();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS);
    layer::serve(work, runtime, threads, layer::constant_answer(answer), tls, |address| {
        let line =
            json!({"event": "listening", "webhook": address.to_string(), "admin": address.to_string()});
        std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes()).unwrap();
    });
}

fn layer_of(name: &str) -> Option<(Work, Runtime)> {
    Some(match name {
        "constant" => (Work::Nothing, Runtime::Shared),
        "constant-cores" => (Work::Nothing, Runtime::Cores),
        "parse" => (Work::Parse, Runtime::Shared),
        "parse-cores" => (Work::Parse, Runtime::Cores),
        _ => return None,
    })
}

/// A server that requests go to.
struct Target {
    client: Client,
    process: Option<Process>,
    pid: Option<u32>,
    api: Option<Arc<ApiServer>>,
}

impl Target {
    fn used(&self) -> Option<Used> {
        self.process.as_ref().map(Process::used).or_else(|| self.pid.map(used))
    }

    /// Whether the server lists nodes now.
    fn listing(&self) -> bool {
        self.api.as_ref().is_some_and(|api| api.listing())
    }

    fn round(&self, plan: Plan, seconds: f64, relist: bool) -> Round {
        let before_list = self.api.as_ref().filter(|_| relist).map(|api| {
            // Again and again, because the watch may not have begun.
            wait("the server does not list again", || {
                api.forget();
                self.listing()
            });
            self.listing()
        });
        let (before, begun) = (self.used(), Instant::now());
        let outcome = self.client.run(plan);
        if plan.count == 0 {
            std::thread::sleep(Duration::from_secs_f64(seconds));
        }
        let server =
            before.zip(self.used()).map(|(b, a)| (a.cpu - b.cpu, a.switches.saturating_sub(b.switches)));
        let listing = before_list.map(|before| (before, self.listing()));
        let took = begun.elapsed().as_secs_f64();
        if relist {
            wait("the list does not end", || !self.listing());
        }
        Round { outcome, requests: plan.count, server, listing, took }
    }
}

/// Waits for something that has to happen within a quarter of an hour.
fn wait(otherwise: &str, until: impl Fn() -> bool) {
    let begun = Instant::now();
    while !until() {
        assert!(begun.elapsed() < Duration::from_secs(900), "{otherwise}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Measures everything; whether a request failed.
fn run(options: &Options) -> Result<bool, String> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_fabric-admission"));
    let scratch = Scratch::with_certificate(&binary);
    let machine = machine::describe(&binary);
    println!("{machine}");
    let mut payloads = Vec::new();
    if options.containers.is_empty() {
        for name in &options.payloads {
            payloads.push(Payload::named(name)?);
        }
    }
    for containers in &options.containers {
        payloads.extend(options.env.iter().map(|env| Payload::of(*containers, *env)));
    }
    let mut targets = Vec::new();
    for payload in &payloads {
        for (nodes, networks, profiles) in sizes(options) {
            let size = Size { nodes, networks, profiles };
            targets.extend(of_size(options, &binary, &scratch, payload, size)?);
        }
    }
    let mut scenarios = measure(options, &targets);
    for (scenario, (_, target)) in scenarios.iter_mut().zip(targets.iter().cycle()) {
        scenario.memory =
            target.process.as_ref().map(|process| (process.memory("VmRSS"), process.memory("VmHWM")));
    }
    print!("{}\n{}", table::table(&scenarios), table::notes(&scenarios));
    if let Some(name) = &options.page {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md");
        let page = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        let page = table::into_page(&page, name, &scenarios, &machine)?;
        std::fs::write(&file, page).map_err(|e| e.to_string())?;
    }
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&table::json(&scenarios, &machine)).unwrap();
        std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(scenarios.iter().any(|scenario| scenario.rounds.iter().any(|round| round.outcome.failed > 0)))
}

fn sizes(options: &Options) -> Vec<(usize, usize, usize)> {
    let mut sizes = Vec::new();
    for nodes in &options.nodes {
        for networks in &options.networks {
            sizes.extend(options.profiles.iter().map(|profiles| (*nodes, *networks, *profiles)));
        }
    }
    sizes
}

/// The servers of a payload and a cluster, with the facts about them that the results have.
fn of_size(
    options: &Options,
    binary: &Path,
    scratch: &Scratch,
    payload: &Payload,
    size: Size,
) -> Result<Vec<(serde_json::Value, Target)>, String> {
    let ca = scratch.0.join("tls/ca.crt");
    let client = |url: &str, ca: &Path| {
        Ok::<_, String>(Client::new(Endpoint::new(url, ca)?, &payload.body, options.connections))
    };
    let started = |binary: &Path| -> Result<Target, String> {
        let api = size.api_server();
        let process = Process::serve(binary, &scratch.0, api.serve(), &[]);
        wait("the server is not ready", || process.ready());
        let client = client(&format!("https://localhost:{}/mutate", process.webhook.port()), &ca)?;
        Ok(Target { client, process: Some(process), pid: None, api: Some(api) })
    };
    // The others answer as many bytes as this one.
    let full = started(binary)?;
    let outcome = warm(&full)?;
    let about = |layer: &str| {
        json!({"layer": layer, "payload": payload.name, "body_bytes": payload.body.len(), "nodes": size.nodes,
            "networks": size.networks, "profiles": size.profiles, "connections": options.connections,
            "burst": options.burst, "relist": options.relist})
    };
    let mut full = Some(full);
    let mut targets = Vec::new();
    for layer in &options.layers {
        let target = if layer == "full" {
            full.take().ok_or("--layer names full twice")?
        } else {
            layer_of(layer).ok_or_else(|| format!("--layer: {layer} is not a layer\n\n{HELP}"))?;
            let mut command = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
            command.args(["layer", layer, &outcome.answer.to_string()]).arg(scratch.0.join("tls"));
            let process = Process::start(command);
            let client = client(&format!("https://localhost:{}/mutate", process.webhook.port()), &ca)?;
            Target { client, process: Some(process), pid: None, api: None }
        };
        targets.push((about(layer), target));
    }
    for binary in &options.binaries {
        targets.push((about(&binary.display().to_string()), started(binary)?));
    }
    if let Some(url) = &options.against {
        let client = client(url, &options.ca)?;
        let target = Target { client, process: None, pid: options.against_pid, api: None };
        targets.push((about(url), target));
    }
    for (_, target) in &targets {
        warm(target)?;
    }
    Ok(targets)
}

/// Requests that are not counted. A failure here is one of the setup.
fn warm(target: &Target) -> Result<Outcome, String> {
    let outcome = target.client.run(WARM);
    match &outcome.first_failure {
        Some(failure) => Err(format!("{} of {} requests failed: {failure}", outcome.failed, WARM.count)),
        None => Ok(outcome),
    }
}

/// All rounds: one of each scenario, and then the next of each.
fn measure(options: &Options, targets: &[(serde_json::Value, Target)]) -> Vec<Scenario> {
    let rates = if options.burst.is_some() { &[0.0][..] } else { &options.rates };
    let mut scenarios = Vec::new();
    for rate in rates {
        for (about, _) in targets {
            let mut about = about.clone();
            about["rate"] = json!(rate);
            let word = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
            let rate = options.burst.map_or(format!("{rate}/s"), |count| format!("{count} at once"));
            let mut name = format!("{}, {}, {rate}", word("layer"), word("payload"));
            for (key, several) in
                [("nodes", &options.nodes), ("networks", &options.networks), ("profiles", &options.profiles)]
            {
                if several.len() > 1 {
                    name.push_str(&format!(", {} {key}", about[key]));
                }
            }
            let group = format!("{rate} {}", word("payload"));
            scenarios.push(Scenario { name, about, group, rounds: Vec::new(), memory: None });
        }
    }
    for _ in 0..options.rounds {
        for (at, scenario) in scenarios.iter_mut().enumerate() {
            let (_, target) = &targets[at % targets.len()];
            let rate = scenario.about["rate"].as_f64().unwrap_or_default();
            let plan = match options.burst {
                Some(count) => Plan { count, rate: None },
                None if rate == 0.0 => Plan { count: 0, rate: None },
                None => {
                    let count = ((rate * options.seconds) as usize).max(options.requests);
                    Plan { count, rate: Some(rate) }
                }
            };
            scenario.rounds.push(target.round(plan, options.seconds, options.relist));
        }
    }
    scenarios
}
