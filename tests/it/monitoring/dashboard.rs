//! A real Prometheus scrapes a real server, and every panel of the dashboard shows something.

use super::component;
use super::prometheus::Prometheus;
use crate::support::read;
use crate::support::server::{PROFILE, Server, bare_pod, review};
use crate::support::suite::{Need, Outcome, Suite};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("monitoring::the_dashboard_is_well_formed", || well_formed(DASHBOARDS[0]));
    suite.add("monitoring::the_dashboard_of_jobs_is_well_formed", || well_formed(DASHBOARDS[1]));
    if suite.need(Need::Prometheus, "monitoring::dashboard").is_some() {
        suite.add("monitoring::every_panel_shows_a_series", panels);
    }
}

/// The dashboards: of the webhook, and of jobs.
pub(crate) const DASHBOARDS: [&str; 2] = ["dashboard.json", "dashboard-jobs.json"];

fn dashboard(file: &str) -> Result<Value, String> {
    serde_json::from_str(&read(&component().join(file))?).map_err(|e| e.to_string())
}

/// The queries of all panels, each with the title of its panel.
pub(crate) fn queries(file: &str) -> Result<Vec<(String, String)>, String> {
    let dashboard = dashboard(file)?;
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

fn well_formed(file: &str) -> Outcome {
    let dashboard = dashboard(file)?;
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
    assert!(queries(file)?.len() > 15);
    Ok(())
}

/// Metrics of webhooks as an API server has them (k8s.io/apiserver pkg/admission/metrics/metrics.go). With a real API server:
/// `e2e::monitoring_of_the_api_server_has_series`.
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

fn panels() -> Outcome {
    let server = Server::start(&[("profiles.yaml", PROFILE)], &["--profiles", "profiles.yaml"])?;
    let target = |address: SocketAddr| json!([{"targets": [address.to_string()]}]);
    let prometheus = Prometheus::start(&json!([
        {"job_name": "fabric-admission", "static_configs": target(server.admin)},
        {"job_name": "apiserver", "static_configs": target(api_server()?)},
    ]))?;
    let end = Instant::now() + Duration::from_secs(60);
    let mut left = queries(DASHBOARDS[0])?;
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
            prometheus.query(&query).unwrap_or_default().is_empty()
        });
    }
    Ok(())
}
