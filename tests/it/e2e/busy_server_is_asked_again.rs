//! What the API server makes of a busy server and of silence: it asks again, and goes on over the same connection.

use super::support::api::Api;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, training_pod};
use super::trial;
use crate::support::jobset_with_long_decision::jobset_with_long_decision;
use crate::support::suite::{Outcome, Suite};
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

/// The server decides on one request at a time here, and other clients send it requests with long decisions: a request has its
/// place during the decision only. A create may come in between two of them, so the trial is repeated.
fn busy(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &["--max-requests", "1"])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut api = Api::connect(plane)?;
    create(&mut api, &namespace)?;
    let long = jobset_with_long_decision(250).into_bytes();
    let refused = || site.server.metric("fabric_admission_shed_total{reason=\"requests\"}");
    let mut tries = Vec::new();
    for _ in 0..20 {
        let before = refused()?;
        let until = Instant::now() + Duration::from_millis(700);
        let took = std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while Instant::now() < until {
                        let _ = site.server.post("/validate-workload", &long);
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(300));
            create(&mut api, &namespace)
        })?;
        let shed = refused()? - before;
        eprintln!("a create during {shed} refusals took {took:?}");
        // The API server waits for the second that Retry-After says.
        if shed >= 1.0 && took >= Duration::from_secs(1) {
            return Ok(());
        }
        tries.push((shed, took));
    }
    Err(format!("no create was refused and asked again: {tries:?}").into())
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
