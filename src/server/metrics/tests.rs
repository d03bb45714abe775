use super::*;
use crate::cluster::Phase;
use crate::snapshot::{Builder, Layer};
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
    let answer = crate::review::decide_webhook_request::decide_body_for_anyone(
        br#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","namespace":"a",
            "operation":"CREATE","kind":{"group":"","version":"v1","kind":"Pod"},"object":{"spec":{"containers":
            [{"name":"a","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}}}}"#,
        WebhookEntry::Audit,
        &Snapshot::default(),
    )
    .unwrap();
    metrics.count_decision_and_request(&answer, Verdict::of(&answer), &Snapshot::default(), Duration::ZERO);
    let mut builder = Builder::default();
    let profile = r#"{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{"name":"a"},
        "spec":{"transport":"ethernet","attachment":"none"}}"#;
    builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", profile, "").unwrap();
    metrics.record_names_and_changed_profiles(&builder.build());
    metrics.show_task_without_failures("a");
    metrics.count_handshake(Handshake::Ok);
    metrics.count_client_ca_reload(true);
    metrics.count_reload_of_fact_files();
    metrics.record_that_fact_files_are_valid();
    metrics.set_fact_ages_and_certificate_days([("Node", Duration::from_secs(1))].into_iter(), Some(3.0));
    let watches = metrics.watches();
    watches.set_object_count("Node", 1);
    watches.set_watch_phase("Node", Phase::Synced);
    watches.count_complete_list("Node");
    watches.count_unreadable_object("Node");
    watches.count_object_not_kept("ResourceClaim");
    watches.set_contact_time_to_now("Node");
    watches.replace_ignored_object_counts([("ConfigMap", 1)].into_iter());
    watches.replace_profile_problem_counts([("h100", 1)].into_iter());
    watches.count_failed_status_call("get");
    let certificates = metrics.certificates();
    certificates.count_load_and_record_time();
    certificates.set_ca_expiry("current", 1);
    certificates.set_ca_bundle_in_sync("mutating", true);
    certificates.count_ca_bundle_write("mutating");
    certificates.count_external_ca_bundle_change("mutating");
    certificates.set_ca_bundle_fight("mutating", false);
    certificates.count_rotation("leaf", "renewal");
    certificates.count_write_conflict("write");
    certificates.count_failed_call("read");
    let mut found = scraped(&metrics.text_for_scrape());
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

/// A namespace and a profile have zeros before their first decision, so that `increase()` sees this decision; and two
/// hundred of each stay within what a scrape may have.
#[test]
fn the_first_decision_of_a_name_is_a_rise() {
    let mut builder = Builder::default();
    let mut add = |name: &str, labels: &str| {
        let json = format!(r#"{{"metadata":{{"name":"{name}","labels":{{{labels}}}}}}}"#);
        builder.add(Layer::Live, "", "Namespace", &json, "default").unwrap();
    };
    let long = |n: usize| format!("{n:03}{}", "n".repeat(60));
    for n in 0..250 {
        add(&long(n), r#""fabric-admission.dev/mode":"audit""#);
    }
    add("not-in", "");
    let snapshot = builder.build();
    let metrics = Metrics::new();
    metrics.record_names_and_changed_profiles(&snapshot);
    let text = metrics.text_for_scrape();
    let value = |labels: &str| {
        let series = format!("fabric_admission_namespace_decisions_total{{{labels}}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)).map(str::to_owned)
    };
    let name = |n: usize, rest: &str| value(&format!("namespace=\"{}\",{rest}", long(n)));
    for rest in [
        r#"entry="audit",mode="audit",result="would_deny""#,
        r#"entry="audit",mode="audit",result="withheld""#,
        r#"entry="enforce",mode="enforce",result="denied""#,
        r#"entry="mutate",mode="enforce",result="mutated""#,
        r#"entry="workloads",mode="audit",result="would_deny""#,
    ] {
        assert_eq!(
            [0, 199, 200].map(|n| name(n, rest)),
            [Some("0".to_owned()), Some("0".to_owned()), None],
            "{rest}"
        );
        assert_eq!(value(&format!("namespace=\"other\",{rest}")).as_deref(), Some("0"));
    }
    assert!(!text.contains("not-in"));
    assert!(
        text.contains("fabric_admission_profile_decisions_total{profile="),
        "profiles that are compiled in"
    );
    // The profiles at their limit cost as much as the namespaces.
    let (ours, rest): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains("_namespace_decisions_total{"));
    let size = |lines: &[&str]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let scrape = 2 * size(&ours) + size(&rest);
    println!("a scrape with 200 namespaces and 200 profiles has at most {scrape} bytes");
    assert!(scrape < 1_000_000, "{scrape}");
}
