//! The living cluster: profiles, nodes and networks as objects of a real API server, pods without a word about
//! fabrics, and changes that the next pod sees.

use super::crd_of_profiles::install;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, training_pod};
use super::trial;
use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use crate::support::{read, root};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "live_three_fabrics_and_changes", three_fabrics);
    trial(suite, assets, "live_a_crd_goes_and_comes_back", crd_comes_back);
    trial(suite, assets, "live_the_crd_of_networks_goes_and_comes_back", networks_come_back);
    trial(suite, assets, "live_bytes_that_are_not_utf8_hide_nothing", not_utf8);
    trial(suite, assets, "live_an_api_server_of_another_authority_is_not_trusted", another_authority);
}

const SITE: [&str; 5] = [
    "profiles/roce.yaml",
    "profiles/infiniband.yaml",
    "profiles/ethernet.yaml",
    "cluster/nodes.yaml",
    "cluster/networks.yaml",
];

/// The example site on the plane; gone when dropped.
pub(super) struct Objects<'a>(&'a Plane);

impl<'a> Objects<'a> {
    pub(super) fn create(plane: &'a Plane) -> Result<Self, String> {
        install(plane)?;
        let here = Self(plane);
        plane.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric}\n")?;
        for file in SITE {
            plane.apply(&read(&root().join("examples/site").join(file))?)?;
        }
        Ok(here)
    }
}

impl Drop for Objects<'_> {
    fn drop(&mut self) {
        for kind in ["nodes", "fabricprofiles", "net-attach-def", "network-attachment-definitions"] {
            let _ = self.0.kubectl(&["delete", kind, "--all", "-A", "--wait=false"], "");
        }
    }
}

pub(super) fn start(plane: &Plane) -> Result<Site<'_>, String> {
    let kubeconfig = plane.directory().join("kubeconfig").to_string_lossy().into_owned();
    let site = Site::start(plane, &[], &["--kubeconfig", &kubeconfig, "--watch-retry", "0.2"])?;
    plane.until("the server is ready", Duration::from_secs(20), || {
        Ok(site.server.admin("/readyz")?.status == 200)
    })?;
    Ok(site)
}

/// A pod for nodes of a product, as a Job of two makes it; no annotation.
pub(super) fn pod(name: &str, product: &str) -> Value {
    let mut pod = training_pod(name);
    pod["metadata"].as_object_mut().map(|m| m.remove("annotations"));
    pod["metadata"]["labels"] = json!({"batch.kubernetes.io/job-completion-index": "0"});
    pod["spec"]["nodeSelector"] = json!({"nvidia.com/gpu.product": product});
    pod["spec"]["tolerations"] = json!([{"key": "nvidia.com/gpu", "operator": "Exists"}]);
    pod
}

/// The network that the API server stores on a pod, and what it says.
fn network(site: &Site<'_>, namespace: &str, pod: &Value) -> Result<(String, String), String> {
    let done = site.create(namespace, pod, &["--dry-run=server", "-o", "json"])?;
    let stored: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
    let text = stored["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].as_str();
    let first = text.and_then(|t| t.split('@').next()).unwrap_or_default();
    Ok((first.to_owned(), done.stderr))
}

/// Waits until a pod gets a network; how long that took.
pub(super) fn gets(site: &Site<'_>, namespace: &str, pod: &Value, wanted: &str) -> Result<Duration, String> {
    let start = Instant::now();
    site.plane.until(&format!("a pod gets {wanted:?}"), Duration::from_secs(10), || {
        Ok(network(site, namespace, pod)?.0 == wanted)
    })?;
    Ok(start.elapsed())
}

fn three_fabrics(plane: &Plane) -> Outcome {
    let _objects = Objects::create(plane)?;
    let site = start(plane)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let (h100, h200) = (pod("a", "NVIDIA-H100-80GB-HBM3"), pod("b", "NVIDIA-H200"));
    gets(&site, &namespace, &h100, "fabric/roce")?;
    gets(&site, &namespace, &h200, "fabric/infiniband")?;
    let mut l40s = pod("c", "NVIDIA-L40S");
    l40s["spec"]["containers"][0]["resources"]["limits"] = json!({"nvidia.com/gpu": "4"});
    let done = site.create(&namespace, &l40s, &["--dry-run=server", "-o", "json"])?;
    assert!(
        done.stdout.contains("NCCL_SOCKET_IFNAME") && !done.stdout.contains("NCCL_IB_HCA"),
        "{}",
        done.stderr
    );
    // Where it is not said which, the pod is refused and reported.
    let mut anywhere = pod("d", "");
    anywhere["spec"].as_object_mut().map(|s| s.remove("nodeSelector"));
    let refused = site.create(&namespace, &anywhere, &["--dry-run=server"])?;
    assert!(!refused.ok && refused.stderr.contains("FAB806"), "{}", refused.stderr);
    // A node label, a network, a profile: each is seen by the next pods.
    let run = |args: &[&str]| match plane.kubectl(args, "")? {
        done if done.ok => Ok(()),
        done => Err(done.stderr),
    };
    run(&["label", "--overwrite", "node", "h200-1", "h200-2", "example.com/fabric=roce"])?;
    gets(&site, &namespace, &h200, "fabric/roce")?;
    run(&["delete", "network-attachment-definitions", "-n", "fabric", "roce"])?;
    plane.until("the missing network is reported", Duration::from_secs(10), || {
        Ok(network(&site, &namespace, &h100)?.1.contains("FAB801"))
    })?;
    plane.apply(&read(&root().join("examples/site/cluster/networks.yaml"))?)?;
    gets(&site, &namespace, &h100, "fabric/roce")?;
    let renamed =
        read(&root().join("examples/site/profiles/roce.yaml"))?.replace("fabric/roce", "fabric/infiniband");
    plane.apply(&renamed)?;
    gets(&site, &namespace, &h100, "fabric/infiniband")?;
    // A running pod, asked about from outside.
    let done = site.create(&namespace, &h100, &[])?;
    assert!(done.ok, "{}", done.stderr);
    let kubeconfig = plane.directory().join("kubeconfig").to_string_lossy().into_owned();
    let args = ["why", "--live", "--kubeconfig", &kubeconfig, "-n", &namespace, "-o", "json", "pod/a"];
    let reported = crate::support::run(&args, b"", root())?;
    assert_eq!(reported.code, 0, "{}", reported.stderr);
    let reported: Value = serde_json::from_str(&reported.stdout).map_err(|e| e.to_string())?;
    assert_eq!(reported["results"][0]["review"]["profile"], "roce", "{reported}");
    assert_eq!(reported["results"][0]["review"]["changes"], json!([]), "{reported}");
    Ok(())
}

/// The API server stores `opaque.parameters` of a claim as they were sent, with any bytes. The server reads such an object,
/// and those after it.
fn not_utf8(plane: &Plane) -> Outcome {
    let _objects = Objects::create(plane)?;
    let site = start(plane)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let raw = |arguments: &[&str]| -> Result<Vec<u8>, String> {
        let kubectl = std::process::Command::new(plane.program("kubectl"))
            .arg("--kubeconfig=kubeconfig")
            .args(arguments)
            .env("HOME", plane.directory())
            .current_dir(plane.directory())
            .output();
        let done = kubectl.map_err(|e| e.to_string())?;
        if done.status.success() {
            Ok(done.stdout)
        } else {
            Err(String::from_utf8_lossy(&done.stderr).into())
        }
    };
    let path = format!("/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates");
    let template = |name: &str, note: &[u8]| {
        let parameters = [&b"{\"note\": \""[..], note, b"\"}"].concat();
        let text = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": name},
            "spec": {"spec": {"devices": {
                "requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 8}}],
                "config": [{"opaque": {"driver": "gpu.nvidia.com", "parameters": "@"}}]}}}});
        let text = text.to_string();
        let (before, after) = text.split_once("\"@\"").unwrap_or_default();
        [before.as_bytes(), &parameters, after.as_bytes()].concat()
    };
    let read = |site: &Site<'_>| -> Result<(), String> {
        for name in ["plain", "odd"] {
            let mut pod = pod(name, "NVIDIA-H100-80GB-HBM3");
            pod["spec"]["resourceClaims"] = json!([{"name": "gpus", "resourceClaimTemplateName": name}]);
            pod["spec"]["containers"][0]["resources"] = json!({"claims": [{"name": "gpus"}]});
            gets(site, &namespace, &pod, "fabric/roce")?;
        }
        let metrics = site.server.admin("/metrics")?.body;
        let unread = |l: &&str| l.starts_with("fabric_admission_watch_malformed_total") && !l.ends_with(" 0");
        metrics.lines().find(unread).map_or(Ok(()), |line| Err(line.to_owned()))
    };
    for (name, note) in [("odd", &b"\xff"[..]), ("plain", b"a")] {
        let file = plane.directory().join("template.json");
        std::fs::write(&file, template(name, note)).map_err(|e| e.to_string())?;
        raw(&["create", "--raw", &path, "-f", &file.to_string_lossy()])?;
    }
    let stored = raw(&["get", "--raw", &format!("{path}/odd")])?;
    assert!(std::str::from_utf8(&stored).is_err(), "{}", String::from_utf8_lossy(&stored));
    // By a watch, then by a list.
    read(&site)?;
    drop(site);
    Ok(read(&start(plane)?)?)
}

fn crd_comes_back(plane: &Plane) -> Outcome {
    let objects = Objects::create(plane)?;
    let site = start(plane)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let h100 = pod("a", "NVIDIA-H100-80GB-HBM3");
    gets(&site, &namespace, &h100, "fabric/roce")?;
    let gone = plane.kubectl(&["delete", "crd", "fabricprofiles.fabric-admission.dev", "--wait=true"], "")?;
    assert!(gone.ok, "{}", gone.stderr);
    gets(&site, &namespace, &h100, "")?;
    plane.until("the kind is known to be absent", Duration::from_secs(20), || {
        let metrics = site.server.admin("/metrics")?.body;
        Ok(metrics.contains("watch_state{kind=\"FabricProfile\",state=\"absent\"} 1"))
    })?;
    assert_eq!(site.server.admin("/readyz")?.status, 200);
    drop(objects);
    let _objects = Objects::create(plane)?;
    gets(&site, &namespace, &h100, "fabric/roce")?;
    Ok(())
}

/// While the kind is not installed nothing is known of networks, so none is missing; once it is, one that is not there
/// is.
fn networks_come_back(plane: &Plane) -> Outcome {
    /// Other trials need the kind as well, however this one ends.
    struct Installed<'a>(&'a Plane);
    impl Drop for Installed<'_> {
        fn drop(&mut self) {
            let _ = self.0.install_crds();
        }
    }
    let _installed = Installed(plane);
    let _objects = Objects::create(plane)?;
    let site = start(plane)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let h100 = pod("a", "NVIDIA-H100-80GB-HBM3");
    gets(&site, &namespace, &h100, "fabric/roce")?;
    let crd = "network-attachment-definitions.k8s.cni.cncf.io";
    let gone = plane.kubectl(&["delete", "crd", crd, "--wait=true"], "")?;
    assert!(gone.ok, "{}", gone.stderr);
    plane.until("the kind is known to be absent", Duration::from_secs(20), || {
        let metrics = site.server.admin("/metrics")?.body;
        Ok(metrics.contains("watch_state{kind=\"NetworkAttachmentDefinition\",state=\"absent\"} 1"))
    })?;
    gets(&site, &namespace, &h100, "fabric/roce")?;
    plane.install_crds()?;
    plane.until("the missing network is reported", Duration::from_secs(20), || {
        Ok(network(&site, &namespace, &h100)?.1.contains("FAB801"))
    })?;
    plane.apply(&read(&root().join("examples/site/cluster/networks.yaml"))?)?;
    gets(&site, &namespace, &h100, "fabric/roce")?;
    Ok(())
}

fn another_authority(plane: &Plane) -> Outcome {
    let other = Server::start(&[], &[])?;
    let ca = other.scratch.path().join("tls/ca.crt").to_string_lossy().into_owned();
    let text = read(&plane.directory().join("kubeconfig"))?.replace("tls/ca.crt", &ca);
    let server =
        Server::start(&[("kubeconfig", &text)], &["--kubeconfig", "kubeconfig", "--watch-retry", "0.2"])?;
    plane.until("every call fails", Duration::from_secs(20), || {
        let metrics = server.admin("/metrics")?.body;
        let failing = |l: &&str| l.contains("watch_state{") && l.contains("failing") && l.ends_with(" 1");
        Ok(metrics.lines().filter(failing).count() == fabric_admission::cluster::watched_kinds::WATCHED.len())
    })?;
    // Long enough for kinds that are not waited for permanently.
    std::thread::sleep(Duration::from_secs(2));
    let ready = server.admin("/readyz")?;
    assert!(ready.status == 503 && ready.body.contains("Node"), "{} {}", ready.status, ready.body);
    Ok(())
}
