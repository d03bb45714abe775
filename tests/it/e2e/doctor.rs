//! `doctor` on a real API server: before an installation, on a healthy one, and on broken ones. The pods of the Deployment
//! are processes of our binary, as in the trials of Helm.

use super::helm::Cleared;
use super::helm::egress::Egress;
use super::helm::kubelet::Kubelet;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, rendered};
use super::trial;
use crate::cli::published_schemas::validate_doctor;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "doctor_before_an_installation", before);
    if !assets.join("kube-controller-manager").is_file() {
        suite.missing("no kube-controller-manager, which creates the pods of the Deployment", "e2e::doctor");
        return;
    }
    trial(suite, assets, "doctor_of_a_healthy_and_of_broken_installations", installed);
}

const NAMESPACE: &str = "fabric-admission";

/// What `doctor` found: the result and the message of each check.
struct Found {
    ran: Ran,
    results: BTreeMap<String, (String, String)>,
}

impl Found {
    #[track_caller]
    fn expect(&self, id: &str, result: &str, says: &str) {
        let found = self.results.get(id);
        let fits = found.is_some_and(|(kind, message)| kind == result && message.contains(says));
        assert!(fits, "{id}: expected {result} {says:?}, found {found:?}");
    }

    fn failed(&self) -> Vec<&String> {
        let failed = self.results.iter().filter(|(_, (kind, _))| kind != "success");
        failed.map(|(id, _)| id).collect()
    }
}

fn doctor(kubeconfig: &str, plane: &Plane, args: &[&str]) -> Result<Found, String> {
    let args = [&["doctor", "-o", "json", "--kubeconfig", kubeconfig], args].concat();
    let ran = run(&args, b"", plane.directory())?;
    let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {ran:?}"))?;
    validate_doctor(&report)?;
    let mut results = BTreeMap::new();
    for category in report["categories"].as_array().ok_or("no categories")? {
        for check in category["checks"].as_array().ok_or("no checks")? {
            let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            results.insert(text("id"), (text("result"), text("message")));
        }
    }
    assert_eq!(ran.code, i32::from(report["success"] == false), "{}", ran.stdout);
    Ok(Found { ran, results })
}

fn table(plane: &Plane, what: &str) -> Result<(), String> {
    let ran = run(&["doctor", "--kubeconfig", "kubeconfig"], b"", plane.directory())?;
    eprintln!("== {what}: exit code {}\n{}", ran.code, ran.stdout);
    Ok(())
}

/// A kubeconfig of an account that has none of the rights that doctor needs.
fn nobody(plane: &Plane) -> Result<String, String> {
    account(plane, &plane.namespace(&[])?)
}

/// A kubeconfig of the default account of a namespace.
fn account(plane: &Plane, namespace: &str) -> Result<String, String> {
    let token = plane.kubectl(&["create", "token", "default", "-n", namespace], "")?;
    let shown = plane.kubectl(&["config", "view", "--raw", "--flatten", "-o", "json"], "")?;
    let mut config: Value = serde_json::from_str(&shown.stdout).map_err(|e| e.to_string())?;
    config["users"][0]["user"] = json!({"token": token.stdout.trim()});
    let file = format!("{namespace}.kubeconfig");
    std::fs::write(plane.directory().join(&file), config.to_string()).map_err(|e| e.to_string())?;
    Ok(file)
}

/// A kubeconfig of an account with the roles of docs/doctor.md.
fn reader(plane: &Plane, namespace: &str) -> Result<String, String> {
    let roles = fabric_admission::doctor::doctor_page::roles_yaml(&crate::cli::doctor::kinds_of_facts())
        .replace("namespace: training", &format!("namespace: {namespace}"));
    plane.apply(&roles)?;
    let mut bindings = Vec::new();
    for (kind, place) in [("ClusterRole", ""), ("Role", NAMESPACE), ("Role", namespace)] {
        bindings.push(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": format!("{kind}Binding"),
            "metadata": {"name": "fabric-admission-doctor", "namespace": place},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "fabric-admission-doctor"},
            "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}]
        }));
    }
    for mut binding in bindings {
        if binding["metadata"]["namespace"] == "" {
            binding["metadata"].as_object_mut().map(|metadata| metadata.remove("namespace"));
        }
        plane.apply(&binding.to_string())?;
    }
    account(plane, namespace)
}

fn before(plane: &Plane) -> Outcome {
    let _cleared = Cleared::new(plane);
    let found = doctor("kubeconfig", plane, &["--pre"])?;
    eprintln!("{:?}", found.failed());
    assert_eq!(found.ran.code, 0, "{}", found.ran.stdout);
    for id in
        ["api-version", "clock", "own-rights", "install-rights", "leftover-crd", "leftover-configurations"]
    {
        found.expect(id, "success", "");
    }
    // Configurations that lead nowhere, as after the deletion of the namespace alone.
    for object in rendered(plane, "base")? {
        if object["kind"].as_str().is_some_and(|kind| kind.ends_with("WebhookConfiguration")) {
            plane.apply(&object.to_string())?;
        }
    }
    let found = doctor("kubeconfig", plane, &["--pre"])?;
    found.expect("leftover-configurations", "error", "of an earlier installation");
    // Without rights nothing is known.
    if plane.has_controllers {
        let found = doctor(&nobody(plane)?, plane, &["--pre"])?;
        found.expect("own-rights", "error", "doctor cannot check the installation");
        found.expect("install-rights", "error", "create namespaces");
        found.expect("leftover-configurations", "skipped", "no right to read");
        found.expect("labels", "skipped", "no right to read");
    }
    Ok(())
}

/// A port of this machine that every replica is behind, for endpoints: the API server takes no loopback address.
pub(super) struct Door {
    pub(super) address: SocketAddr,
}

/// The address of this machine on the way to others.
pub(super) fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket
        .local_addr()
        .ok()
        .map(|address| address.ip())
        .filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

fn carry(client: TcpStream, server: TcpStream) -> std::io::Result<()> {
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = std::io::copy(&mut Read::by_ref(&mut from_client), &mut to_server);
            let _ = to_server.shutdown(Shutdown::Write);
        });
        let _ = std::io::copy(&mut &server, &mut &client);
        let _ = client.shutdown(Shutdown::Both);
    });
    Ok(())
}

pub(super) fn serve_door(listener: &TcpListener, egress: &Egress<'_>, over: &AtomicBool) {
    for client in listener.incoming().flatten() {
        if over.load(Ordering::SeqCst) {
            return;
        }
        if let Some(server) = egress.endpoint().and_then(|address| TcpStream::connect(address).ok()) {
            std::thread::spawn(move || drop(carry(client, server)));
        }
    }
}

/// The threads end, however a trial ends.
pub(super) struct Stop<'a> {
    pub(super) kubelet: &'a Kubelet<'a>,
    pub(super) over: &'a AtomicBool,
    pub(super) port: u16,
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.kubelet.stop();
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

const FABRIC: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric}\n---\n\
    apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n\
    metadata: {name: rdma, namespace: fabric, annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/sriov_rdma}}\n\
    spec: {config: '{\"cniVersion\": \"1.0.0\", \"type\": \"sriov\"}'}\n---\n\
    apiVersion: v1\nkind: Node\nmetadata: {name: doctor-gpu, labels: {fabric: east}}\n\
    status: {allocatable: {cpu: '64', nvidia.com/gpu: '8', nvidia.com/sriov_rdma: '8'}}\n---\n\
    apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: kube-multus-ds, namespace: kube-system}\n\
    spec: {selector: {matchLabels: {app: multus}}, template: {metadata: {labels: {app: multus}}, \
    spec: {containers: [{name: kube-multus, image: 'ghcr.io/k8snetworkplumbingwg/multus-cni:v4'}]}}}\n";

const PROFILE: &str = "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {name: east}\n\
    spec:\n  base: roce-sriov\n  nodeSelector: {matchLabels: {fabric: east}}\n  namespaces: {matchLabels: {doctor: e2e}}\n  \
    rails: [{network: fabric/rdma, resource: nvidia.com/sriov_rdma, count: 8}]\n";

/// What a trial leaves beside the installation.
struct Gone<'a>(&'a Plane);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let _ = self.0.kubectl(&["delete", "node", "doctor-gpu", "--ignore-not-found"], "");
        let _ = self
            .0
            .kubectl(&["delete", "ds", "kube-multus-ds", "-n", "kube-system", "--ignore-not-found"], "");
        let _ = self.0.kubectl(&["delete", "endpointslices", "--all", "-n", NAMESPACE], "");
        let _ =
            self.0.kubectl(&["delete", "net-attach-def", "rdma", "-n", "fabric", "--ignore-not-found"], "");
    }
}

/// The DaemonSet of Multus as on a node where its pod is ready.
pub(super) fn ready_multus(plane: &Plane) -> Result<(), String> {
    let status = r#"{"status": {"numberReady": 1, "desiredNumberScheduled": 1, "currentNumberScheduled": 1, "numberMisscheduled": 0}}"#;
    let patch = [
        "patch",
        "ds",
        "kube-multus-ds",
        "-n",
        "kube-system",
        "--subresource=status",
        "--type=merge",
        "-p",
        status,
    ];
    let patched = plane.kubectl(&patch, "")?;
    if patched.ok { Ok(()) } else { Err(patched.stderr) }
}

fn installed(plane: &Plane) -> Outcome {
    let _cleared = Cleared::new(plane);
    let _gone = Gone(plane);
    plane.apply(FABRIC)?;
    ready_multus(plane)?;
    let egress = Egress::start(plane)?;
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    // A documentation address, which nobody has, where this machine has none.
    let ip = own_address().unwrap_or(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)));
    let door = Door { address: SocketAddr::new(ip, port) };
    let over = AtomicBool::new(false);
    let kubelet = Kubelet::new(plane, &egress, NAMESPACE);
    std::thread::scope(|scope| {
        let pods = scope.spawn(|| kubelet.run());
        scope.spawn(|| serve_door(&listener, &egress, &over));
        let stop = Stop { kubelet: &kubelet, over: &over, port };
        let done = states(plane, &door);
        drop(stop);
        pods.join().map_err(|_| "the kubelet panicked")?.and(done)
    })?;
    Ok(())
}

pub(super) fn slice(door: &Door) -> String {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "fabric-admission-e2e", "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": NAMESPACE}},
        "addressType": "IPv4", "ports": [{"name": "webhook", "port": door.address.port()}],
        "endpoints": [{"addresses": [door.address.ip().to_string()], "conditions": {"ready": true}}]
    })
    .to_string()
}

fn configurations(plane: &Plane) -> Result<Vec<Value>, String> {
    let all = rendered(plane, "base")?.into_iter();
    Ok(all
        .filter(|object| object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")))
        .collect())
}

/// Waits until the API server calls the server again, and the controllers know that its replicas are ready.
fn calls(plane: &Plane) -> Result<(), String> {
    let mut last = Vec::new();
    plane
        .until("the webhook is called", Duration::from_secs(60), || {
            let found = doctor("kubeconfig", plane, &[])?;
            let all = ["pod-is-changed", "pod-is-refused", "ca-bundles", "deployment"];
            last = all.iter().map(|id| found.results.get(*id).cloned()).collect();
            Ok(all.iter().all(|id| found.results.get(*id).is_some_and(|(kind, _)| kind == "success")))
        })
        .map_err(|e| format!("{e}: {last:?}"))
}

fn states(plane: &Plane, door: &Door) -> Result<(), String> {
    let (ours, others): (Vec<Value>, Vec<Value>) = rendered(plane, "base")?
        .into_iter()
        .partition(|object| object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")));
    for object in others.iter().chain(&ours) {
        plane.apply(&object.to_string())?;
    }
    plane.until("the profile is stored", Duration::from_secs(20), || {
        Ok(plane.kubectl(&["apply", "-f", "-"], PROFILE)?.ok)
    })?;
    plane.until("the replicas are ready", Duration::from_secs(60), || {
        let shown = plane.get(&["deployment", NAMESPACE, "-n", NAMESPACE])?;
        Ok(shown["status"]["readyReplicas"] == 2)
    })?;
    plane.apply(&slice(door))?;
    plane.until("a replica renews the Lease", Duration::from_secs(30), || {
        let lease = plane.kubectl(&["get", "lease", "fabric-admission-status", "-n", NAMESPACE], "")?;
        Ok(lease.ok)
    })?;

    // Trials before may have left namespaces with mode enforce: the profile admits only this one.
    let namespace = plane.namespace(&[PROFILE_LABEL, ("doctor", "e2e")])?;
    let found = doctor("kubeconfig", plane, &["--wait", "60s"])?;
    table(plane, "healthy")?;
    assert_eq!(found.ran.code, 0, "{}", found.ran.stdout);
    // Namespaces of trials before may have labels of any sort, and `--wait` may have made calls before a caBundle.
    let allowed = ["failed-calls", "labels", "pod-security", "limit-ranges", "quotas"];
    let failed: Vec<&String> =
        found.failed().into_iter().filter(|id| !allowed.contains(&id.as_str())).collect();
    assert!(failed.is_empty(), "{failed:?}: {}", found.ran.stdout);
    if own_address().is_some() {
        found.expect("ca-bundles", "success", "1 of 1 replica answered");
    }

    // The chart's test has the same two pods.
    let probe = [
        "probe",
        "--namespace",
        &namespace,
        "--profile",
        "east",
        "--timeout",
        "5",
        "--kubeconfig",
        "kubeconfig",
    ];
    let probed = run(&probe, b"", plane.directory())?;
    assert!(probed.code == 0 && probed.stdout.lines().count() == 2, "{probed:?}");

    // The roles of the page are enough: nothing is skipped.
    let reader = reader(plane, &namespace)?;
    let found = doctor(&reader, plane, &[])?;
    found.expect("own-rights", "success", "");
    let skipped: Vec<&String> =
        found.results.iter().filter(|(_, (kind, _))| kind == "skipped").map(|(id, _)| id).collect();
    assert!(skipped.is_empty(), "{skipped:?}: {}", found.ran.stdout);

    // A configuration is deleted.
    let validating = "validatingwebhookconfiguration/fabric-admission";
    assert!(plane.kubectl(&["delete", validating], "")?.ok);
    std::thread::sleep(Duration::from_secs(2));
    let found = doctor("kubeconfig", plane, &[])?;
    found.expect("configurations", "error", "ValidatingWebhookConfiguration fabric-admission does not exist");
    found.expect("pod-is-changed", "success", "");
    found.expect("pod-is-refused", "error", "the API server creates the pod");
    let probed = run(&probe, b"", plane.directory())?;
    assert!(probed.code == 1 && probed.stdout.lines().count() == 1, "{probed:?}");
    assert!(
        probed.stderr.contains("Check that the webhook enforce.fabric-admission.dev exists"),
        "{probed:?}"
    );
    table(plane, "without the validating configuration")?;
    for object in configurations(plane)? {
        plane.apply(&object.to_string())?;
    }
    calls(plane)?;

    // A wrong caBundle, which the server may not restore.
    let binding = "clusterrolebinding/fabric-admission-certificates";
    let kept = plane.kubectl(&["get", binding, "-o", "json"], "")?.stdout;
    assert!(plane.kubectl(&["delete", binding], "")?.ok);
    let ca = std::fs::read_to_string(plane.ca()).map_err(|e| e.to_string())?;
    let wrong = {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(ca)
    };
    let patch =
        json!([{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": wrong}]).to_string();
    for kind in ["mutatingwebhookconfiguration/pod-fabric-admission", validating] {
        assert!(plane.kubectl(&["patch", kind, "--type=json", "-p", &patch], "")?.ok);
    }
    std::thread::sleep(Duration::from_secs(2));
    let found = doctor("kubeconfig", plane, &["--wait", "2s"])?;
    assert!(found.ran.stderr.contains("waiting for: "), "{}", found.ran.stderr);
    found.expect("ca-bundles", "error", "webhook mutate.fabric-admission.dev: ");
    found.expect("server-rights", "error", "patch mutatingwebhookconfigurations");
    found.expect("pod-is-refused", "error", "x509");
    let mut restored: Value = serde_json::from_str(&kept).map_err(|e| e.to_string())?;
    for key in ["resourceVersion", "uid", "creationTimestamp"] {
        restored["metadata"].as_object_mut().map(|metadata| metadata.remove(key));
    }
    plane.apply(&restored.to_string())?;
    calls(plane)?;

    // A mistyped label: the exit code stays 0.
    let mistyped = plane.namespace(&[("fabric-admission.dev/mode", "enforced")])?;
    let found = doctor("kubeconfig", plane, &[])?;
    found.expect("labels", "warning", &format!("namespace {mistyped}: "));
    assert_eq!(found.ran.code, 0, "{}", found.ran.stdout);
    plane.kubectl(&["delete", "namespace", &mistyped, "--wait=false"], "")?;

    // Nobody answers.
    assert!(plane.kubectl(&["scale", "deployment", NAMESPACE, "-n", NAMESPACE, "--replicas=0"], "")?.ok);
    plane.kubectl(&["delete", "endpointslices", "--all", "-n", NAMESPACE], "")?;
    plane.until("the replicas have ended", Duration::from_secs(60), || {
        let shown = plane.get(&["deployment", NAMESPACE, "-n", NAMESPACE])?;
        Ok(shown["status"]["readyReplicas"].is_null())
    })?;
    std::thread::sleep(Duration::from_secs(1));
    let found = doctor("kubeconfig", plane, &[])?;
    found.expect("endpoints", "error", "has no ready endpoint");
    found.expect("deployment", "error", "no replica answers the API server");
    found.expect("pod-is-refused", "error", "failed calling webhook");
    table(plane, "without replicas")?;

    // An account without rights.
    let found = doctor(&nobody(plane)?, plane, &[])?;
    found.expect("own-rights", "error", "doctor cannot check the installation");
    found.expect("configurations", "error", "no right to");
    for id in ["targets", "endpoints", "deployment", "profiles", "nodes-without-profile"] {
        found.expect(id, "skipped", "no right to");
    }
    found.expect("pod-is-changed", "error", "could not be read");
    plane.kubectl(&["delete", "namespace", &namespace, "--wait=false"], "")?;
    Ok(())
}
