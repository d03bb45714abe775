//! One neighbour opens thousands of connections and asks as fast as it can; another client is served meanwhile, memory
//! stays below its bound, and all is well within five seconds after it.

use crate::support::server::{Client, PROFILE, Server, bare_pod, review, trusting};
use crate::support::server_in_process::connect_from;
use crate::support::suite::{Outcome, Suite};
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::a_flood_from_one_address_is_survived", flood);
    suite.add("webhook::stalled_bodies_stay_within_their_memory", stalled_bodies);
    suite.add("webhook::the_largest_answer_is_bounded", largest_answer);
    suite.add("webhook::large_bodies_together_stay_within_their_memory", large_bodies);
}

/// Seconds of flood, and connections that are opened in all.
fn size() -> (u64, usize) {
    let seconds = std::env::var("FABRIC_ADMISSION_FLOOD").ok().and_then(|s| s.parse().ok());
    seconds.map_or((2, 1500), |seconds: u64| (seconds, 10_000))
}

/// Threads that ask without a pause.
const ASKING: usize = 4;

fn flood() -> Outcome {
    let (seconds, connections) = size();
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let body = review("u", ("", "Pod"), "CREATE", &bare_pod()).to_string();
    let ca = server.scratch.path().join("tls/ca.crt");
    let at = |last: u8| {
        let config = trusting(&ca, rustls::DEFAULT_VERSIONS)?.with_no_client_auth();
        Client::over(connect_from(last, server.webhook)?, config)
    };
    let mut calm = at(2)?;
    assert_eq!(calm.post("/mutate", body.as_bytes())?.status, 200);
    let (over, all_opened) = (AtomicBool::new(false), AtomicBool::new(false));
    let answered = AtomicUsize::new(0);
    let (mut times, mut shed) = (Vec::new(), 0_usize);
    std::thread::scope(|scope| -> Outcome {
        for _ in 0..ASKING {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let Ok(mut client) = at(3) else { continue };
                    while !over.load(Ordering::SeqCst) && client.post("/mutate", body.as_bytes()).is_ok() {
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        scope.spawn(|| {
            let mut held: Vec<TcpStream> = Vec::new();
            while !over.load(Ordering::SeqCst) && held.len() < connections {
                held.extend(connect_from(3, server.webhook));
            }
            all_opened.store(true, Ordering::SeqCst);
            while !over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        // What an API server does meanwhile: a request every ten milliseconds.
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut story = || -> Result<(), String> {
            // A machine with other work may take longer to open them all.
            while Instant::now() < end || !all_opened.load(Ordering::SeqCst) {
                let started = Instant::now();
                let answer = calm.post("/mutate", body.as_bytes())?;
                times.push(started.elapsed());
                shed += usize::from(answer.status == 503);
                if !matches!(answer.status, 200 | 503) {
                    return Err(format!("{} {}", answer.status, answer.body));
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(())
        };
        let story = story();
        over.store(true, Ordering::SeqCst);
        Ok(story?)
    })?;
    let ended = Instant::now();
    let fine = |client: &mut Client| client.post("/mutate", body.as_bytes()).is_ok_and(|a| a.status == 200);
    while !at(3).is_ok_and(|mut client| fine(&mut client)) {
        assert!(ended.elapsed() < Duration::from_secs(5), "not well five seconds after the flood");
        std::thread::sleep(Duration::from_millis(20));
    }
    let recovered = ended.elapsed();
    times.sort_unstable();
    let p99 = times[times.len() * 99 / 100];
    let peak = server.status("VmHWM").unwrap_or_default() / 1024;
    let refused = server.metric("fabric_admission_shed_total{reason=\"peer_connections\"}")?;
    eprintln!(
        "flood of {seconds} s: {} answers to it, {refused} connections refused; the other client: {} answers, {shed} \
         of them 503, p99 {p99:?}; recovered after {recovered:?}; most memory {peak} MiB",
        answered.load(Ordering::Relaxed),
        times.len()
    );
    assert!(p99 < Duration::from_secs(2), "{p99:?} of {}", times.len());
    assert!(refused > 0.0 && peak < 128, "{refused} {peak}");
    assert_eq!(server.admin("/readyz")?.status, 200);
    Ok(())
}

/// As many bodies of nearly 8 MiB as clients send; those that have no room are answered 503.
fn large_bodies() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["pad"] = serde_json::json!("x".repeat(7 << 20));
    let body = review("u", ("", "Pod"), "CREATE", &pod).to_string();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || server.post("/mutate", body.as_bytes()).map_or(0, |answer| answer.status);
        let asking: Vec<_> = (0..24).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|a| a.join().unwrap_or(0)).collect()
    });
    let count = |status: u16| statuses.iter().filter(|s| **s == status).count();
    let peak = server.status("VmHWM").unwrap_or_default() / 1024;
    eprintln!(
        "24 bodies of 7 MiB at once: {} answered, {} asked to retry; {peak} MiB",
        count(200),
        count(503)
    );
    assert!(count(200) >= 1 && count(200) + count(503) == 24, "{statuses:?}");
    assert!(peak < 160, "{peak} MiB");
    assert_eq!(server.post("/mutate", body.as_bytes())?.status, 200);
    Ok(())
}

/// One address promises a large body on every connection that it may have, sends the first part of each and no more.
fn stalled_bodies() -> Outcome {
    const CONNECTIONS: u64 = 400;
    let server = Server::start(&[], &[])?;
    let config = trusting(&server.scratch.path().join("tls/ca.crt"), rustls::DEFAULT_VERSIONS)?;
    let config = config.with_no_client_auth();
    let head = "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 8000000\r\n\r\n";
    let part = vec![b'1'; 512 << 10];
    let mut crowd = Vec::new();
    for _ in 0..CONNECTIONS {
        crowd.push(Client::over(connect_from(3, server.webhook)?, config.clone())?);
    }
    let before = server.status("VmHWM").unwrap_or_default();
    for client in &mut crowd {
        client.stream.write_all(head.as_bytes()).map_err(|e| e.to_string())?;
        // Where the first of them were waited for too long they are closed by now.
        let _ = client.stream.write_all(&part).and_then(|()| client.stream.flush());
    }
    assert_eq!(server.post("/mutate", b"{}")?.status, 400, "another address");
    let held = server.metric("fabric_admission_held_bytes")?;
    let more = server.status("VmHWM").unwrap_or_default().saturating_sub(before);
    eprintln!(
        "{CONNECTIONS} bodies that stall: {} KiB held, {before} KiB and {more} KiB more",
        held / 1024.0
    );
    // What is counted, and beside it a read buffer of hyper's and what rustls has of a record, for each.
    assert!(more < (32 << 10) + CONNECTIONS * 56, "{more} KiB");
    Ok(())
}

/// Every container gets what the profile gives, up to a number of containers that no pod has; beyond it none does.
fn largest_answer() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let ask = |containers: usize| {
        let mut pod = bare_pod();
        pod["spec"]["containers"] = (0..containers)
            .map(|n| {
                serde_json::json!({
                    "name": format!("c{n}"), "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}
                })
            })
            .collect();
        let body = review("u", ("", "Pod"), "CREATE", &pod).to_string();
        let started = Instant::now();
        let answer = server.post("/mutate", body.as_bytes())?;
        eprintln!(
            "{containers} containers, {} KiB: an answer of {} KiB after {:?}",
            body.len() >> 10,
            answer.body.len() >> 10,
            started.elapsed()
        );
        Ok::<_, String>(answer)
    };
    let most = ask(110)?;
    assert!(most.status == 200 && most.body.contains("\"patch\""), "{}", most.status);
    assert!(most.body.len() < 1 << 20, "{}", most.body.len());
    // The API server's word of it would be FAB805 as well: nothing is injected, and the pod gets the reason.
    for containers in [fabric_admission::plan::MAX_CONTAINERS + 1, 2_000] {
        let beyond = ask(containers)?;
        assert!(beyond.status == 200 && !beyond.body.contains("\"patch\""), "{}", beyond.status);
        assert!(beyond.body.contains("FAB805") && beyond.body.len() < 16 << 10, "{}", beyond.body.len());
    }
    let refused = ask(9_000)?;
    assert!(
        refused.status == 400 && refused.body.contains("/spec/containers: more than "),
        "{}",
        refused.body
    );
    Ok(())
}
