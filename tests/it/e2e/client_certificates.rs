//! kube-apiserver shows us a client certificate, as docs/reliability.md says how: the right one, none, one of another
//! authority and one of another name.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, rendered, training_pod, with_url};
use super::trial;
use crate::support::client_authority::{Authority, Identity};
use crate::support::read;
use crate::support::server::{PROFILE, Server};
use crate::support::suite::{Outcome, Suite};
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "the_api_server_shows_its_certificate", shown);
}

const NAME: &str = "fabric-admission-client";

/// Webhooks point at the server while this lives; afterwards the API server is as it was.
struct Pointed<'a>(&'a Plane);

impl Drop for Pointed<'_> {
    fn drop(&mut self) {
        let kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
        let _ = self.0.kubectl(&["delete", kinds, "--all", "--wait=true"], "");
        self.0.kill_api_server();
        let _ = self.0.start_api_server();
    }
}

/// What the API server reads at its start: who it is to which webhook.
fn admission(plane: &Plane, webhook: &str, identity: Option<&Identity>) -> Result<(), String> {
    let write = |name: &str, text: String| {
        std::fs::write(plane.directory().join(name), text).map_err(|e| format!("{name}: {e}"))
    };
    let user = match identity {
        None => "{}".to_owned(),
        Some(identity) => {
            write("webhook.crt", identity.certificate.clone())?;
            write("webhook.key", identity.key.clone())?;
            let path = |name: &str| plane.directory().join(name).display().to_string();
            format!("{{client-certificate: {}, client-key: {}}}", path("webhook.crt"), path("webhook.key"))
        }
    };
    write(
        "webhook-kubeconfig",
        format!("apiVersion: v1\nkind: Config\nusers:\n- name: '{webhook}'\n  user: {user}\n"),
    )?;
    let plugin = |name: &str| {
        let file = plane.directory().join("webhook-kubeconfig").display().to_string();
        format!(
            "- name: {name}\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    \
             kind: WebhookAdmissionConfiguration\n    kubeConfigFile: {file}\n"
        )
    };
    let plugins = plugin("MutatingAdmissionWebhook") + &plugin("ValidatingAdmissionWebhook");
    write(
        "admission.yaml",
        format!("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n{plugins}"),
    )
}

fn shown(plane: &Plane) -> Outcome {
    let (ours, other) = (Authority::new()?, Authority::new()?);
    let files = [("profiles.yaml", PROFILE), ("client-ca.crt", ours.pem.as_str())];
    let args = [
        "--profiles",
        "profiles.yaml",
        "--lame-duck",
        "0",
        "--client-ca",
        "client-ca.crt",
        "--client-name",
        NAME,
    ];
    let server = Server::start(&files, &args)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let _pointed = Pointed(plane);
    let address = format!("localhost:{}", server.webhook.port());
    let ca = read(&server.scratch.path().join("tls/ca.crt"))?;
    for object in rendered(plane, "base")? {
        if object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")) {
            plane.apply(&with_url(object, &|_| address.clone(), &ca)?.to_string())?;
        }
    }
    let create = || {
        let args = ["create", "-n", namespace.as_str(), "-f", "-", "--dry-run=server", "-o", "json"];
        plane.kubectl(&args, &training_pod("p").to_string())
    };
    for (what, identity, alert) in [
        ("no certificate", None, Some("tls: certificate required")),
        ("another authority", Some(other.client(NAME)?), Some("tls: unknown certificate authority")),
        ("another name", Some(ours.client("system:node:gpu-1")?), Some("tls: access denied")),
        ("the right one", Some(ours.client(NAME)?), None),
    ] {
        admission(plane, &address, identity.as_ref())?;
        plane.kill_api_server();
        plane.start_api_server_with(&["--admission-control-config-file=admission.yaml"])?;
        let answered = || -> Result<u64, String> {
            let text = server.admin("/metrics")?.body;
            let lines = text.lines().filter(|l| l.starts_with("fabric_admission_requests_total{"));
            Ok(lines.filter_map(|l| l.rsplit(' ').next()?.parse::<u64>().ok()).sum())
        };
        match alert {
            None => plane.until("the pod is fitted", Duration::from_secs(20), || {
                let done = create()?;
                Ok(done.ok && done.stdout.contains("rail7"))
            })?,
            Some(alert) => {
                let mut output = String::new();
                plane
                    .until(what, Duration::from_secs(20), || {
                        output = create()?.stderr;
                        Ok(output.contains(alert))
                    })
                    .map_err(|e| format!("{e}: {output}"))?;
                assert_eq!(answered()?, 0, "{what}");
            }
        }
    }
    Ok(())
}
