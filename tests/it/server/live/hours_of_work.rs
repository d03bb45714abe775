//! A long while of ordinary work: 400 reviews a second while nodes, profiles, the certificate and the API server come
//! and go. Memory, threads and open files are in the end what they were.

use super::{Live, node, pod_naming, pod_of, pod_of_namespace, profile, site, soon};
use crate::support::client_authority::Authority;
use crate::support::scripted_api_server::script::{Gone, How};
use crate::support::server::{Client, review};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::a_soak_leaves_memory_and_files_flat", soak);
}

/// Reviews in a second, and connections that they go over.
const RATE: u32 = 400;
const CONNECTIONS: usize = 8;
/// A connection is used for so many reviews.
const REVIEWS: usize = 500;
/// Changes in a second.
const CHANGES: u32 = 20;
/// Changes to the next certificate.
const RENEW: u32 = 30 * CHANGES;
/// Looks at the process.
const LOOKS: u32 = 60;

/// How long: `FABRIC_ADMISSION_SOAK` minutes, or some seconds.
fn length() -> Duration {
    let minutes = std::env::var("FABRIC_ADMISSION_SOAK").ok().and_then(|m| m.parse().ok());
    minutes.map_or(Duration::from_secs(12), |minutes: u64| Duration::from_secs(minutes * 60))
}

/// A review for each entry, of pods whose answers stand on what changes.
fn questions() -> Vec<(&'static str, String)> {
    let pods = [
        pod_of("p"),
        pod_of("w"),
        pod_of_namespace(),
        pod_naming("east"),
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
            "spec": {"containers": [{"name": "c", "image": "example.com/web:1"}]}
        }),
    ];
    let of_pods = ["/mutate", "/validate", "/audit"].into_iter().flat_map(|entry| {
        let body = |pod: &Value| review("u", ("", "Pod"), "CREATE", pod).to_string();
        pods.iter().map(move |pod| (entry, body(pod)))
    });
    let policy = json!({
        "apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy", "metadata": {"name": "p"},
        "spec": {"deviceType": "vfio-pci", "isRdma": true, "numVfs": 8}
    });
    let kind = ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy");
    of_pods.chain([("/validate-object", review("u", kind, "CREATE", &policy).to_string())]).collect()
}

#[derive(Default)]
struct Load {
    over: AtomicBool,
    next: AtomicU32,
    answered: AtomicUsize,
    late: AtomicUsize,
}

impl Load {
    /// One connection's part of the reviews; every answer must be 200.
    fn work(&self, live: &Live, ca: &std::path::Path, started: Instant) -> Result<(), String> {
        let questions = questions();
        while !self.over.load(Ordering::SeqCst) {
            let mut client = Client::connect(live.server.webhook, ca)?;
            for _ in 0..REVIEWS {
                let nth = self.next.fetch_add(1, Ordering::SeqCst);
                let due = started + Duration::from_secs(1) / RATE * nth;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                if self.over.load(Ordering::SeqCst) {
                    break;
                }
                let (entry, body) = &questions[nth as usize % questions.len()];
                let answer = client.post(entry, body.as_bytes())?;
                if answer.status != 200 {
                    return Err(format!("{entry}: {} {}", answer.status, answer.body));
                }
                self.answered.fetch_add(1, Ordering::Relaxed);
                if due.elapsed() > Duration::from_secs(1) {
                    self.late.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        Ok(())
    }
}

/// The `nth` change: nodes that come, change and go; now and then a profile, a lost history, streams that end, or a server that is busy.
fn change(live: &Live, nth: u32) {
    let name = format!("churn-{}", nth % 200);
    match nth % 400 {
        100 => live.script.put("FabricProfile", profile("west", "x.com/other")),
        300 => live.script.put("FabricProfile", profile("west", "x.com/west")),
        200 => live.script.drop_streams(How::Clean),
        250 => live.script.fail(503, 40),
        350 if nth % 800 > 400 => {
            live.script.compact(Gone::Event);
            live.script.drop_streams(How::MidLine);
        }
        _ if nth.is_multiple_of(7) => live.script.delete("Node", "", &name),
        _ => {
            let mut node = node(&name, ["east", "west"][nth as usize % 2], &format!("pool-{}", nth % 50));
            node["metadata"]["annotations"] = json!({"heartbeat": nth.to_string()});
            live.script.put("Node", node);
        }
    }
    if nth.is_multiple_of(100) {
        live.script.forget(2000);
    }
}

/// Another certificate of the same authority.
fn renew(live: &Live, authority: &Authority) -> Result<(), String> {
    let identity = authority.server()?;
    live.server.scratch.write("tls/tls.crt", &identity.certificate)?;
    live.server.scratch.write("tls/tls.key", &identity.key)
}

/// Resident memory in KiB, threads and open files.
type Look = (u64, usize, usize);

fn soak() -> Outcome {
    let length = length();
    let args = ["--tls-poll", "1", "--watch-timeout", "30"];
    let live = Live::begin(site()?, &args)?;
    live.ready()?;
    let authority = Authority::new()?;
    let ca = live.server.scratch.path().join("tls/ca.crt");
    live.server.scratch.write("tls/ca.crt", &authority.pem)?;
    renew(&live, &authority)?;
    soon("the certificate is taken up", || Ok(Client::connect(live.server.webhook, &ca).is_ok()))?;
    let (load, started) = (Load::default(), Instant::now());
    let mut looks: Vec<Look> = Vec::new();
    std::thread::scope(|scope| -> Outcome {
        let shared = &live;
        let working: Vec<_> =
            (0..CONNECTIONS).map(|_| scope.spawn(|| load.work(shared, &ca, started))).collect();
        let mut nth = 0;
        while started.elapsed() < length && working.iter().all(|w| !w.is_finished()) {
            change(&live, nth);
            if nth % RENEW == RENEW - 1 {
                renew(&live, &authority)?;
            }
            nth += 1;
            let look = length / LOOKS;
            if started.elapsed() >= look * u32::try_from(looks.len() + 1).unwrap() {
                let (threads, files) = live.server.belongings().unwrap_or_default();
                looks.push((live.server.status("VmRSS").unwrap_or_default(), threads, files));
                tell(&looks, started.elapsed());
            }
            let due = started + Duration::from_secs(1) / CHANGES * nth;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        load.over.store(true, Ordering::SeqCst);
        for worker in working {
            worker.join().map_err(|_| "a client panicked")??;
        }
        Ok(())
    })?;
    let answered = load.answered.load(Ordering::Relaxed);
    let rate = answered as f64 / started.elapsed().as_secs_f64();
    eprintln!(
        "soak of {:?}: {answered} reviews, {rate:.0} a second, {} late by more than a second",
        started.elapsed(),
        load.late.load(Ordering::Relaxed)
    );
    // For seconds a busy machine may be behind.
    let least = if length > Duration::from_secs(60) { 0.9 } else { 0.1 };
    assert!(rate > f64::from(RATE) * least, "{rate}");
    flat(&looks)?;
    Ok(live.end()?)
}

/// Every fifth look, so that a run that is ended early has printed something.
fn tell(looks: &[Look], at: Duration) {
    if let Some((memory, threads, files)) = looks.last().filter(|_| looks.len() % 5 == 1) {
        eprintln!(
            "{:>5} s: {:.1} MiB, {threads} threads, {files} files",
            at.as_secs(),
            *memory as f64 / 1024.0
        );
    }
}

/// The last quarter is no more than the second, but for what chance adds.
fn flat(looks: &[Look]) -> Result<(), String> {
    let quarter = looks.len() / 4;
    let most = |part: usize, number: fn(&Look) -> u64| {
        looks[part * quarter..(part + 1) * quarter].iter().map(number).max().unwrap_or_default()
    };
    let compare = |what: &str, number: fn(&Look) -> u64, slack: u64| match (most(1, number), most(3, number))
    {
        (before, after) if after > before + slack => {
            Err(format!("{what}: {before} in the second quarter, {after} in the last"))
        }
        _ => Ok(()),
    };
    compare("KiB", |look| look.0, 2048)?;
    compare("threads", |look| look.1 as u64, 4)?;
    compare("files", |look| look.2 as u64, 4)
}
