//! What the chart has from the kustomization and from the types, so that neither exists twice. `UPDATE_GOLDEN=1` copies.

use crate::support::helm::chart;
use crate::support::round_trip::documents;
use crate::support::suite::Suite;
use crate::support::{golden, read, root, run};
use serde_json::Value;

/// A file of the chart, and the one of the kustomization that it is.
const COPIES: [(&str, &str); 9] = [
    ("webhooks.yaml", "base/webhooks.yaml"),
    ("rbac.yaml", "base/rbac.yaml"),
    ("auditor.yaml", "components/auditor/clusterrole.yaml"),
    ("fabricprofiles.yaml", "crds/fabricprofiles.yaml"),
    ("certificates.yaml", "components/cert-manager/certificates.yaml"),
    ("prometheusrule.yaml", "components/monitoring/prometheusrule.yaml"),
    ("dashboard.json", "components/monitoring/dashboard.json"),
    ("dashboard-jobs.json", "components/monitoring/dashboard-jobs.json"),
    ("podmonitor.yaml", "components/job-podmonitor/podmonitor.yaml"),
];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("chart::files_are_those_of_the_kustomization", || {
        for (copy, original) in COPIES {
            let text = read(&root().join("deploy").join(original))?;
            golden(&chart().join("files").join(copy), Some(&text))?;
        }
        Ok(golden(&chart().join("files/networks-webhook.yaml"), Some(&networks_webhook()?))?)
    });
    suite.add("chart::schema_of_profiles_is_that_of_the_types", || Ok(profiles()?));
    suite.add("chart::has_the_version_of_the_crate", || {
        let metadata = read(&chart().join("Chart.yaml"))?;
        let shown = run(&["version", "-o", "json"], b"", root())?.stdout;
        let shown: Value = serde_json::from_str(&shown).map_err(|e| e.to_string())?;
        let oldest = shown["minimumKubernetes"].as_str().unwrap_or("no version");
        assert!(metadata.contains(&format!("kubeVersion: \">={oldest}.0-0\"")), "{shown}");
        for key in ["version", "appVersion"] {
            let line = format!("\n{key}: {}\n", env!("CARGO_PKG_VERSION"));
            if !metadata.contains(&line) {
                return Err(format!("Chart.yaml has no line {line:?}").into());
            }
        }
        Ok(())
    });
}

/// The webhook that the component `namespace-isolation` adds.
fn networks_webhook() -> Result<String, String> {
    let component = read(&root().join("deploy/components/namespace-isolation/kustomization.yaml"))?;
    // As text, so that the lines of the expression stay: from `value:` to the end, without its indentation.
    let (_, value) = component.split_once("        value:\n").ok_or("the component adds no webhook")?;
    let lines = value.lines().map(|line| line.strip_prefix("          ").unwrap_or(line));
    Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
}

/// The schema of a profile in `values.schema.json` is that of docs/schema.
fn profiles() -> Result<(), String> {
    let file = chart().join("values.schema.json");
    let json =
        |path| read(path).and_then(|text| serde_json::from_str::<Value>(&text).map_err(|e| e.to_string()));
    let mut schema = json(&file)?;
    let types = json(&root().join("docs/schema/fabricprofile-v1alpha1.json"))?;
    schema["$defs"] = types["$defs"].clone();
    let text = serde_json::to_string_pretty(&schema).map_err(|e| e.to_string())? + "\n";
    golden(&file, Some(&text))?;
    let crd = read(&root().join("deploy/crds/fabricprofiles.yaml"))?;
    let count = documents(crd.as_bytes()).len();
    // The template reads the file as one object.
    if count == 1 { Ok(()) } else { Err(format!("the CRD's file has {count} documents")) }
}
