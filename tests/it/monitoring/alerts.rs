//! Each alert has a section in docs/runbooks.md, and fires when it should and not otherwise.

use super::component;
use crate::support::round_trip::{documents, same};
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{Scratch, read, root};
use fabric_admission::telemetry::metric_table::{ALL, Kind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

pub(super) fn add(suite: &mut Suite) {
    suite.add("monitoring::every_alert_has_a_runbook", runbooks);
    suite.add("monitoring::every_alert_has_a_case_that_fires_and_one_that_does_not", cases);
    suite.add("monitoring::queries_use_listed_metrics", metrics);
    if suite.need(Need::Prometheus, "monitoring::promtool").is_some() {
        suite.add("monitoring::promtool_checks_the_rules", || promtool(&["check", "rules", "full.yaml"]));
        suite.add("monitoring::promtool_tests_the_rules", || promtool(&["test", "rules", "alerts.yaml"]));
    }
}

/// Every YAML document of a file.
fn yaml(file: &str) -> Result<Value, String> {
    let text = read(&root().join(file))?;
    documents(text.as_bytes())
        .into_iter()
        .map(|(_, value)| value)
        .next()
        .ok_or_else(|| format!("{file}: empty"))
}

pub(crate) fn rules() -> Result<Value, String> {
    Ok(yaml("deploy/components/monitoring/prometheusrule.yaml")?["spec"].clone())
}

pub(crate) fn alerts(rules: &Value) -> Vec<&Value> {
    let groups = rules["groups"].as_array().into_iter().flatten();
    groups.flat_map(|group| group["rules"].as_array().into_iter().flatten()).collect()
}

fn names(rules: &Value) -> BTreeSet<String> {
    alerts(rules).iter().filter_map(|rule| rule["alert"].as_str()).map(str::to_owned).collect()
}

fn runbooks() -> Outcome {
    let rules = rules()?;
    let page = read(&root().join("docs/runbooks.md"))?;
    let sections = page.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned);
    let sections: BTreeSet<String> = sections.filter(|name| name.starts_with("Fabric")).collect();
    same("sections", names(&rules), sections)?;
    for alert in alerts(&rules) {
        let name = alert["alert"].as_str().unwrap_or_default();
        let expected = format!(
            "{}/blob/main/docs/runbooks.md#{}",
            env!("CARGO_PKG_REPOSITORY"),
            name.to_ascii_lowercase()
        );
        same(name, &json!(expected), &alert["annotations"]["runbook_url"])?;
        for text in ["summary", "description"] {
            assert!(
                alert["annotations"][text].as_str().is_some_and(|text| text.len() > 20),
                "{name}: {text}"
            );
        }
        assert!(alert["labels"]["severity"].is_string(), "{name}");
    }
    Ok(())
}

fn cases() -> Outcome {
    let tests = yaml("tests/alerts/alerts.yaml")?;
    let (mut fires, mut silent) = (BTreeSet::new(), BTreeSet::new());
    for case in tests["tests"].as_array().into_iter().flatten() {
        let all = case["alert_rule_test"].as_array().into_iter().flatten();
        let last = all.last().ok_or("a case without an alert")?;
        let name = last["alertname"].as_str().unwrap_or_default().to_owned();
        if last["exp_alerts"].as_array().is_some_and(|alerts| !alerts.is_empty()) {
            fires.insert(name);
        } else {
            silent.insert(name);
        }
    }
    let known = names(&rules()?);
    same("alerts with a case that fires", &known, &fires)?;
    same("alerts with a case that does not fire", &known, &silent)?;
    Ok(())
}

/// Our metrics in a query.
pub(super) fn named(query: &str) -> BTreeSet<&str> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix))).collect()
}

/// How names of our metrics begin. Those of the monitor are ones of node_exporter too.
const PREFIXES: [&str; 4] = ["fabric_admission_", "fabric_monitor_", "node_infiniband_", "node_network_"];

/// A query with a mistyped metric returns nothing, and an alert with it never fires.
fn metrics() -> Outcome {
    let mut listed = BTreeSet::new();
    for metric in ALL {
        let name = metric.full_name();
        if metric.kind == Kind::Histogram {
            listed.extend(["_bucket", "_sum", "_count"].map(|ending| format!("{name}{ending}")));
        }
        listed.insert(name);
    }
    listed.extend(fabric_admission::monitor::metrics());
    let rules = rules()?;
    let page = read(&root().join("docs/metrics.md"))? + &read(&root().join("docs/runbooks.md"))?;
    let mut texts: Vec<String> = page.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    texts.extend(alerts(&rules).iter().filter_map(|alert| alert["expr"].as_str()).map(str::to_owned));
    for dashboard in super::dashboard::DASHBOARDS {
        texts.extend(super::dashboard::queries(dashboard)?.into_iter().map(|(_, query)| query));
    }
    let unknown: BTreeSet<&str> =
        texts.iter().flat_map(|text| named(text)).filter(|name| !listed.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    Ok(())
}

fn promtool(args: &[&str]) -> Outcome {
    let full = rules()?;
    // The cases compare labels. The texts of annotations are checked only for their form.
    let mut bare = full.clone();
    for group in bare["groups"].as_array_mut().into_iter().flatten() {
        for rule in group["rules"].as_array_mut().into_iter().flatten() {
            rule.as_object_mut().ok_or("not a rule")?.remove("annotations");
        }
    }
    let scratch = Scratch::new()?;
    scratch.write("full.yaml", full.to_string())?;
    scratch.write("rules.yaml", bare.to_string())?;
    scratch.write("alerts.yaml", read(&root().join("tests/alerts/alerts.yaml"))?)?;
    assert!(component().is_dir());
    let done = Command::new("promtool").args(args).current_dir(scratch.path()).output();
    let done = done.map_err(|e| e.to_string())?;
    let text = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&text));
    Ok(())
}
