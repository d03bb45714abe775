use super::*;
use crate::cluster::Phase;
use crate::telemetry::metric_table::{ALL, Kind};
use std::collections::BTreeMap;

/// Every metric, with the labels of each of its series.
fn scraped(text: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut found = BTreeMap::<String, Vec<Vec<String>>>::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, _) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let labels = labels.trim_end_matches('}').split(',').filter_map(|label| label.split_once('='));
        let labels = labels.map(|(name, _)| name.to_owned()).filter(|name| name != "le").collect();
        found.entry(name.to_owned()).or_default().push(labels);
    }
    found
}

/// A scrape of a server to which everything has happened has every listed metric with exactly its labels, and no other.
#[test]
fn a_scrape_has_every_listed_metric_and_no_other() {
    let metrics = Metrics::new();
    let answer = crate::review::webhook::handle(
        br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","namespace":"a",
            "operation":"CREATE","kind":{"group":"","version":"v1","kind":"Pod"},"object":{"spec":{"containers":
            [{"name":"a","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}}}}"#,
        WebhookEntry::Audit,
        &Snapshot::default(),
    )
    .unwrap();
    metrics.decided(&answer, Verdict::of(&answer), &Snapshot::default(), Duration::ZERO);
    metrics.task("a");
    metrics.handshake(Handshake::Ok);
    metrics.client_ca_loaded(true);
    metrics.facts_loaded();
    metrics.facts_checked();
    metrics.aged([("Node", Duration::from_secs(1))].into_iter(), Some(3.0));
    let watches = metrics.watches();
    watches.watch_objects("Node", 1);
    watches.watch_phase("Node", Phase::Synced);
    watches.watch_listed("Node");
    watches.watch_malformed("Node");
    watches.watch_contact("Node");
    watches.watch_ignored([("ConfigMap", 1)].into_iter());
    watches.profile_problems([("h100", 1)].into_iter());
    watches.status_failed("get");
    let certificates = metrics.certificates();
    certificates.certificate_loaded();
    certificates.ca_expiry("current", 1);
    certificates.cabundle_in_sync("mutating", true);
    certificates.cabundle_written("mutating");
    certificates.cabundle_reverted("mutating");
    certificates.cabundle_fight("mutating", false);
    certificates.rotated("leaf", "renewal");
    certificates.certificate_outrun("write");
    certificates.certificate_call_failed("read");
    let mut found = scraped(&metrics.text());
    for metric in ALL {
        let endings: &[&str] =
            if metric.kind == Kind::Histogram { &["_bucket", "_sum", "_count"] } else { &[""] };
        for ending in endings {
            let name = format!("{}{ending}", metric.full_name());
            let series = found.remove(&name).unwrap_or_default();
            assert!(!series.is_empty(), "{name} is not in a scrape");
            assert!(series.iter().all(|labels| labels == metric.labels), "{name}: {series:?}");
        }
    }
    assert!(found.is_empty(), "not in the table: {found:?}");
}
