//! A server that answers, but not with a decision: what the API server makes of it, as docs/webhook-failures.md says.

use super::reinvocation::{Reply, response, serve};
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, cpu_pod, rendered, training_pod, with_url};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use base64::Engine;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "broken_answers_are_as_good_as_none", broken);
    trial(suite, assets, "a_patch_that_does_not_apply_refuses_the_pod", bad_patch);
}

/// Points every webhook of the base at a server with these answers.
fn install(site: &Site<'_>, name: &str, reply: Reply) -> Result<(), String> {
    let directory = site.server.scratch.path().join(name);
    crate::support::server::certificate(&directory)?;
    let port = serve(&directory, reply)?;
    let ca = std::fs::read_to_string(directory.join("ca.crt")).map_err(|e| e.to_string())?;
    for object in rendered(site.plane, "base")? {
        if object["kind"].as_str().is_some_and(|kind| kind.ends_with("WebhookConfiguration")) {
            let address = |_: &str| format!("localhost:{port}");
            site.plane.apply(&with_url(object, &address, &ca)?.to_string())?;
        }
    }
    Ok(())
}

/// An answer to a request: that its object is admitted, changed as given.
fn admission(body: &[u8], edit: &dyn Fn(&mut Value)) -> Option<String> {
    let review: Value = serde_json::from_slice(body).ok()?;
    let mut answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], "allowed": true}});
    edit(&mut answer);
    Some(answer.to_string())
}

fn broken(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let (enforce, audit) =
        (plane.namespace(&[PROFILE_LABEL])?, plane.namespace(&[("fabric-admission.dev/mode", "audit")])?);
    let other_uid = |body: &[u8]| admission(body, &|answer| answer["response"]["uid"] = json!("another"));
    let cases: Vec<(&str, Reply, &str)> = vec![
        (
            "fails",
            Arc::new(|_| Some(response("500 Internal Server Error", "fabric-admission: internal error\n"))),
            "fabric-admission: internal error",
        ),
        (
            "is-elsewhere",
            Arc::new(|_| Some(response("404 Not Found", "no"))),
            "the server could not find the requested resource",
        ),
        (
            "redirects",
            Arc::new(|_| Some(response("302 Found\r\nLocation: https://localhost:1/", ""))),
            "failed calling webhook",
        ),
        ("is-cut-off", Arc::new(|_| Some(response("200 OK", "{\"apiVersion\":"))), "failed calling webhook"),
        (
            "has-another-uid",
            Arc::new(move |body| Some(response("200 OK", &other_uid(body)?))),
            "expected response.uid=",
        ),
        ("hangs", Arc::new(|_| None), "context deadline exceeded"),
    ];
    for (what, reply, words) in cases {
        install(&site, what, reply)?;
        let mut text = String::new();
        let asked = plane.until(what, Duration::from_secs(40), || {
            text = site.create(&enforce, &training_pod("p"), &["--dry-run=server"])?.stderr;
            Ok(text.contains(words))
        });
        asked.map_err(|_| format!("the server {what}: {text}"))?;
        let start = Instant::now();
        let refused = site.create(&enforce, &training_pod("p"), &["--dry-run=server"])?;
        let took = start.elapsed();
        let by_us = "failed calling webhook \"enforce.fabric-admission.dev\"";
        assert!(!refused.ok && refused.stderr.contains(by_us), "{what}: {}", refused.stderr);
        assert!(took < Duration::from_secs(15), "{what}: {took:?}");
        eprintln!("a server that {what}: refused after {took:?}: {}", refused.stderr.trim());
        let admitted = site.create(&audit, &training_pod("p"), &["--dry-run=server"])?;
        assert!(admitted.ok, "{what}: {}", admitted.stderr);
        let admitted = site.create(&enforce, &cpu_pod("p"), &["--dry-run=server"])?;
        assert!(admitted.ok, "{what}: {}", admitted.stderr);
    }
    Ok(())
}

/// failurePolicy Ignore does not cover this.
fn bad_patch(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let enforce = plane.namespace(&[PROFILE_LABEL])?;
    let patch = base64::engine::general_purpose::STANDARD
        .encode(r#"[{"op":"add","path":"/metadata/nowhere/a","value":"b"}]"#);
    let reply = move |body: &[u8]| {
        let edit = |answer: &mut Value| {
            answer["response"]["patchType"] = json!("JSONPatch");
            answer["response"]["patch"] = json!(patch);
        };
        Some(response("200 OK", &admission(body, &edit)?))
    };
    install(&site, "bad-patch", Arc::new(reply))?;
    plane.until("the patch is refused", Duration::from_secs(20), || {
        let refused = site.create(&enforce, &cpu_pod("p"), &["--dry-run=server"])?;
        Ok(!refused.ok && refused.stderr.contains("doc is missing path"))
    })?;
    Ok(())
}
