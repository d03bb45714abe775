//! Rotations of the CA while pods are created: nobody notices. Every state of them survives a death.

use super::super::support::plane::Plane;
use super::load::{failed_calls, under_load};
use super::number;
use super::replicas_start_at_once::together;
use super::site::{CONFIGURATIONS, Site, metric};
use crate::support::server::Server;
use crate::support::suite::Outcome;
use serde_json::Value;
use std::time::{Duration, Instant};

/// A CA for 24 seconds, a leaf for 6.
const SHORT: [&str; 12] = [
    "--tls-ca-life",
    "24s",
    "--tls-leaf-life",
    "6s",
    "--tls-soak",
    "2s",
    "--tls-clock-skew",
    "0s",
    "--tls-tick",
    "1s",
    "--tls-settle",
    "1s",
];

fn note(secret: &Value, name: &str) -> String {
    secret["metadata"]["annotations"][format!("fabric-admission.dev/{name}")]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

pub(super) fn under_creates(plane: &Plane) -> Outcome {
    let seconds = number("FABRIC_ADMISSION_CERTIFICATE_SECONDS", 20);
    let site = Site::new(plane)?;
    let servers = together(&site, &SHORT)?;
    servers.iter().try_for_each(|server| site.ready(server).map(drop))?;
    site.front.set(&servers.iter().collect::<Vec<_>>());
    site.create()?;
    let before = failed_calls(plane)?;
    let generation =
        || -> Result<u64, String> { Ok(note(&site.secret()?, "generation").parse().unwrap_or(0)) };
    let first = generation()?;
    let ((), load) = under_load(&site, 100, || {
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut largest = 0;
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(500));
            let bundle = plane.get(&[CONFIGURATIONS[1].0, CONFIGURATIONS[1].1])?;
            let bundle = bundle["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap_or_default().len();
            largest = largest.max(bundle);
        }
        eprintln!("the largest caBundle: {largest} bytes of base64");
        // An object has 1 MiB in etcd and more in requests; several CAs are far from it.
        if largest > 16 * 1024 { Err(format!("a caBundle of {largest} bytes")) } else { Ok(()) }
    })?;
    let rotations = generation()? - first;
    let leaves: i64 = servers
        .iter()
        .map(|s| metric(s, "cert_rotations_total{kind=\"leaf\""))
        .sum::<Result<i64, String>>()?;
    eprintln!(
        "{} creates in {seconds} s, {} failed, the slowest took {:?}; {rotations} rotations of the CA, {leaves} leaves",
        load.calls,
        load.failures.len(),
        load.slowest
    );
    load.clean("all the time")?;
    assert_eq!(failed_calls(plane)?, before);
    assert!(rotations >= 1 && rotations >= seconds / 24, "{rotations}");
    // A busy machine makes fewer than a hundred a second; hardly any would show nothing.
    assert!(load.calls >= usize::try_from(seconds).unwrap_or(0) * 10, "{} creates", load.calls);
    let emergencies: i64 =
        servers.iter().map(|s| metric(s, "ca_emergency_rotations_total")).sum::<Result<i64, String>>()?;
    assert_eq!(emergencies, 0);
    Ok(())
}

/// Waits, without a pause, until a state is there, and kills the replicas at once.
fn killed_at(
    site: &Site<'_>,
    servers: &mut Vec<Server>,
    what: &str,
    mut state: impl FnMut(&Value) -> bool,
) -> Result<(), String> {
    use super::super::support::api::Api;
    let mut api = Api::connect(site.plane)?;
    let path = format!("/api/v1/namespaces/fabric-admission/secrets/{}", super::site::SECRET);
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        let answer = api.ask("GET", &path, "")?;
        if answer.status == 200 && state(&answer.json()?) {
            // Dropping is SIGKILL.
            servers.clear();
            return Ok(());
        }
    }
    Err(format!("it is never {what}"))
}

pub(super) fn deaths(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let quick =
        ["--tls-leaf-life", "12s", "--tls-ca-life", "3600s", "--tls-soak", "2s", "--tls-clock-skew", "0s"];
    let args = [&quick[..], &["--tls-tick", "1s", "--tls-settle", "1s"]].concat();
    let two = || -> Result<Vec<Server>, String> { Ok(vec![site.replica(&args)?, site.replica(&args)?]) };
    let well = |servers: &[Server]| -> Result<(), String> {
        servers.iter().try_for_each(|server| site.ready(server).map(drop))?;
        site.front.set(&servers.iter().collect::<Vec<_>>());
        site.create()
    };
    let rotate = || {
        let note = "fabric-admission.dev/rotate=now";
        let args = ["annotate", "secret", super::site::SECRET, "-n", "fabric-admission", note, "--overwrite"];
        plane.kubectl(&args, "").and_then(|done| if done.ok { Ok(()) } else { Err(done.stderr) })
    };
    // Of those that start with nothing: the Secret is there, and perhaps no caBundle.
    let mut servers = two()?;
    killed_at(&site, &mut servers, "created", |_| true)?;
    servers = two()?;
    well(&servers)?;
    for phase in ["staged", "soaking", "draining"] {
        if phase != "draining" {
            rotate()?;
        }
        killed_at(&site, &mut servers, phase, |secret| note(secret, "phase") == phase)?;
        let secret = site.secret()?;
        eprintln!("killed at {phase}: generation {}", note(&secret, "generation"));
        servers = two()?;
        well(&servers)?;
        assert_eq!(metric(&servers[0], "ca_emergency_rotations_total")?, 0);
    }
    killed_at(&site, &mut servers, "drained", |secret| note(secret, "phase") == "steady")?;
    servers = two()?;
    well(&servers)?;
    let secret = site.secret()?;
    assert!(note(&secret, "generation").parse::<u32>().is_ok_and(|g| g >= 2), "{secret}");
    assert!(secret["data"].get("previous.crt").is_none(), "{secret}");
    // While one is killed, the other goes on.
    rotate()?;
    let one = servers.remove(0);
    let before = failed_calls(plane)?;
    drop(one);
    site.front.set(&servers.iter().collect::<Vec<_>>());
    plane.until("the other rotates alone", Duration::from_secs(30), || {
        site.create()?;
        Ok(note(&site.secret()?, "phase") == "draining")
    })?;
    site.create()?;
    assert_eq!(failed_calls(plane)?, before);
    Ok(())
}
