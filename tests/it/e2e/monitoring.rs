//! The panels and alerts that use metrics of the API server: a real Prometheus scrapes a real API server.

use super::support::plane::{Plane, TOKEN};
use super::support::site::{PROFILE_LABEL, Site, training_pod};
use super::trial;
use crate::monitoring::alerts::{alerts, rules};
use crate::monitoring::dashboard::{DASHBOARDS, queries};
use crate::monitoring::prometheus::Prometheus;
use crate::support::suite::{Need, Outcome, Suite};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    let Some(_) = suite.need(Need::Prometheus, "e2e::monitoring") else { return };
    trial(suite, assets, "monitoring_of_the_api_server_has_series", series);
}

/// The metrics of the API server begin like this.
const WEBHOOKS: &str = "apiserver_admission_webhook_";

fn series(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    // The other endpoints answer, and this one is skipped.
    site.point(|name| !name.starts_with("mutate."))?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    site.create(&namespace, &training_pod("p"), &[])?;
    let prometheus = Prometheus::start(&json!([{
        "job_name": "apiserver", "scheme": "https", "scrape_interval": "2s", "scrape_timeout": "2s",
        "authorization": {"credentials": TOKEN}, "tls_config": {"ca_file": plane.ca()},
        "static_configs": [{"targets": [format!("127.0.0.1:{}", plane.port)]}],
    }]))?;
    let mut left: Vec<(String, String)> = queries(DASHBOARDS[0])?;
    let panels = left.len();
    for alert in alerts(&rules()?) {
        let [name, query] = ["alert", "expr"].map(|key| alert[key].as_str().unwrap_or_default().to_owned());
        // Calls on this machine are fast: what counts is that there is a value to compare.
        let query = query.strip_suffix(" > 0.5").map(str::to_owned).unwrap_or(query);
        left.push((name, query));
    }
    left.retain(|(_, query)| query.contains(WEBHOOKS));
    assert!(left.len() >= 4 && left.len() < panels, "{left:#?}");
    let calls = std::cell::Cell::new(0);
    let done = plane.until("every panel and alert has a series", Duration::from_secs(90), || {
        calls.set(calls.get() + 1);
        site.create(&namespace, &training_pod(&format!("p{}", calls.get())), &["--dry-run=server"])?;
        left.retain(|(_, query)| {
            let query = query.replace("$__rate_interval", "1m").replace("[10m]", "[1m]");
            prometheus.query(&query).unwrap_or_default().is_empty()
        });
        Ok(left.is_empty())
    });
    Ok(done.map_err(|error| format!("{error}: {left:#?}"))?)
}
