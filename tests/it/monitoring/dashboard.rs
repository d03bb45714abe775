//! A real Prometheus scrapes a real server, and every panel of the dashboard shows something.

use super::component;
use crate::support::server::{PROFILE, Server, admin, bare_pod, review};
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{Scratch, read};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("monitoring::the_dashboard_is_well_formed", well_formed);
    if suite.need(Need::Prometheus, "monitoring::dashboard").is_some() {
        suite.add("monitoring::every_panel_shows_a_series", panels);
    }
}

fn dashboard() -> Result<Value, String> {
    serde_json::from_str(&read(&component().join("dashboard.json"))?).map_err(|e| e.to_string())
}

/// The queries of all panels, each with the title of its panel.
pub(super) fn queries() -> Result<Vec<(String, String)>, String> {
    let dashboard = dashboard()?;
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().into_iter().flatten() {
        let title = panel["title"].as_str().unwrap_or_default();
        for target in panel["targets"].as_array().into_iter().flatten() {
            let query = target["expr"].as_str().ok_or_else(|| format!("{title}: no query"))?;
            found.push((title.to_owned(), query.to_owned()));
        }
    }
    Ok(found)
}

fn well_formed() -> Outcome {
    let dashboard = dashboard()?;
    let panels = dashboard["panels"].as_array().ok_or("no panels")?;
    let mut taken: Vec<[u64; 4]> = Vec::new();
    for (index, panel) in panels.iter().enumerate() {
        let number = |key: &str| panel["gridPos"][key].as_u64().ok_or("no place");
        let [x, y, w, h] = [number("x")?, number("y")?, number("w")?, number("h")?];
        let clash = taken.iter().any(|[a, b, c, d]| x < a + c && *a < x + w && y < b + d && *b < y + h);
        assert!(x + w <= 24 && !clash, "panel {}", panel["title"]);
        assert_eq!(panel["id"], json!(index + 1));
        taken.push([x, y, w, h]);
    }
    assert!(queries()?.len() > 15);
    Ok(())
}

/// A child process that is killed when dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Metrics of webhooks as an API server has them (k8s.io/apiserver pkg/admission/metrics/metrics.go).
const API_SERVER: &str = r#"# TYPE apiserver_admission_webhook_fail_open_count counter
apiserver_admission_webhook_fail_open_count{name="mutate.fabric-admission.dev",type="admit"} 1
# TYPE apiserver_admission_webhook_admission_duration_seconds histogram
apiserver_admission_webhook_admission_duration_seconds_bucket{name="mutate.fabric-admission.dev",operation="CREATE",rejected="false",type="admit",le="0.005"} 1
apiserver_admission_webhook_admission_duration_seconds_bucket{name="mutate.fabric-admission.dev",operation="CREATE",rejected="false",type="admit",le="+Inf"} 1
apiserver_admission_webhook_admission_duration_seconds_sum{name="mutate.fabric-admission.dev",operation="CREATE",rejected="false",type="admit"} 0.001
apiserver_admission_webhook_admission_duration_seconds_count{name="mutate.fabric-admission.dev",operation="CREATE",rejected="false",type="admit"} 1
"#;

/// Answers every request with the metrics of an API server.
fn api_server() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let length = API_SERVER.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n\
                 Connection: close\r\n\r\n{API_SERVER}"
            );
        }
    });
    Ok(address)
}

/// The number of series that a query returns.
fn count(prometheus: SocketAddr, query: &str) -> Result<u64, String> {
    let text: String = format!("count({query})").bytes().map(|byte| format!("%{byte:02x}")).collect();
    let answer: Value = admin(prometheus, &format!("/api/v1/query?query={text}"))?.json()?;
    if answer["status"] != "success" {
        return Err(format!("{query}: {answer}"));
    }
    let value = answer["data"]["result"][0]["value"][1].as_str().unwrap_or("0");
    value.parse().map_err(|e| format!("{value}: {e}"))
}

fn panels() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let scratch = Scratch::new()?;
    let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).map_err(|e| e.to_string())?;
    let target = |address: SocketAddr| json!([{"targets": [address.to_string()]}]);
    let config = json!({
        "global": {"scrape_interval": "500ms", "scrape_timeout": "400ms"},
        "scrape_configs": [
            {"job_name": "fabric-admission", "static_configs": target(server.admin)},
            {"job_name": "apiserver", "static_configs": target(api_server()?)},
        ],
    });
    scratch.write("prometheus.yml", config.to_string())?;
    let child = Command::new("prometheus")
        .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
        .arg(format!("--web.listen-address={free}"))
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    let _prometheus = Killed(child);
    let end = Instant::now() + Duration::from_secs(60);
    let mut left = queries()?;
    while !left.is_empty() {
        assert!(Instant::now() < end, "no series: {left:#?}");
        // Some series exist only after their first event.
        let mut broken = bare_pod();
        broken["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = json!("[null]");
        for (path, pod) in [("/mutate", bare_pod()), ("/audit", broken)] {
            server.post(path, review("u", ("", "Pod"), "CREATE", &pod).to_string().as_bytes())?;
        }
        std::thread::sleep(Duration::from_millis(500));
        left.retain(|(_, query)| {
            let query = query.replace("$__rate_interval", "1m");
            !matches!(count(free, &query), Ok(series) if series > 0)
        });
    }
    Ok(())
}
