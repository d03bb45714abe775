//! The API server away for long under load, everything that changes at once, and a clock that jumps.

use super::{Live, network, node, pod_of, serve, site, soon, within};
use crate::support::scripted_api_server::script::Gone;
use crate::support::server::review;
use crate::support::suite::{Need, Outcome, Suite};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::minutes_without_an_api_server_cost_nothing", away);
    suite.add("live::a_storm_of_changes_holds_up_no_answer", storm);
    let name = "live::a_clock_that_jumps_changes_nothing";
    if let Some(library) = suite.need(Need::Faketime, name) {
        suite.add(name, move || clock(&library));
    }
}

/// How long the API server is away: `FABRIC_ADMISSION_AWAY` minutes, or some seconds.
fn absence() -> Duration {
    let minutes = std::env::var("FABRIC_ADMISSION_AWAY").ok().and_then(|m| m.parse().ok());
    minutes.map_or(Duration::from_secs(6), |minutes: u64| Duration::from_secs(minutes * 60))
}

fn body(pod: &Value) -> String {
    review("u", ("", "Pod"), "CREATE", pod).to_string()
}

/// Asks 50 times a second until it is stopped; how many answers there were, and the slowest. All give the fabric of the
/// node.
fn ask(live: &Live, over: &AtomicBool) -> Result<(usize, Duration), String> {
    let mut client = live.server.client()?;
    let question = body(&pod_of("p"));
    let (mut count, mut slowest) = (0, Duration::ZERO);
    while !over.load(Ordering::SeqCst) {
        let asked = Instant::now();
        let answer = client.post("/mutate", question.as_bytes())?;
        slowest = slowest.max(asked.elapsed());
        count += 1;
        let patch = answer.json()?["response"]["patch"].as_str().map(str::len).unwrap_or_default();
        if answer.status != 200 || patch < 500 {
            return Err(format!("answer {count}: {} {}", answer.status, answer.body));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((count, slowest))
}

/// Does something while answers are asked for; what they were like.
fn under_load(
    live: &Live,
    work: impl FnOnce(&Live) -> Result<(), String>,
) -> Result<(usize, Duration), String> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let shared = live;
        let asking = scope.spawn(|| ask(shared, &over));
        let worked = work(shared);
        over.store(true, Ordering::SeqCst);
        let asked = asking.join().map_err(|_| "the client panicked")?;
        worked.and(asked)
    })
}

fn pause(time: Duration) -> Result<(), String> {
    std::thread::sleep(time);
    Ok(())
}

fn away() -> Outcome {
    let absence = absence();
    let stale = (absence.as_secs() / 2).to_string();
    let mut live = Live::begin(site()?, &["--watch-timeout", "1", "--stale-after", &stale])?;
    live.ready()?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    under_load(&live, |_| pause(Duration::from_secs(1)))?;
    let look = |live: &Live| {
        (live.server.belongings().unwrap_or_default(), live.server.status("VmRSS").unwrap_or_default())
    };
    live.script.down();
    live.state("Node", "failing")?;
    let before = look(&live);
    let (count, slowest) = under_load(&live, |_| pause(absence))?;
    let after = look(&live);
    let old = live.server.post("/mutate", body(&pod_of("p")).as_bytes())?.body.contains("FAB813");
    assert!(old, "answers do not say that facts are old");
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.script.up()?;
    let back = Instant::now();
    live.gives(&pod_of("p"), "x.com/west")?;
    eprintln!(
        "API server away for {absence:?}: {count} answers, the slowest {slowest:?}; known again after {:?}; threads, \
         files and KiB: {before:?} at first, {after:?} in the end",
        back.elapsed()
    );
    assert!(slowest < Duration::from_secs(1) && count > 100, "{slowest:?} {count}");
    let ((threads, files), memory) = after;
    assert!(threads <= before.0.0 + 2 && files <= before.0.1 + 4, "{before:?} {after:?}");
    assert!(memory < before.1 + 4096, "{before:?} {after:?}");
    soon("facts are not old", || {
        Ok(!live.server.post("/mutate", body(&pod_of("p")).as_bytes())?.body.contains("FAB813"))
    })?;
    Ok(live.end()?)
}

/// Nodes of the storm, and how often each changes.
const NODES: usize = 1500;
const ROUNDS: usize = 4;

fn storm() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    let published = live.metric("fabric_admission_snapshots_published_total")?;
    let begun = Instant::now();
    let (count, slowest) = under_load(&live, |live| {
        for round in 0..ROUNDS {
            for nth in 0..NODES {
                let fabric = ["east", "west"][(nth + round) % 2];
                live.script.put("Node", node(&format!("n{nth}"), fabric, &format!("pool-{nth}")));
                live.script.put("NetworkAttachmentDefinition", network(&format!("n{}", nth % 50)));
            }
            // All watches are refused at once, and everything is listed again.
            live.script.compact(Gone::Status);
            live.script.drop_streams(crate::support::scripted_api_server::script::How::Closed);
        }
        within(Duration::from_secs(60), "every node is known", || {
            Ok(live.of_kind("objects", "Node")? == (NODES + 3) as f64)
        })?;
        live.gives(&pod_of("pool-7"), ["x.com/east", "x.com/west"][(7 + ROUNDS - 1) % 2])
    })?;
    let published = live.metric("fabric_admission_snapshots_published_total")? - published;
    eprintln!(
        "{} changes in {:?}: {published} Snapshots, {count} answers, the slowest {slowest:?}",
        2 * NODES * ROUNDS,
        begun.elapsed()
    );
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    live.settled()?;
    Ok(live.end()?)
}

/// The wall clock leaps by a hundred days and back by a day, as after a suspended machine or a wrong time server. How
/// old facts are, deadlines and pauses follow the monotonic clock.
fn clock(library: &Path) -> Outcome {
    let script = site()?;
    let clock = crate::support::Scratch::new()?;
    let file = clock.path().join("clock");
    let set = |offset: &str| std::fs::write(&file, offset).map_err(|e| e.to_string());
    set("+0d")?;
    let server = {
        let (library, file) = (library.to_string_lossy().into_owned(), file.to_string_lossy().into_owned());
        let environment = [
            ("LD_PRELOAD", library.as_str()),
            ("FAKETIME_TIMESTAMP_FILE", file.as_str()),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        serve(&script, &["--watch-timeout", "2", "--stale-after", "20"], &environment)?
    };
    let live = Live { script, server };
    live.ready()?;
    live.settled()?;
    let contact = || live.of_kind("last_contact_timestamp_seconds", "Node");
    let now = contact()?;
    let mut open = live.server.client()?;
    let (mut highest, mut lowest) = (now, now);
    for offset in ["+100d", "-1d", "+0d"] {
        set(offset)?;
        for _ in 0..25 {
            let answer = open.post("/mutate", body(&pod_of("p")).as_bytes())?;
            assert!(answer.status == 200 && !answer.closes(), "{answer:?}");
            assert!(!answer.body.contains("FAB813"), "facts are old at {offset}: {}", answer.body);
            std::thread::sleep(Duration::from_millis(100));
        }
        (highest, lowest) = (highest.max(contact()?), lowest.min(contact()?));
        assert_eq!(live.server.admin("/readyz")?.status, 200, "{offset}");
    }
    assert!(
        highest > now + 99.0 * 86_400.0 && lowest < now - 80_000.0,
        "the clock did not jump: {now} {highest} {lowest}"
    );
    // The cluster is followed as before.
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    let (count, _) = under_load(&live, |_| pause(Duration::from_millis(500)))?;
    assert!(count > 5);
    Ok(live.end()?)
}
