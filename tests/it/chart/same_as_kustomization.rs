//! The chart installs what the kustomization installs, object by object.

use crate::support::helm::Helm;
use crate::support::suite::{Need, Suite};
use crate::support::{root, run};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

pub(crate) fn add(suite: &mut Suite) {
    if suite.need(Need::Helm, "chart::equals").is_none() {
        return;
    }
    suite.add("chart::no_ca_bundle_and_no_namespace_of_another", no_ca_bundle);
    suite.add("chart::profiles_can_be_read", profiles);
    let Some(assets) = suite.need(Need::E2e, "chart::equals") else { return };
    let cases = [
        ("base", "deploy/base", json!({})),
        ("cert_manager", "deploy/overlays/cert-manager", json!({"certificates": {"mode": "cert-manager"}})),
        (
            "own_certificate",
            "deploy/overlays/own-certificate",
            json!({"certificates": {"mode": "own", "secretName": "fabric-admission-tls"}}),
        ),
        (
            "enforce_network_objects",
            "deploy/overlays/enforce-network-objects",
            json!({"networkObjects": "enforce"}),
        ),
        ("namespace_isolation", "deploy/overlays/namespace-isolation", json!({"namespaceIsolation": true})),
        ("ipv6", "deploy/overlays/ipv6", json!({"bindAddress": "::"})),
        (
            "monitoring",
            "deploy/overlays/monitoring",
            json!({"prometheusRule": {"enabled": true}, "grafanaDashboard": {"enabled": true}}),
        ),
        ("job_podmonitor", "tests/chart/job-podmonitor", json!({"jobPodMonitor": {"enabled": true}})),
        ("auditor", "tests/chart/auditor", json!({"auditor": {"create": true}})),
        (
            "cluster_facts",
            "tests/chart/cluster-facts",
            json!({"clusterFacts": {"configMap": "fabric-admission-cluster"}}),
        ),
    ];
    for (name, kustomization, values) in cases {
        let assets = assets.clone();
        suite.add(format!("chart::equals::{name}"), move || Ok(equal(&assets, kustomization, &values)?));
    }
}

fn equal(assets: &Path, kustomization: &str, values: &Value) -> Result<(), String> {
    let done = Command::new(assets.join("kubectl"))
        .arg("kustomize")
        .arg(root().join(kustomization))
        .output()
        .map_err(|e| e.to_string())?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    let documents = crate::support::round_trip::documents(&done.stdout);
    let mut expected = comparable(documents.into_iter().map(|(_, object)| object).collect());
    // Helm creates the namespace by a flag.
    expected.remove("Namespace fabric-admission");
    // A cluster with the Prometheus Operator.
    let api = ["--api-versions", "monitoring.coreos.com/v1"];
    for helm in Helm::all()? {
        let found = comparable(installed(helm.render("fabric-admission", values, &api)?));
        let keys = |objects: &BTreeMap<String, Value>| objects.keys().cloned().collect::<Vec<_>>();
        crate::support::round_trip::same("objects", keys(&expected), keys(&found))?;
        for (key, object) in &expected {
            let text = |object| serde_json::to_string_pretty(object).unwrap_or_default();
            if *object != found[key] {
                let (expected, actual) = (text(object), text(&found[key]));
                let line = expected.lines().zip(actual.lines()).find(|(a, b)| a != b);
                return Err(format!("helm {}: {key}: {line:?}\n{expected}\n{actual}", helm.major));
            }
        }
    }
    Ok(())
}

/// Without the objects of `helm test`.
fn installed(mut objects: Vec<Value>) -> Vec<Value> {
    objects.retain(|object| object["metadata"]["annotations"]["helm.sh/hook"].is_null());
    objects
}

/// Objects by kind and name, without what is Helm's or kustomize's own.
fn comparable(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for mut object in objects {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        let mut name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if kind == "ConfigMap" && name.starts_with("fabric-admission-profiles") {
            // A hash by each, over different files: none of them has a profile.
            "fabric-admission-profiles".clone_into(&mut name);
            object["metadata"]["name"] = json!(name);
            object["data"] = json!(null);
        }
        if ["Certificate", "Issuer"].contains(&kind.as_str()) || name == "fabric-admission-auditor" {
            // kustomize does not label what a component adds.
            object["metadata"].as_object_mut().map(|metadata| metadata.remove("labels"));
        }
        clean(&mut object);
        all.insert(format!("{kind} {name}"), object);
    }
    all
}

fn clean(value: &mut Value) {
    match value {
        Value::Object(members) => {
            tidy(members);
            members.values_mut().for_each(clean);
            members.sort_keys();
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::String(text) if text.starts_with("fabric-admission-profiles-") => {
            "fabric-admission-profiles".clone_into(text);
        }
        _ => {}
    }
}

/// Labels and annotations that Helm adds, and a default of the API server that the chart writes down.
fn tidy(members: &mut Map<String, Value>) {
    for list in ["labels", "annotations"] {
        let Some(entries) = members.get_mut(list).and_then(Value::as_object_mut) else { continue };
        let own = ["app.kubernetes.io/name", "app.kubernetes.io/component", "cert-manager.io/inject-ca-from"];
        entries.retain(|key, _| !key.contains('/') || own.contains(&key.as_str()));
        if entries.is_empty() {
            members.remove(list);
        }
    }
    if members.get("imagePullPolicy") == Some(&json!("IfNotPresent")) {
        members.remove("imagePullPolicy");
    }
    // kustomize puts what a component adds before what was there.
    for list in ["env", "volumes", "volumeMounts"] {
        if let Some(list) = members.get_mut(list).and_then(Value::as_array_mut) {
            list.sort_by_key(|entry| entry["name"].to_string());
        }
    }
}

/// Another namespace: every reference follows it. No caBundle, in any mode.
fn no_ca_bundle() -> crate::support::suite::Outcome {
    for helm in Helm::all()? {
        for mode in ["self-managed", "cert-manager", "own"] {
            let mut values = json!({"certificates": {"mode": mode}, "namespaceIsolation": true});
            if mode == "own" {
                values["certificates"]["secretName"] = json!("x");
            }
            let objects = helm.render("fabric", &values, &[])?;
            assert!(objects.len() > 6);
            for object in objects {
                let text = object.to_string();
                assert!(!text.contains("caBundle"), "{text}");
                // Any namespace that the object names.
                assert!(!text.contains(r#""namespace":"fabric-admission""#), "{text}");
                assert!(!text.contains("fabric-admission.svc"), "{text}");
                if object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")) {
                    for webhook in object["webhooks"].as_array().ok_or("no webhooks")? {
                        let excluded = webhook["namespaceSelector"].to_string();
                        assert!(excluded.contains(r#""kube-node-lease","fabric"]"#), "{excluded}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// The server reads the profiles of the values.
fn profiles() -> crate::support::suite::Outcome {
    let spec = json!({"base": "roce-sriov", "rails": [{"network": "fabric/a", "resource": "x.com/a", "count": 8}],
        "env": [{"name": "NCCL_IB_TC", "value": "106"}]});
    for helm in Helm::all()? {
        let objects = helm.render("fabric", &json!({"profiles": {"h100": spec}}), &[])?;
        let map = objects.iter().find(|o| o["kind"] == "ConfigMap").ok_or("no ConfigMap")?;
        let scratch = crate::support::Scratch::new()?;
        for (name, text) in map["data"].as_object().ok_or("no data")? {
            scratch.write(&format!("profiles/{name}"), text.as_str().unwrap_or_default())?;
        }
        let pod = root().join("examples/pytorch-roce.yaml").to_string_lossy().into_owned();
        let args = ["review", "--profiles", "profiles", "--profile", "h100", "-o", "yaml", &pod];
        let done = run(&args, b"", scratch.path())?;
        assert!(done.stdout.contains("fabric/a@rail7") && done.stdout.contains("106"), "{done:?}");
    }
    Ok(())
}
