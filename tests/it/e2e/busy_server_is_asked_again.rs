//! What the API server makes of a busy server and of silence: it asks again, and goes on over the same connection.

use super::support::api::Api;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, training_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "a_busy_server_is_asked_again", busy);
    trial(suite, assets, "an_idle_connection_is_used_again", idle);
}

/// Creates a pod through the API server; how long that took.
fn create(api: &mut Api, namespace: &str) -> Result<Duration, String> {
    let started = Instant::now();
    let path = format!("/api/v1/namespaces/{namespace}/pods?dryRun=All");
    let answer = api.ask("POST", &path, &training_pod("p").to_string())?;
    match answer.status {
        201 if answer.body.contains("rail7") => Ok(started.elapsed()),
        _ => Err(format!("{} {}", answer.status, answer.body)),
    }
}

/// The address of the API server has as many bytes of bodies here as it may have: small bodies too, since they have a
/// share of their own.
fn busy(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &["--max-body-memory", "16"])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut api = Api::connect(plane)?;
    create(&mut api, &namespace)?;
    let begin = |bytes: usize| {
        let mut client = site.server.client()?;
        let head = format!(
            "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n"
        );
        let stream = &mut client.stream;
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b' '; bytes - 1]));
        sent.and_then(|()| stream.flush()).map_err(|e| e.to_string())?;
        Ok::<_, String>(client)
    };
    // The less is left, the smaller the part that one address gets of it: large ones of the small bodies first.
    let mut slow = Vec::new();
    for bytes in [60 << 10, 16 << 10, 4 << 10] {
        let full = || Ok(site.server.post("/mutate", &vec![b' '; bytes])?.status == 503);
        for _ in 0..10 {
            slow.extend((0..30).map(|_| begin(bytes)).collect::<Result<Vec<_>, _>>()?);
            if plane.until("a body is refused", Duration::from_millis(300), full).is_ok() {
                break;
            }
        }
    }
    let refused = || site.server.metric("fabric_admission_shed_total{reason=\"memory\"}");
    let before = refused()?;
    let took = std::thread::scope(|scope| {
        let creating = scope.spawn(|| create(&mut api, &namespace));
        std::thread::sleep(Duration::from_millis(1500));
        for client in &mut slow {
            // Those that were refused are closed.
            let _ = client.stream.write_all(b" ").and_then(|()| client.stream.flush());
        }
        creating.join().map_err(|_| "the create panicked".to_owned())?
    })?;
    let shed = refused()? - before;
    eprintln!("a create during {shed} refusals took {took:?}");
    assert!(shed >= 2.0 && took >= Duration::from_secs(1), "{shed} {took:?}");
    Ok(())
}

/// Longer than any deadline but the idle one; with `FABRIC_ADMISSION_IDLE` minutes of it, at the distances of a quiet
/// cluster.
fn idle(plane: &Plane) -> Outcome {
    let mut site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut api = Api::connect(plane)?;
    create(&mut api, &namespace)?;
    let handshakes = "fabric_admission_tls_handshakes_total{result=\"ok\"}";
    let before = site.server.metric(handshakes)?;
    let minutes = std::env::var("FABRIC_ADMISSION_IDLE").ok().and_then(|n| n.parse::<u64>().ok());
    let (pauses, most) = match minutes {
        Some(minutes) => (vec![85, 31], Duration::from_secs(minutes * 60)),
        None => (vec![11], Duration::from_secs(11)),
    };
    let (started, mut creates) = (Instant::now(), 0);
    for pause in pauses.iter().cycle() {
        std::thread::sleep(Duration::from_secs(*pause));
        create(&mut Api::connect(plane)?, &namespace)?;
        creates += 1;
        if started.elapsed() >= most {
            break;
        }
    }
    let more = site.server.metric(handshakes)? - before;
    eprintln!("{creates} creates in {:?}: {more} handshakes more", started.elapsed());
    // One for each time that the connection got as old as it may (`--max-connection-age`, a tenth less at least).
    let by_age = started.elapsed().as_secs() / 540;
    assert!(more <= by_age as f64, "{more} handshakes more after {creates} creates, {by_age} of them by age");
    for reason in ["slow_header", "slow_answer", "idle"] {
        assert!(site.server.metric(&format!("fabric_admission_shed_total{{reason=\"{reason}\"}}"))? == 0.0);
    }
    if minutes.is_some() {
        // The API server closes the connection after 90 s; the server would after 95.
        let used = Instant::now();
        site.server.signal("-TERM")?;
        assert_eq!(site.server.wait(Duration::from_secs(98))?, 0);
        eprintln!("ended {:?} after the last create", used.elapsed());
        assert!((80..94).contains(&used.elapsed().as_secs()), "{:?}", used.elapsed());
    }
    Ok(())
}
