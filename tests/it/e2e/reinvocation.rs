//! Other mutating webhooks, before and after ours: one that makes a pod a GPU pod or adds a GPU container, a mesh, and an
//! injector of resources.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, assert_fitted, cpu_pod, training_pod};
use super::trial;
use crate::engine::beside_other_webhooks::writers::{Write, injector, istio_with_proxy};
use crate::support::suite::{Outcome, Suite};
use base64::Engine;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "a_gpu_container_that_a_later_webhook_adds_is_fitted", later_container);
    trial(suite, assets, "what_a_mutating_admission_policy_sets_is_kept", policy);
    trial(
        suite,
        assets,
        "beside_a_mesh_and_an_injector_the_units_are_on_the_right_container",
        mesh_and_injector,
    );
}

/// Adds a container with GPUs at the end of a pod, once.
fn late(pod: &mut Value) {
    let Some(containers) = pod["spec"]["containers"].as_array_mut() else { return };
    if containers.iter().all(|c| c["name"] != "late") {
        containers.push(json!({"name": "late", "image": "example.com/late:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}}));
    }
}

/// The answer of a webhook that writes like this.
fn mutate(review: &Value, write: Write) -> Value {
    let request = &review["request"];
    let mut response = json!({"uid": request["uid"], "allowed": true});
    let mut pod = request["object"].clone();
    write(&mut pod);
    if pod != request["object"] {
        let patch = json!(json_patch::diff(&request["object"], &pod)).to_string();
        response["patchType"] = json!("JSONPatch");
        response["patch"] = json!(base64::engine::general_purpose::STANDARD.encode(patch));
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}

/// The whole HTTP response to a body; without one the connection stays open and silent.
pub(super) type Reply = Arc<dyn Fn(&[u8]) -> Option<String> + Send + Sync>;

/// The response with this status and body.
pub(super) fn response(status: &str, body: &str) -> String {
    let (length, of) = (body.len(), if status.starts_with('2') { "application/json" } else { "text/plain" });
    format!("HTTP/1.1 {status}\r\nContent-Type: {of}\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// A webhook of a few lines, on a thread for each connection, with the certificate of a directory.
pub(super) fn serve(directory: &Path, reply: Reply) -> Result<u16, String> {
    let chain = CertificateDer::pem_file_iter(directory.join("tls.crt")).map_err(|e| e.to_string())?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let key = PrivateKeyDer::from_pem_file(directory.join("tls.key")).map_err(|e| e.to_string())?;
    let config = ServerConfig::builder_with_provider(fabric_admission::tls::crypto_provider())
        .with_safe_default_protocol_versions()
        .and_then(|b| b.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|e| e.to_string())?;
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let Ok(connection) = ServerConnection::new(Arc::clone(&config)) else { continue };
            let reply = Arc::clone(&reply);
            std::thread::spawn(move || answer(StreamOwned::new(connection, socket), &reply));
        }
    });
    Ok(port)
}

fn answer(mut stream: impl Read + std::io::Write, reply: &Reply) -> Option<()> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 8192]);
    loop {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").map(|n| n + 4);
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length: usize =
                head.lines().find_map(|l| l.strip_prefix("content-length:")?.trim().parse().ok())?;
            if bytes.len() >= end + length {
                if let Some(response) = reply(&bytes[end..end + length]) {
                    stream.write_all(response.as_bytes()).ok()?;
                    stream.flush().ok()?;
                }
                bytes.drain(..end + length);
                continue;
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            n => bytes.extend_from_slice(&buffer[..n]),
        }
    }
}

/// Installs another webhook for the pods of a namespace. Configurations are called in the order of their names.
fn install(site: &Site<'_>, name: &str, namespace: &str, write: Write) -> Result<(), String> {
    let directory = site.server.scratch.path().join(name);
    crate::support::server::certificate(&directory)?;
    let reply = move |body: &[u8]| {
        Some(response("200 OK", &mutate(&serde_json::from_slice(body).ok()?, write).to_string()))
    };
    let port = serve(&directory, Arc::new(reply))?;
    let ca = std::fs::read_to_string(directory.join("ca.crt")).map_err(|e| e.to_string())?;
    site.plane.apply(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": {"name": name},
        "webhooks": [{
            "name": format!("{name}.example.com"), "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "reinvocationPolicy": "IfNeeded",
            "clientConfig": {"url": format!("https://localhost:{port}/"), "caBundle": base64::engine::general_purpose::STANDARD.encode(ca)},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        }]
    }).to_string())
}

fn later_container(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    install(&site, "zz-second", &namespace, late)?;
    plane.until("the second webhook is called", std::time::Duration::from_secs(20), || {
        let done = site.create(&namespace, &cpu_pod("canary"), &["--dry-run=server", "-o", "json"])?;
        Ok(done.stdout.contains("example.com/late"))
    })?;
    // Ours is called again after the second one: the new container is fitted, and nothing is there twice.
    let done = site.create(&namespace, &training_pod("reinvoked"), &[])?;
    assert!(done.ok, "{}", done.stderr);
    let pod = plane.get(&["pod", "reinvoked", "-n", &namespace])?;
    let containers = pod["spec"]["containers"].as_array().ok_or("no containers")?;
    assert_eq!(containers.len(), 2);
    assert!(containers[1]["env"].to_string().contains("NCCL_NET"), "{pod}");
    assert!(containers[1]["volumeMounts"].to_string().contains("/dev/shm"), "{pod}");
    let networks = pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].as_str().unwrap_or_default();
    assert_eq!(networks.matches("sriov-rdma-network").count(), 8, "{networks}");
    assert_eq!(pod["spec"]["volumes"].to_string().matches("\"medium\":\"Memory\"").count(), 1);
    assert_fitted(&pod);
    // A pod that was out of scope in the first round, but names the profile, is changed in the second round.
    let mut late = cpu_pod("late-gpu");
    late["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": "h100"});
    let done = site.create(&namespace, &late, &[])?;
    assert!(done.ok, "{}", done.stderr);
    let pod = plane.get(&["pod", "late-gpu", "-n", &namespace])?;
    assert_eq!(
        pod["spec"]["containers"][1]["resources"]["limits"]["nvidia.com/sriov_resource"], "8",
        "{pod}"
    );
    Ok(())
}

/// The injector is called before us and again after the mesh, which is called after us and puts its proxy first.
fn mesh_and_injector(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    install(&site, "aa-injector", &namespace, injector)?;
    install(&site, "zz-mesh", &namespace, istio_with_proxy)?;
    plane.until("the mesh is called", std::time::Duration::from_secs(20), || {
        let done = site.create(&namespace, &cpu_pod("canary"), &["--dry-run=server", "-o", "json"])?;
        Ok(done.stdout.contains("istio-proxy"))
    })?;
    let mut named = training_pod("named");
    named["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] =
        r#"[{"name": "sriov-rdma-network", "namespace": "default", "mac": "c2:b0:57:49:47:f1"}]"#.into();
    for (name, pod) in [("bare", training_pod("bare")), ("named", named)] {
        let done = site.create(&namespace, &pod, &[])?;
        assert!(done.ok, "{}", done.stderr);
        let pod = plane.get(&["pod", name, "-n", &namespace])?;
        let (proxy, trainer) = (&pod["spec"]["containers"][0], &pod["spec"]["containers"][1]);
        assert_eq!((&proxy["name"], &trainer["name"]), (&json!("istio-proxy"), &json!("trainer")));
        for list in ["limits", "requests"] {
            assert_eq!(trainer["resources"][list]["nvidia.com/sriov_resource"], "8", "{pod}");
            assert!(proxy["resources"][list]["nvidia.com/sriov_resource"].is_null(), "{pod}");
        }
        let networks =
            pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].as_str().unwrap_or_default();
        assert_eq!(networks.matches("sriov-rdma-network").count(), 8, "{networks}");
        assert_eq!(networks.matches("istio-cni").count(), 1, "{networks}");
        assert_eq!(networks.contains("c2:b0:57:49:47:f1"), name == "named", "{networks}");
    }
    Ok(())
}

/// A MutatingAdmissionPolicy runs before webhooks; what it sets counts as the user's.
fn policy(plane: &Plane) -> Outcome {
    let api = "admissionregistration.k8s.io/v1";
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let policy = json!({"apiVersion": api, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "e2e-env"}, "spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]},
        "failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression":
            "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'trainer', env: [Object.spec.containers.env{name: 'NCCL_SOCKET_IFNAME', value: 'eth9'}]}]}}"}}]}});
    let binding = json!({"apiVersion": api, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "e2e-env"}, "spec": {
        "policyName": "e2e-env",
        "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}}});
    let stored = (|| {
        plane.apply(&policy.to_string())?;
        plane.apply(&binding.to_string())?;
        let (mut pod, mut said) = (Value::Null, String::new());
        let counts = plane.until("the policy counts", std::time::Duration::from_secs(30), || {
            let args = ["create", "--dry-run=server", "-o", "json", "-n", &namespace, "-f", "-"];
            let made = plane.kubectl(&args, &training_pod("p").to_string())?;
            pod = serde_json::from_str(&made.stdout).unwrap_or_default();
            said = format!("{} {}", made.stderr, pod["spec"]["containers"]);
            Ok(made.ok && made.stdout.contains("eth9"))
        });
        counts.map_err(|error| format!("{error}: {said}"))?;
        Ok::<_, String>(pod)
    })();
    for kind in ["mutatingadmissionpolicybinding", "mutatingadmissionpolicy"] {
        plane.kubectl(&["delete", kind, "e2e-env", "--ignore-not-found"], "")?;
    }
    drop(site);
    let pod = stored?;
    assert_fitted(&pod);
    let env = pod["spec"]["containers"][0]["env"].as_array().ok_or("no env")?;
    let values: Vec<&Value> =
        env.iter().filter(|e| e["name"] == "NCCL_SOCKET_IFNAME").map(|e| &e["value"]).collect();
    assert_eq!(values, [&json!("eth9")], "{pod}");
    Ok(())
}
