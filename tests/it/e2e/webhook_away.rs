//! Who can still create what while we are away: the rows of docs/webhook-failures.md.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, canary_pod, cpu_pod, training_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::json;
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "mutate_away_then_enforce_refuses_the_bare_pod", mutate_away);
    trial(suite, assets, "server_away", server_away);
    trial(suite, assets, "a_wrong_certificate_is_as_good_as_away", wrong_certificate);
}

pub(super) fn mutate_away(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    site.point(|name| !name.starts_with("mutate."))?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let bare = site.create(&namespace, &training_pod("bare"), &[])?;
    assert!(
        !bare.ok
            && bare.stderr.contains("\"enforce.fabric-admission.dev\" denied the request: 1 error, FAB802"),
        "{}",
        bare.stderr
    );
    assert!(site.create(&namespace, &cpu_pod("cpu"), &[])?.ok);
    // The same pod, annotated to run without the fabric, is admitted.
    let mut opted_out = training_pod("opted-out");
    opted_out["metadata"]["annotations"]["fabric-admission.dev/inject"] = json!("false");
    let done = site.create(&namespace, &opted_out, &[])?;
    assert!(done.ok, "{}", done.stderr);
    Ok(())
}

pub(super) fn server_away(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    site.point(|_| false)?;
    let enforce = plane.namespace(&[PROFILE_LABEL])?;
    let audit = plane.namespace(&[("fabric-admission.dev/mode", "audit")])?;
    let plain = plane.namespace(&[])?;
    let mut unit = cpu_pod("unit");
    unit["spec"]["initContainers"] = json!([{"name": "i", "image": "example.com/i:1", "resources": {"limits": {"example.com/new-device": 1}}}]);
    let mut claim = cpu_pod("claim");
    claim["spec"]["resourceClaims"] = json!([{"name": "a", "resourceClaimName": "a"}]);
    for pod in [training_pod("gpu"), unit, claim] {
        let refused = site.create(&enforce, &pod, &[])?;
        let expected = "failed calling webhook \"enforce.fabric-admission.dev\"";
        assert!(
            !refused.ok && refused.stderr.contains(expected) && refused.stderr.contains("connection refused"),
            "{}",
            refused.stderr
        );
        for namespace in [&audit, &plain] {
            let done = site.create(namespace, &pod, &[])?;
            assert!(done.ok && !done.stderr.contains("Warning"), "{namespace}: {}", done.stderr);
        }
    }
    // Pods without a sign of a fabric start everywhere.
    for namespace in [&enforce, &audit, &plain] {
        let done = site.create(namespace, &cpu_pod("cpu"), &[])?;
        assert!(done.ok && !done.stderr.contains("Warning"), "{namespace}: {}", done.stderr);
    }
    // Running pods, their deletion and other objects have nothing to do with us.
    assert!(plane.kubectl(&["label", "pod", "cpu", "-n", &audit, "x=y"], "")?.ok);
    assert!(plane.kubectl(&["delete", "pod", "cpu", "-n", &audit, "--wait=false"], "")?.ok);
    let policy = json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy", "metadata": {"name": "p"}, "spec": {}});
    assert!(site.create(&plain, &policy, &[])?.ok);
    // The series of the API server that two of our alerts use (deploy/components/monitoring).
    let metrics = plane.kubectl(&["get", "--raw", "/metrics"], "")?.stdout;
    for series in ["fail_open_count", "admission_duration_seconds_bucket"] {
        for webhook in ["mutate", "audit"] {
            let line =
                format!("apiserver_admission_webhook_{series}{{name=\"{webhook}.fabric-admission.dev\"");
            assert!(metrics.lines().any(|l| l.starts_with(&line)), "{line}");
        }
    }
    Ok(())
}

fn wrong_certificate(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let enforce = plane.namespace(&[PROFILE_LABEL])?;
    let audit = plane.namespace(&[("fabric-admission.dev/mode", "audit")])?;
    // The caBundle becomes that of another CA, which makes the API server open new connections.
    crate::support::server::certificate(&site.server.scratch.path().join("tls"))?;
    site.install(|_| true)?;
    plane.until("the wrong certificate is refused", std::time::Duration::from_secs(20), || {
        let done = site.create(&enforce, &canary_pod(), &["--dry-run=server"])?;
        Ok(!done.ok && done.stderr.contains("x509: certificate signed by unknown authority"))
    })?;
    assert!(site.create(&audit, &training_pod("p"), &[])?.ok);
    Ok(())
}
