//! Rights that are missing, clocks that are wrong, configurations that are not there.

use super::super::support::plane::Plane;
use super::super::support::site::rendered;
use super::site::{CONFIGURATIONS, QUICK, SECRET, Site, metric, readyz};
use crate::support::Scratch;
use crate::support::server::Server;
use crate::support::suite::Outcome;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Our ClusterRole or Role, with what `change` makes of each rule.
fn role(plane: &Plane, kind: &str, change: impl Fn(&mut Value)) -> Result<(), String> {
    for mut object in rendered(plane, "base")? {
        if object["kind"] == kind {
            let rules = object["rules"].as_array_mut().ok_or("no rules")?;
            rules.iter_mut().for_each(&change);
            // The API server takes no rule without verbs.
            rules.retain(|rule| rule["verbs"].as_array().is_some_and(|verbs| !verbs.is_empty()));
            plane.apply(&object.to_string())?;
        }
    }
    Ok(())
}

fn without(rule: &mut Value, resource: &str, verb: &str) {
    if rule["resources"].to_string().contains(resource)
        && let Some(verbs) = rule["verbs"].as_array_mut()
    {
        verbs.retain(|v| v != verb);
    }
}

/// Waits until `/readyz` says something, with the status that comes with it.
fn says(plane: &Plane, server: &Server, status: u16, words: &[&str]) -> Result<String, String> {
    let mut last = String::new();
    plane
        .until(&format!("/readyz says {words:?}"), Duration::from_secs(15), || {
            let (is, body) = readyz(server.admin)?;
            last = format!("{is} {body}");
            Ok(is == status && words.iter().all(|word| body.contains(word)))
        })
        .map_err(|e| format!("{e}: {last}"))?;
    Ok(last)
}

/// Rights back as they are shipped, however a trial ends.
struct Rights<'a>(&'a Plane);

impl Drop for Rights<'_> {
    fn drop(&mut self) {
        for kind in ["ClusterRole", "Role"] {
            let _ = role(self.0, kind, |_| {});
        }
    }
}

pub(super) fn rights(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let _rights = Rights(plane);
    for (kind, resource, verb, words) in [
        ("ClusterRole", "webhookconfigurations", "patch", ["correcting the caBundle failed", "forbidden"]),
        ("ClusterRole", "webhookconfigurations", "get", ["reading ", "forbidden"]),
        (
            "Role",
            "secrets",
            "create",
            ["writing Secret fabric-admission/fabric-admission-ca failed", "forbidden"],
        ),
        (
            "Role",
            "secrets",
            "get",
            ["reading Secret fabric-admission/fabric-admission-ca failed", "forbidden"],
        ),
    ] {
        site.clear()?;
        site.install()?;
        role(plane, kind, |rule| without(rule, resource, verb))?;
        // The authorizer takes the role up a moment later.
        std::thread::sleep(Duration::from_millis(500));
        let server = site.replica(&QUICK)?;
        let said = says(plane, &server, 503, &words)?;
        assert_eq!(server.admin("/livez")?.status, 200);
        role(plane, kind, |_| {})?;
        let start = Instant::now();
        site.ready(&server)?;
        site.front.set(&[&server]);
        site.create()?;
        eprintln!("without {verb} of {resource}: {said}; ready {:?} after the right came", start.elapsed());
    }
    Ok(())
}

/// Configurations that do not exist, come, or are others'.
pub(super) fn absent(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
    plane.kubectl(&["delete", kinds, "--all", "--wait=true"], "")?;
    let server = site.replica(&QUICK)?;
    site.front.set(&[&server]);
    let names = [
        "MutatingWebhookConfiguration pod-fabric-admission does not exist",
        "fabric-admission does not exist",
    ];
    says(plane, &server, 200, &names)?;
    // They come without a caBundle, renamed at first: those are nobody's.
    let mut shipped = site.shipped()?;
    let (kind, name) = CONFIGURATIONS[1];
    shipped[1]["metadata"]["name"] = json!("renamed");
    for object in &shipped {
        plane.apply(&object.to_string())?;
    }
    says(plane, &server, 200, &["ValidatingWebhookConfiguration fabric-admission does not exist"])?;
    assert!(plane.get(&[kind, "renamed"])?["webhooks"][0]["clientConfig"].get("caBundle").is_none());
    plane.kubectl(&["delete", kind, "renamed"], "")?;
    let start = Instant::now();
    site.install()?;
    plane.until("the webhook is believed", Duration::from_secs(10), || Ok(site.create().is_ok()))?;
    eprintln!("configurations that come are believed after {:?}", start.elapsed());
    // One that asks for another server than ours is reported, by name.
    let patch = r#"[{"op":"replace","path":"/webhooks/1/clientConfig/url","value":"https://other.example.com/audit"}]"#;
    plane.kubectl(&["patch", kind, name, "--type=json", "-p", patch], "")?;
    says(plane, &server, 503, &["webhook audit.fabric-admission.dev", "not for other.example.com"])?;
    site.install()?;
    site.ready(&server)?;
    // A Secret that nobody may change.
    let patch = r#"{"immutable":true}"#;
    plane.kubectl(&["patch", "secret", SECRET, "-n", "fabric-admission", "-p", patch], "")?;
    let rotate = "fabric-admission.dev/rotate=now";
    plane.kubectl(&["annotate", "secret", SECRET, "-n", "fabric-admission", rotate], "")?;
    says(plane, &server, 200, &["failed (stage)", "immutable"])?;
    site.create()?;
    Ok(())
}

/// Clocks ten minutes fast and slow, with the lives that are shipped.
pub(super) fn clocks(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let files = Scratch::new()?;
    let mut servers = Vec::new();
    for offset in ["600", "-600", "0"] {
        let file = files.path().join(offset);
        std::fs::write(&file, offset).map_err(|e| e.to_string())?;
        let file = file.to_string_lossy().into_owned();
        let server =
            site.replica(&["--tls-settle", "1s", "--tls-tick", "2s", "--tls-test-clock-offset", &file])?;
        site.ready(&server)?;
        // Each alone: the API server, whose clock is right, believes it.
        site.front.set(&[&server]);
        plane.until("it is in front", Duration::from_secs(5), || Ok(site.create().is_ok()))?;
        servers.push(server);
    }
    let rotate = "fabric-admission.dev/rotate=now";
    plane.kubectl(&["annotate", "secret", SECRET, "-n", "fabric-admission", rotate], "")?;
    plane.until("the next CA soaks", Duration::from_secs(10), || {
        Ok(site.secret()?["metadata"]["annotations"]["fabric-admission.dev/phase"] == "soaking")
    })?;
    // Between a mark of a slow clock and a fast one's look lie twenty minutes: no reason to switch.
    std::thread::sleep(Duration::from_secs(5));
    let secret = site.secret()?;
    assert_eq!(secret["metadata"]["annotations"]["fabric-admission.dev/phase"], "soaking", "{secret}");
    for server in &servers {
        site.ready(server)?;
        assert_eq!(metric(server, "ca_emergency_rotations_total")?, 0);
    }
    // A machine that was suspended for a hundred days renews its leaf at the next look.
    let leaves = metric(&servers[2], "cert_rotations_total{kind=\"leaf\"")?;
    let start = Instant::now();
    std::fs::write(files.path().join("0"), "8640000").map_err(|e| e.to_string())?;
    plane.until("the leaf is renewed", Duration::from_secs(60), || {
        Ok(metric(&servers[2], "cert_rotations_total{kind=\"leaf\"")? > leaves)
    })?;
    eprintln!("renewed {:?} after a jump of a hundred days", start.elapsed());
    // Its mark of the next CA is a hundred days old by that clock: still no reason to switch.
    let secret = site.secret()?;
    assert_eq!(secret["metadata"]["annotations"]["fabric-admission.dev/phase"], "soaking", "{secret}");
    // And set right: the leaf is not valid yet, and is renewed.
    let start = Instant::now();
    std::fs::write(files.path().join("0"), "0").map_err(|e| e.to_string())?;
    plane.until("the leaf is renewed again", Duration::from_secs(60), || {
        Ok(metric(&servers[2], "cert_rotations_total{kind=\"leaf\"")? > leaves + 1)
    })?;
    site.ready(&servers[2])?;
    site.front.set(&[&servers[2]]);
    site.create()?;
    eprintln!("ready {:?} after the clock was set back by a hundred days", start.elapsed());
    drop(servers);
    ahead(&site)
}

/// Everybody's clock is five hours ahead when the CA is made, and is set right: a CA that no API server believes yet is
/// replaced as one that has expired.
fn ahead(site: &Site<'_>) -> Outcome {
    site.front.set(&[]);
    site.clear()?;
    site.install()?;
    let files = Scratch::new()?;
    let file = files.path().join("clock");
    std::fs::write(&file, "18000").map_err(|e| e.to_string())?;
    let clock = file.to_string_lossy().into_owned();
    let args = ["--tls-settle", "1s", "--tls-tick", "2s", "--tls-test-clock-offset", &clock];
    let servers = [site.replica(&args)?, site.replica(&args)?];
    servers.iter().try_for_each(|server| site.ready(server).map(drop))?;
    site.front.set(&[&servers[0], &servers[1]]);
    assert!(site.create().is_err(), "the API server's clock is right");
    let start = Instant::now();
    std::fs::write(&file, "0").map_err(|e| e.to_string())?;
    let plane = site.plane;
    plane.until("the API server believes it", Duration::from_secs(60), || Ok(site.create().is_ok()))?;
    servers.iter().try_for_each(|server| site.ready(server).map(drop))?;
    eprintln!("believed {:?} after the clocks were set right", start.elapsed());
    let emergencies: i64 =
        servers.iter().map(|s| metric(s, "ca_emergency_rotations_total")).sum::<Result<i64, String>>()?;
    assert_eq!(emergencies, 1);
    Ok(())
}
