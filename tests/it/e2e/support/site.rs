//! A site: our server and the configuration of `deploy/`, rendered by kubectl and pointed at the server. There is
//! no second copy of the configuration: `service` becomes `url`, and nothing else is touched.

use super::plane::{Kubectl, Plane};
use crate::support::root;
use crate::support::server::Server;
use fabric_admission::manifest::{DocumentOrError, read_documents_of_file};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const PROFILE_LABEL: (&str, &str) = ("fabric-admission.dev/mode", "enforce");

/// Objects of an overlay of `deploy/`, as kubectl renders them.
pub(crate) fn rendered(plane: &Plane, overlay: &str) -> Result<Vec<Value>, String> {
    let path = root().join("deploy").join(overlay).to_string_lossy().into_owned();
    let done = plane.kubectl(&["kustomize", &path], "")?;
    if !done.ok {
        return Err(done.stderr);
    }
    read_documents_of_file(overlay, done.stdout.as_bytes())
        .into_iter()
        .map(|item| match item {
            DocumentOrError::Document(document) => {
                serde_json::from_str(document.json.get()).map_err(|e| e.to_string())
            }
            DocumentOrError::Error(error) => Err(error.to_string()),
            DocumentOrError::Empty { reason, .. } => Err(reason.to_owned()),
        })
        .collect()
}

/// Points the webhooks of a configuration at an address: the path stays, the CA is ours.
pub(crate) fn with_url(
    mut configuration: Value,
    address: &dyn Fn(&str) -> String,
    ca: &str,
) -> Result<Value, String> {
    use base64::Engine;
    let bundle = base64::engine::general_purpose::STANDARD.encode(ca);
    for webhook in configuration["webhooks"].as_array_mut().ok_or("no webhooks")? {
        let name = webhook["name"].as_str().ok_or("a webhook without a name")?.to_owned();
        let path =
            webhook["clientConfig"]["service"]["path"].as_str().ok_or("a webhook without a path")?.to_owned();
        webhook["clientConfig"] =
            json!({"url": format!("https://{}{path}", address(&name)), "caBundle": bundle});
    }
    Ok(configuration)
}

/// A server with its configuration installed; both go when it is dropped.
pub(crate) struct Site<'a> {
    pub(crate) plane: &'a Plane,
    pub(crate) server: Server,
    overlay: &'static str,
    canary: String,
    /// Requests that the canaries made.
    before: RefCell<BTreeMap<&'static str, u64>>,
}

const ENTRIES: [&str; 6] = ["mutate", "enforce", "audit", "workloads", "networks", "objects"];

impl<'a> Site<'a> {
    /// A server with the site profile, and every webhook of the base pointed at it.
    pub(crate) fn start(plane: &'a Plane, files: &[(&str, &str)], args: &[&str]) -> Result<Self, String> {
        Self::start_overlay(plane, "base", files, args)
    }

    /// The same with the webhooks of an overlay.
    pub(crate) fn start_overlay(
        plane: &'a Plane,
        overlay: &'static str,
        files: &[(&str, &str)],
        args: &[&str],
    ) -> Result<Self, String> {
        let mut all_files = vec![("profiles.yaml", crate::support::server::PROFILE)];
        all_files.extend(files);
        let mut all_args = vec!["--profiles", "profiles.yaml", "--lame-duck", "0"];
        all_args.extend(args);
        let server = Server::start(&all_files, &all_args)?;
        let canary = plane.namespace(&[PROFILE_LABEL])?;
        let site = Self { plane, server, overlay, canary, before: RefCell::default() };
        site.point(|_| true)?;
        Ok(site)
    }

    /// Points the webhooks that `here` names at the server and the others at a closed port.
    pub(crate) fn install(&self, here: impl Fn(&str) -> bool) -> Result<(), String> {
        let ca = std::fs::read_to_string(self.server.scratch.path().join("tls/ca.crt"))
            .map_err(|e| e.to_string())?;
        let live = format!("localhost:{}", self.server.webhook.port());
        let address = |name: &str| if here(name) { live.clone() } else { "localhost:1".to_owned() };
        for object in rendered(self.plane, self.overlay)? {
            if object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")) {
                self.plane.apply(&with_url(object, &address, &ca)?.to_string())?;
            }
        }
        Ok(())
    }

    /// Installs, and waits until a canary shows that the API server has taken both configurations up.
    pub(crate) fn point(&self, here: impl Fn(&str) -> bool) -> Result<(), String> {
        self.install(&here)?;
        let (mutate, enforce) = (here("mutate.fabric-admission.dev"), here("enforce.fabric-admission.dev"));
        self.plane.until("the configurations are taken up", Duration::from_secs(30), || {
            let asked = |entry| self.answered(entry);
            let (m, e) = (asked("mutate")?, asked("enforce")?);
            let done = self.create(&self.canary, &canary_pod(), &["--dry-run=server"])?;
            let judged =
                if enforce { done.ok } else { done.stderr.contains("failed calling webhook \"enforce.") };
            Ok(judged && (asked("mutate")? > m) == mutate && (asked("enforce")? > e) == enforce)
        })?;
        for entry in ENTRIES {
            self.before.borrow_mut().insert(entry, self.answered(entry)?);
        }
        Ok(())
    }

    pub(crate) fn create(&self, namespace: &str, object: &Value, flags: &[&str]) -> Result<Kubectl, String> {
        let args = [&["create", "-n", namespace, "-f", "-"], flags].concat();
        self.plane.kubectl(&args, &object.to_string())
    }

    /// Requests that the server has answered since the configuration was taken up, by entry.
    pub(crate) fn requests(&self, entry: &str) -> Result<u64, String> {
        Ok(self.answered(entry)? - self.before.borrow().get(entry).copied().unwrap_or(0))
    }

    fn answered(&self, entry: &str) -> Result<u64, String> {
        let text = self.server.admin("/metrics")?.body;
        let prefix = format!("fabric_admission_requests_total{{entry=\"{entry}\"");
        let lines = text.lines().filter(|l| l.starts_with(&prefix));
        Ok(lines.filter_map(|l| l.rsplit(' ').next()?.parse::<u64>().ok()).sum())
    }
}

impl Drop for Site<'_> {
    fn drop(&mut self) {
        let _ = self.plane.kubectl(
            &[
                "delete",
                "mutatingwebhookconfigurations,validatingwebhookconfigurations",
                "--all",
                "--wait=true",
            ],
            "",
        );
    }
}

/// A training pod of a name: eight accelerators, the site profile by annotation, nothing else.
pub(crate) fn training_pod(name: &str) -> Value {
    let mut pod = crate::support::server::bare_pod();
    pod["metadata"].as_object_mut().map(|m| m.remove("namespace"));
    pod["metadata"]["name"] = json!(name);
    pod
}

/// A pod that both pod entries are asked about, and that they leave alone.
pub(crate) fn canary_pod() -> Value {
    let mut pod = cpu_pod("canary");
    pod["metadata"]["annotations"] = json!({"k8s.v1.cni.cncf.io/network-status": "[]"});
    pod
}

pub(crate) fn cpu_pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
           "spec": {"containers": [{"name": "c", "image": "example.com/c:1"}]}})
}

/// Whether a stored pod has everything that the profile asks.
pub(crate) fn assert_fitted(pod: &Value) {
    let networks = pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].as_str().unwrap_or_default();
    assert_eq!(networks.matches("default/sriov-rdma-network@rail").count(), 8, "{pod}");
    let container = &pod["spec"]["containers"][0];
    for list in ["limits", "requests"] {
        assert_eq!(container["resources"][list]["nvidia.com/sriov_resource"], "8", "{pod}");
    }
    assert!(container["securityContext"]["capabilities"]["add"].to_string().contains("IPC_LOCK"), "{pod}");
    let shm =
        container["volumeMounts"].as_array().is_some_and(|m| m.iter().any(|m| m["mountPath"] == "/dev/shm"));
    assert!(shm, "{pod}");
    let env = container["env"].to_string();
    for name in ["NCCL_NET", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"] {
        assert!(env.contains(name), "{name}: {pod}");
    }
}
