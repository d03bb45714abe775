//! The metrics: what counts where, that no caller invents a series, and the page that lists them.

use crate::support::round_trip::same;
use crate::support::server::{PROFILE, Server, bare_pod, review};
use crate::support::suite::{Outcome, Suite};
use crate::support::{golden, read, root};
use fabric_admission::plan::ChangeKind;
use fabric_admission::resolve::ResolutionKind as Searched;
use fabric_admission::server::RESULTS;
use fabric_admission::telemetry::metric_table::{ALL, Kind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn add(suite: &mut Suite) {
    suite.add("metrics::page_is_current", || Ok(page()?));
    suite.add("metrics::a_scrape_has_only_listed_metrics", only_listed);
    suite.add("metrics::would_be_denials_are_counted", would_deny);
    suite.add("metrics::decisions_by_namespace_and_profile", by_name);
    suite.add("metrics::invented_names_make_no_series", invented);
    suite.add("metrics::the_first_namespaces_keep_their_series", first);
    suite.add("metrics::changes_and_searches_are_counted", changes);
    suite.add("metrics::ages_and_days_are_shown", ages);
    suite.add("metrics::the_last_change_of_a_profile_is_shown", changed_profiles);
}

const NAMESPACES: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: training, labels: {fabric-admission.dev/mode: enforce}}\n---\n\
    apiVersion: v1\nkind: Namespace\nmetadata: {name: trial, labels: {fabric-admission.dev/mode: audit}}\n---\n\
    apiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n";

/// A server that knows two namespaces that opted in, one that did not, and a profile.
pub(super) fn server() -> Result<Server, String> {
    Server::start(
        &[("profiles.yaml", PROFILE), ("namespaces.yaml", NAMESPACES)],
        &["--profiles", "profiles.yaml", "--cluster", "namespaces.yaml", "--facts-poll", "0.1"],
    )
}

/// Creates a pod in a namespace.
pub(super) fn create(server: &Server, path: &str, namespace: &str, pod: &Value) -> Result<Value, String> {
    let mut body = review("u", ("", "Pod"), "CREATE", pod);
    body["request"]["namespace"] = json!(namespace);
    server.post(path, body.to_string().as_bytes())?.json()
}

/// A pod that no profile can help.
pub(super) fn broken_pod() -> Value {
    let mut pod = bare_pod();
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = json!("[null]");
    pod
}

/// The series of one metric that are not zero.
fn series(server: &Server, metric: &str) -> Result<BTreeMap<String, f64>, String> {
    let mut found = series_with_zeros(server, metric)?;
    found.retain(|_, value| *value != 0.0);
    Ok(found)
}

fn series_with_zeros(server: &Server, metric: &str) -> Result<BTreeMap<String, f64>, String> {
    let text = server.admin("/metrics")?.body;
    let prefix = format!("fabric_admission_{metric}{{");
    let lines = text.lines().filter_map(|line| line.strip_prefix(&prefix)?.split_once("} "));
    let values = lines.filter_map(|(labels, value)| Some((labels.to_owned(), value.parse::<f64>().ok()?)));
    Ok(values.collect())
}

fn expect(server: &Server, metric: &str, expected: &[(&str, f64)]) -> Result<(), String> {
    let expected = expected.iter().map(|(labels, value)| ((*labels).to_owned(), *value)).collect();
    same(metric, expected, series(server, metric)?)
}

const BEGIN: &str = "<!-- metrics: generated from src/telemetry/metric_table.rs -->\n";
const END: &str = "<!-- end of metrics -->\n";

fn page() -> Result<(), String> {
    let mut table = "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    for metric in ALL {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        table +=
            &format!("| `{}` | {kind} | {} | {} |\n", metric.full_name(), labels.join(", "), metric.help);
    }
    table += "\n| value of `result` | meaning |\n| --- | --- |\n";
    for (result, meaning) in RESULTS {
        table += &format!("| `{}` | {meaning} |\n", result.name());
    }
    let file = root().join("docs/metrics.md");
    let page = read(&file)?;
    let (before, rest) = page.split_once(BEGIN).ok_or("docs/metrics.md has no table")?;
    let (_, after) = rest.split_once(END).ok_or("the table has no end")?;
    let kinds = ChangeKind::ALL.map(ChangeKind::name);
    for value in kinds.iter().chain(&Searched::ALL.map(Searched::name)) {
        if !after.contains(&format!("| `{value}` |")) {
            return Err(format!("docs/metrics.md does not explain the value {value}"));
        }
    }
    golden(&file, Some(&format!("{before}{BEGIN}\n{table}\n{END}{after}")))
}

/// Name and labels of every series of a scrape, without those of buckets.
fn scraped(text: &str) -> BTreeSet<(String, Vec<String>)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let series = lines.filter_map(|line| line.rsplit_once(' ')).map(|(series, _)| {
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        // No label value of the server has a comma or a quote.
        let labels = labels.trim_end_matches('}').split(',').filter_map(|label| label.split_once('='));
        let labels = labels.map(|(name, _)| name.to_owned()).filter(|name| name != "le").collect();
        (name.to_owned(), labels)
    });
    series.collect()
}

fn only_listed() -> Outcome {
    let server = server()?;
    for path in ["/mutate", "/validate", "/audit", "/validate-networks", "/nowhere"] {
        for (namespace, pod) in [("training", bare_pod()), ("trial", broken_pod()), ("?", json!({}))] {
            let mut body = review("u", ("", "Pod"), "CREATE", &pod);
            body["request"]["namespace"] = json!(namespace);
            server.post(path, body.to_string().as_bytes())?;
        }
    }
    let mut listed = BTreeSet::new();
    for metric in ALL {
        let endings: &[&str] =
            if metric.kind == Kind::Histogram { &["_bucket", "_sum", "_count"] } else { &[""] };
        let labels: Vec<String> = metric.labels.iter().map(|&label| label.to_owned()).collect();
        listed.extend(endings.iter().map(|end| (format!("{}{end}", metric.full_name()), labels.clone())));
    }
    let found = scraped(&server.admin("/metrics")?.body);
    let unlisted: Vec<_> = found.difference(&listed).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
    assert!(found.len() > 30, "{found:?}");
    Ok(())
}

fn would_deny() -> Outcome {
    let server = server()?;
    let answer = create(&server, "/audit", "trial", &broken_pod())?;
    assert_eq!(answer["response"]["allowed"], true, "{answer}");
    create(&server, "/audit", "trial", &bare_pod())?;
    create(&server, "/mutate", "training", &broken_pod())?;
    expect(
        &server,
        "requests_total",
        &[
            (r#"entry="audit",mode="audit",result="withheld""#, 1.0),
            (r#"entry="audit",mode="audit",result="would_deny""#, 1.0),
            (r#"entry="mutate",mode="enforce",result="denied""#, 1.0),
        ],
    )?;
    let found = series(&server, "findings_total")?;
    for mode in ["audit", "enforce"] {
        let labels = format!(r#"rule="FAB101",severity="error",mode="{mode}""#);
        assert_eq!(found.get(&labels), Some(&1.0), "{found:?}");
    }
    Ok(())
}

fn by_name() -> Outcome {
    let server = server()?;
    // A series that begins with its first pod hides this pod from `increase()`.
    let found = series_with_zeros(&server, "profile_decisions_total")?;
    let none = r#"profile="none",entry="audit",mode="audit",result="would_deny""#;
    assert_eq!(found.get(none), Some(&0.0), "{found:?}");
    let found = series_with_zeros(&server, "namespace_decisions_total")?;
    assert!(!found.keys().any(|labels| labels.contains(r#"namespace="none""#)), "{found:?}");
    create(&server, "/audit", "trial", &broken_pod())?;
    create(&server, "/mutate", "training", &bare_pod())?;
    // It did not opt in.
    create(&server, "/mutate", "elsewhere", &bare_pod())?;
    let mut other = bare_pod();
    other["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!("absent");
    create(&server, "/audit", "trial", &other)?;
    // Nothing in it concerns the webhook.
    create(&server, "/mutate", "training", &json!({"spec": {"containers": [{"name": "a"}]}}))?;
    expect(
        &server,
        "namespace_decisions_total",
        &[
            (r#"namespace="other",entry="mutate",mode="enforce",result="mutated""#, 1.0),
            (r#"namespace="training",entry="mutate",mode="enforce",result="mutated""#, 1.0),
            (r#"namespace="trial",entry="audit",mode="audit",result="would_deny""#, 2.0),
        ],
    )?;
    expect(
        &server,
        "profile_decisions_total",
        &[
            (r#"profile="h100",entry="audit",mode="audit",result="would_deny""#, 1.0),
            (r#"profile="h100",entry="mutate",mode="enforce",result="mutated""#, 2.0),
            (r#"profile="none",entry="audit",mode="audit",result="would_deny""#, 1.0),
        ],
    )?;
    Ok(())
}

/// More names than have places: those of a caller, whom nobody checks.
fn invented() -> Outcome {
    let server = server()?;
    for n in 0..250 {
        let mut pod = bare_pod();
        pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!(format!("invented-{n}"));
        create(&server, "/audit", &format!("invented-{n}"), &pod)?;
    }
    let all = r#"entry="audit",mode="audit",result="would_deny""#;
    expect(&server, "namespace_decisions_total", &[(&format!(r#"namespace="other",{all}"#), 250.0)])?;
    expect(&server, "profile_decisions_total", &[(&format!(r#"profile="none",{all}"#), 250.0)])?;
    // They took no place from those that exist.
    create(&server, "/audit", "trial", &broken_pod())?;
    let found = series(&server, "namespace_decisions_total")?;
    assert_eq!(found.get(&format!(r#"namespace="trial",{all}"#)), Some(&1.0), "{found:?}");
    Ok(())
}

/// More opted-in namespaces than have series of their own.
fn first() -> Outcome {
    let namespace = |n| {
        format!(
            "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: n{n}, labels: {{fabric-admission.dev/mode: audit}}}}\n"
        )
    };
    let namespaces: String = (0..230).map(namespace).collect();
    let server = Server::start(
        &[("profiles.yaml", PROFILE), ("namespaces.yaml", &namespaces)],
        &["--profiles", "profiles.yaml", "--cluster", "namespaces.yaml"],
    )?;
    for _ in 0..2 {
        for n in 0..230 {
            create(&server, "/audit", &format!("n{n}"), &broken_pod())?;
        }
    }
    let found = series(&server, "namespace_decisions_total")?;
    assert_eq!(found.len(), 201, "{found:?}");
    for (namespace, count) in [("n0", 2.0), ("n199", 2.0), ("other", 60.0)] {
        let labels = format!(r#"namespace="{namespace}",entry="audit",mode="audit",result="would_deny""#);
        assert_eq!(found.get(&labels), Some(&count), "{namespace}: {found:?}");
    }
    Ok(())
}

fn changes() -> Outcome {
    let server = server()?;
    create(&server, "/mutate", "training", &bare_pod())?;
    create(&server, "/audit", "trial", &bare_pod())?;
    // The other entry sees the pod again.
    create(&server, "/validate", "training", &bare_pod())?;
    let found = series(&server, "changes_total")?;
    for result in ["made", "planned"] {
        for (kind, least) in [("networks", 1.0), ("resource", 1.0), ("capability", 1.0), ("variable", 2.0)] {
            let count = found.get(&format!(r#"kind="{kind}",result="{result}""#));
            assert!(count.is_some_and(|count| *count >= least), "{kind} {result}: {found:?}");
        }
    }
    assert_eq!(found.get(r#"kind="capability",result="made""#), Some(&1.0), "{found:?}");
    let mut pod = bare_pod();
    pod["metadata"]["annotations"] = json!({});
    create(&server, "/audit", "trial", &pod)?;
    expect(
        &server,
        "resolutions_total",
        &[
            (r#"outcome="none",mode="audit""#, 1.0),
            (r#"outcome="profile",mode="audit""#, 1.0),
            (r#"outcome="profile",mode="enforce""#, 1.0),
        ],
    )?;
    Ok(())
}

fn changed_profiles() -> Outcome {
    let server = server()?;
    let times = || series_with_zeros(&server, "profile_changed_timestamp_seconds");
    let (known, new) = (r#"profile="h100""#, r#"profile="h200""#);
    let first = times()?;
    assert_eq!((first.get(known), first.get(new)), (Some(&0.0), None), "{first:?}");
    let reloads = || server.metric(r#"fabric_admission_facts_reloads_total{result="ok"}"#);
    let mut done = reloads()?;
    let mut write = |text: &str| -> Result<_, String> {
        server.scratch.write("profiles.yaml", text)?;
        done += 1.0;
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while reloads()? < done {
            assert!(std::time::Instant::now() < end, "no reload");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        times()
    };
    let described = PROFILE.replace("base:", "description: the east hall, base:");
    let found = write(&described)?;
    assert_eq!(found.get(known), Some(&0.0), "a description is not a change: {found:?}");
    let second = PROFILE.replace("h100", "h200");
    let mut found = write(&format!("{}---\n{second}", PROFILE.replace("base:", "bootstrap: rail0, base:")))?;
    // A reload of the file before may have ended only now.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !found.contains_key(new) && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(50));
        found = times()?;
    }
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_err(|e| e.to_string())?;
    for name in [known, new] {
        let age = now.as_secs_f64() - found.get(name).copied().unwrap_or_default();
        assert!(age < 60.0, "{name}: {found:?}");
    }
    Ok(())
}

fn ages() -> Outcome {
    let server = server()?;
    let days = server.metric("fabric_admission_certificate_days_left")?;
    let expiry = server.metric("fabric_admission_leaf_expiry_timestamp_seconds")?;
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_err(|e| e.to_string())?;
    assert!(((expiry - now.as_secs_f64()) / 86_400.0 - days).abs() < 0.01, "{days}");
    let age = || server.metric(r#"fabric_admission_facts_age_seconds{kind="files"}"#);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(age()? < 5.0);
    // Files that cannot be read: the facts in use grow old.
    server.scratch.write("namespaces.yaml", "a: [")?;
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert!(age()? > 1.0, "{}", age()?);
    server.scratch.write("namespaces.yaml", NAMESPACES)?;
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert!(age()? < 0.6, "{}", age()?);
    Ok(())
}
