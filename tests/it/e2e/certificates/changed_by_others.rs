//! CaBundles and Secrets that others change.

use super::super::support::api::Api;
use super::super::support::plane::Plane;
use super::load::{failed_calls, under_load};
use super::replicas_start_at_once::together;
use super::site::{CONFIGURATIONS, QUICK, SECRET, Site, metric, readyz};
use crate::support::server::Server;
use crate::support::suite::Outcome;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, KeyPair};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Sets the caBundle of the first webhook of a configuration; whether the API server takes it.
fn set(site: &Site<'_>, number: usize, bundle: Option<&str>) -> Result<bool, String> {
    let (kind, name) = CONFIGURATIONS[number];
    let path = "/webhooks/0/clientConfig/caBundle";
    let patch = match bundle {
        None => json!([{"op": "remove", "path": path}]),
        Some(text) => json!([{"op": "add", "path": path, "value": STANDARD.encode(text)}]),
    };
    Ok(site.plane.kubectl(&["patch", kind, name, "--type=json", "-p", &patch.to_string()], "")?.ok)
}

/// Waits until the caBundles have the CA of the Secret again; how long that took.
fn healed(site: &Site<'_>, most: Duration) -> Result<Duration, String> {
    let (start, mut api) = (Instant::now(), Api::connect(site.plane)?);
    let mut get = |path: &str| -> Result<Value, String> { api.ask("GET", path, "")?.json() };
    while start.elapsed() < most {
        let secret = get(&format!("/api/v1/namespaces/fabric-admission/secrets/{SECRET}"))?;
        let current = secret["data"]["current.crt"].as_str().unwrap_or("?");
        let current = STANDARD.decode(current).map_err(|e| e.to_string())?;
        let mut right = true;
        for (kind, name) in CONFIGURATIONS {
            let object = get(&format!("/apis/admissionregistration.k8s.io/v1/{kind}/{name}"))?;
            for webhook in object["webhooks"].as_array().ok_or("no webhooks")? {
                let bundle = webhook["clientConfig"]["caBundle"].as_str().unwrap_or_default();
                let bundle = STANDARD.decode(bundle).map_err(|e| e.to_string())?;
                right &= bundle.windows(current.len()).any(|part| part == current);
            }
        }
        if right {
            return Ok(start.elapsed());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(format!("after {most:?} the caBundle is not put back: {:?}", readyz(site.first()?)))
}

pub(super) fn of_bundles(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let server = site.replica(&QUICK)?;
    site.ready(&server)?;
    site.front.set(&[&server]);
    site.create()?;
    let foreign = std::fs::read_to_string(plane.ca()).map_err(|e| e.to_string())?;
    let mut slowest = Duration::ZERO;
    for (what, number, bundle) in [
        ("no caBundle", 1, None),
        ("another CA", 0, Some(foreign.as_str())),
        ("garbage", 1, Some("garbage")),
        ("half a PEM", 1, Some(&foreign[..foreign.len() / 2])),
    ] {
        if !set(&site, number, bundle)? {
            eprintln!("{what}: the API server does not take it");
            continue;
        }
        let took = healed(&site, Duration::from_secs(10))?;
        slowest = slowest.max(took);
        eprintln!("{what}: put back after {took:?}");
        site.ready(&server)?;
        site.create()?;
    }
    // A tool that replaces whole objects.
    for object in site.shipped()? {
        let done = plane.kubectl(&["replace", "-f", "-"], &object.to_string())?;
        assert!(done.ok, "{}", done.stderr);
    }
    slowest = slowest.max(healed(&site, Duration::from_secs(10))?);
    assert!(metric(&server, "cabundle_reverts_total")? >= 4);
    // And nothing but the caBundle is ever touched by us.
    for (kind, name) in CONFIGURATIONS {
        let object = plane.get(&[kind, name, "--show-managed-fields"])?;
        let managers = object["metadata"]["managedFields"].as_array().ok_or("no managed fields")?;
        for ours in managers.iter().filter(|m| m["manager"] == "fabric-admission") {
            let fields = ours["fieldsV1"].to_string().replace("k:{\\\"name\\\":", "");
            let others = [
                "f:rules",
                "f:namespaceSelector",
                "f:failurePolicy",
                "f:url",
                "f:metadata",
                "f:timeoutSeconds",
            ];
            assert!(fields.contains("f:caBundle") && !others.iter().any(|o| fields.contains(o)), "{fields}");
        }
    }
    eprintln!("the slowest repair took {slowest:?}");
    Ok(())
}

/// Somebody who does not give up: said, slowed down, and restored in the end.
pub(super) fn fight(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let server = site.replica(&QUICK)?;
    site.ready(&server)?;
    site.front.set(&[&server]);
    for _ in 0..5 {
        set(&site, 1, None)?;
        healed(&site, Duration::from_secs(10))?;
        std::thread::sleep(Duration::from_millis(300));
    }
    let writes = metric(&server, "cabundle_writes_total")?;
    set(&site, 1, None)?;
    plane.until("the fight is reported", Duration::from_secs(5), || {
        let (status, body) = readyz(server.admin)?;
        Ok(status == 503 && body.contains("keeps changing") && metric(&server, "cabundle_fight")? == 1)
    })?;
    plane.until("an Event tells it", Duration::from_secs(5), || {
        let events = plane.get(&["events.events.k8s.io", "-n", "fabric-admission"])?;
        let mut items = events["items"].as_array().into_iter().flatten();
        Ok(items.any(|e| e["reason"] == "CaBundleChangedByOthers" && e["regarding"]["name"] == SECRET))
    })?;
    // Once a second, for a while.
    for _ in 0..6 {
        set(&site, 1, Some(" "))?;
        std::thread::sleep(Duration::from_secs(1));
    }
    let more = metric(&server, "cabundle_writes_total")? - writes;
    assert!(more <= 1, "{more} writes in a fight");
    assert_eq!(server.admin("/livez")?.status, 200);
    let took = healed(&site, Duration::from_secs(40))?;
    site.ready(&server)?;
    site.create()?;
    eprintln!("{more} writes during the fight; put back {took:?} after its end");
    Ok(())
}

/// Edits the Secret's data; a value of null takes a field away.
fn edit(site: &Site<'_>, data: &Value) -> Result<(), String> {
    let patch = json!({"data": data}).to_string();
    let args = ["patch", "secret", SECRET, "-n", "fabric-admission", "--type=merge", "-p", &patch];
    let done = site.plane.kubectl(&args, "")?;
    if done.ok { Ok(()) } else { Err(done.stderr) }
}

/// A CA of any validity and name, with its key.
fn authority(name: &[(DnType, &str)], from: (i32, u8), until: (i32, u8)) -> Result<(String, String), String> {
    let key = KeyPair::generate().map_err(|e| e.to_string())?;
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for (kind, value) in name {
        params.distinguished_name.push(kind.clone(), *value);
    }
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_before = rcgen::date_time_ymd(from.0, from.1, 1);
    params.not_after = rcgen::date_time_ymd(until.0, until.1, 1);
    let made = params.self_signed(&key).map_err(|e| e.to_string())?;
    Ok((STANDARD.encode(made.pem()), STANDARD.encode(key.serialize_pem())))
}

/// A Secret that is deleted, and every sort of bad content, while pods are created: nobody notices.
pub(super) fn of_the_secret(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let servers = together(&site, &QUICK)?;
    servers.iter().try_for_each(|server| site.ready(server).map(drop))?;
    site.front.set(&servers.iter().collect::<Vec<_>>());
    let before = failed_calls(plane)?;
    let common = |name| (DnType::CommonName, name);
    let expired = authority(&[common("fabric-admission CA old")], (2020, 1), (2021, 1))?;
    let foreign = authority(&[common("CA"), (DnType::OrganizationName, "another")], (2020, 1), (2050, 1))?;
    let mut one = authority(&[common("one")], (2020, 1), (2050, 1))?;
    one.1 = authority(&[common("two")], (2020, 1), (2050, 1))?.1;
    let garbage = STANDARD.encode("garbage");
    let current = |crt: &str, key: &str| json!({"current.crt": crt, "current.key": key});
    let cases = [
        ("a key that does not fit", current(&one.0, &one.1)),
        ("an expired CA", current(&expired.0, &expired.1)),
        ("a foreign CA", current(&foreign.0, &foreign.1)),
        ("garbage", json!({"current.crt": garbage, "previous.crt": garbage})),
        ("no key", json!({"current.key": null})),
        ("a bad next CA", json!({"next.crt": garbage})),
    ];
    let emergencies =
        || -> Result<i64, String> { servers.iter().map(|s| metric(s, "ca_emergency_rotations_total")).sum() };
    for (n, (what, data)) in cases.iter().enumerate() {
        let known = site.secret()?["data"]["current.crt"].clone();
        let (took, load) = under_load(&site, 50, || {
            let start = Instant::now();
            edit(&site, data)?;
            plane.until("there is a good CA", Duration::from_secs(10), || {
                let data = &site.secret()?["data"];
                let fine = data.get("next.crt").is_none() && data.get("current.key").is_some();
                Ok(fine
                    && (n == 5
                        || (data["current.crt"] != known && emergencies()? > i64::try_from(n).unwrap_or(0))))
            })?;
            let took = start.elapsed();
            // Every replica has its new leaf by then.
            std::thread::sleep(Duration::from_secs(2));
            Ok(took)
        })?;
        eprintln!("{what}: restored after {took:?}; {} creates, {} failed", load.calls, load.failures.len());
        load.clean(what)?;
    }
    assert_eq!(emergencies()?, 5);
    let (took, load) = under_load(&site, 50, || {
        let start = Instant::now();
        plane.kubectl(&["delete", "secret", SECRET, "-n", "fabric-admission"], "")?;
        plane.until("there is another Secret", Duration::from_secs(10), || Ok(site.secret().is_ok()))?;
        let took = start.elapsed();
        std::thread::sleep(Duration::from_secs(3));
        Ok(took)
    })?;
    eprintln!("deleted: another after {took:?}; {} creates, gap {:?}", load.calls, load.gap);
    load.clean("all the time")?;
    assert_eq!(failed_calls(plane)?, before);
    servers.iter().try_for_each(|server: &Server| site.ready(server).map(drop))?;
    Ok(())
}

/// Nobody is left when the Secret goes: whoever comes takes the CA that API servers trust into account.
pub(super) fn nobody_left(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    let server = site.replica(&QUICK)?;
    site.ready(&server)?;
    drop(server);
    plane.kubectl(&["delete", "secret", SECRET, "-n", "fabric-admission"], "")?;
    let start = Instant::now();
    let server = site.replica(&QUICK)?;
    site.ready(&server)?;
    site.front.set(&[&server]);
    site.create()?;
    eprintln!("a new CA is served and believed {:?} after the start", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(site.secret()?["data"].get("previous.crt").is_some());
    Ok(())
}
