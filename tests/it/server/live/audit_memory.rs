//! Memory of `audit --live`: it must not grow with the number of pods. The API server here makes its pods as it is
//! asked for them. `FABRIC_ADMISSION_AUDIT_PODS` sets their number.

use crate::support::scripted_api_server::discovery::Discovery;
use crate::support::scripted_api_server::http::{Request, answer, request};
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, binary};
use serde_json::{Value, json};
use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::audit_memory_does_not_grow_with_pods", flat);
}

/// Bytes of each pod, about.
const POD: usize = 9_000;
/// Most KiB that ten times as many pods may take.
const GROWTH: u64 = 24 << 10;

fn pod() -> String {
    let env: Vec<Value> =
        (0..30).map(|n| json!({"name": format!("VARIABLE_{n}"), "value": "some value"})).collect();
    let spec = json!({"nodeName": "gpu-1", "nodeSelector": {"fabric": "east"}, "serviceAccountName": "default",
        "containers": [{"name": "trainer", "image": "registry.example.com/training:1", "env": env,
            "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "96"}, "requests": {"nvidia.com/gpu": "8", "cpu": "96"}}}]});
    let pod = json!({"metadata": {"namespace": "training", "name": "NAME", "uid": "NAME",
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "ranks", "uid": "u", "controller": true}],
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": "x".repeat(POD - 3_000)}}]},
        "spec": spec, "status": {"phase": "Running"}});
    pod.to_string()
}

fn list(asked: &Request, pod: &str, pods: usize) -> String {
    let number = |name: &str, default: usize| asked.parameter(name).parse().unwrap_or(default);
    let (start, limit) = (number("continue", 0), number("limit", pods));
    let end = (start + limit).min(pods);
    let items: Vec<String> = (start..end).map(|n| pod.replace("NAME", &format!("ranks-{n}"))).collect();
    let mut metadata = json!({"resourceVersion": "7"});
    if end < pods {
        metadata["continue"] = json!(end.to_string());
        metadata["remainingItemCount"] = json!(pods - end);
    }
    format!("{{\"metadata\":{metadata},\"items\":[{}]}}", items.join(","))
}

fn one(items: &Value) -> String {
    json!({"metadata": {"resourceVersion": "7"}, "items": items}).to_string()
}

fn connection(stream: TcpStream, pod: &str, pods: usize) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(asked) = request(&mut reader)? {
        let body = match asked.path.as_str() {
            "/version" => json!({"major": "1", "minor": "34"}).to_string(),
            "/apis" => Discovery::default().document().to_string(),
            "/api/v1/pods" => list(&asked, pod, pods),
            "/api/v1/namespaces" => one(&json!([super::namespace("training", None)])),
            "/api/v1/nodes" => one(&json!([super::node("gpu-1", "east", "p")])),
            path if path.ends_with("/fabricprofiles") => one(&json!([super::profile("east", "x.com/east")])),
            path if path.ends_with("/network-attachment-definitions") => {
                one(&json!([super::network("east")]))
            }
            _ => one(&json!([])),
        };
        answer(&mut stream, 200, "application/json", body.as_bytes())?;
    }
    Ok(())
}

fn serve(pods: usize) -> Result<SocketAddr, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    std::thread::spawn(move || {
        let pod = pod();
        for stream in listener.incoming().filter_map(Result::ok) {
            let pod = pod.clone();
            std::thread::spawn(move || connection(stream, &pod, pods));
        }
    });
    Ok(address)
}

/// Peak memory of an audit of so many pods (KiB), and its time.
fn peak(pods: usize) -> Result<(u64, Duration), String> {
    let address = serve(pods)?;
    let scratch = Scratch::new()?;
    scratch.write(
        "kubeconfig",
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: \"http://{address}\"}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
        ),
    )?;
    let begin = Instant::now();
    let mut child = Command::new(binary())
        .args(["audit", "--live", "--kubeconfig", "kubeconfig", "-o", "json=out.json", "--fail-on", "never"])
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let code = loop {
        if let Some(ended) = child.try_wait().map_err(|e| e.to_string())? {
            break ended.code();
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default();
        peak = peak.max(now);
        std::thread::sleep(Duration::from_millis(10));
    };
    let took = begin.elapsed();
    let text = crate::support::read(&scratch.path().join("out.json"))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let counted = (value["summary"]["pods"].as_u64(), value["summary"]["workloads"].as_u64());
    if code != Some(0) || counted != (Some(pods as u64), Some(1)) {
        return Err(format!("exit {code:?}, {counted:?} pods and workloads of {pods}"));
    }
    Ok((peak, took))
}

fn flat() -> Outcome {
    let pods =
        std::env::var("FABRIC_ADMISSION_AUDIT_PODS").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    let (few, _) = peak(pods / 10)?;
    let (many, took) = peak(pods)?;
    eprintln!("audit of {pods} pods: {took:.1?}, peak {many} KiB; of a tenth: peak {few} KiB");
    assert!(many < few + GROWTH, "{few} KiB for {} pods, {many} KiB for {pods}", pods / 10);
    Ok(())
}
