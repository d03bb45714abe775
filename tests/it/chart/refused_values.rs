//! Values that contradict each other are refused when the chart is rendered, each with what to do.

use crate::support::helm::{Helm, chart};
use crate::support::suite::{Need, Outcome, Suite};
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    if suite.need(Need::Helm, "chart::refused_values").is_none() {
        return;
    }
    suite.add("chart::lints", || {
        for helm in Helm::all()? {
            let chart = chart().to_string_lossy().into_owned();
            let done = helm.run(&["lint", "--strict", "--kube-version", "1.33", &chart])?;
            assert!(done.code == 0, "helm {}: {}{}", helm.major, done.stdout, done.stderr);
        }
        Ok(())
    });
    for (name, values, expected) in contradictions() {
        suite.add(format!("chart::refused_values::{name}"), move || refused(&values, expected));
    }
    for (name, values) in sensible() {
        suite.add(format!("chart::rendered::{name}"), move || {
            for helm in Helm::all()? {
                let api = ["--api-versions", "monitoring.coreos.com/v1"];
                helm.render("fabric-admission", &values, &api)?;
            }
            Ok(())
        });
    }
    suite.add("chart::refused_values::an_old_kubernetes", || {
        for helm in Helm::all()? {
            let chart = chart().to_string_lossy().into_owned();
            let done = helm.run(&["template", "x", &chart, "--kube-version", "1.32.9"])?;
            assert!(done.stderr.contains("chart requires kubeVersion: >=1.33.0-0"), "{done:?}");
        }
        Ok(())
    });
}

fn refused(values: &Value, expected: &str) -> Outcome {
    for helm in Helm::all()? {
        match helm.render("fabric-admission", values, &[]) {
            Err(error) => assert!(error.contains(expected), "helm {}: {error}", helm.major),
            Ok(_) => return Err(format!("helm {} renders {values}", helm.major).into()),
        }
    }
    Ok(())
}

/// Name, values, and what the refusal says.
fn contradictions() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        (
            "own_certificate_without_a_secret",
            json!({"certificates": {"mode": "own"}}),
            "set certificates.secretName: NAME",
        ),
        (
            "a_secret_that_nothing_reads",
            json!({"certificates": {"secretName": "x"}}),
            "has no effect with certificates.mode: self-managed",
        ),
        (
            "an_issuer_without_cert_manager",
            json!({"certificates": {"issuerRef": {"name": "x"}}}),
            "needs certificates.mode: cert-manager",
        ),
        (
            "enforce_without_replicas",
            json!({"replicaCount": 0}),
            "Set replicaCount: 2, or webhooks.enabled: false",
        ),
        (
            "a_budget_that_blocks_drains",
            json!({"replicaCount": 1}),
            "Set replicaCount: 2, or podDisruptionBudget",
        ),
        ("the_port_of_the_kubelet", json!({"hostNetwork": true}), "Set port: 8443"),
        ("one_port_twice", json!({"port": 8080}), "port and adminPort are both 8080"),
        (
            "profiles_twice",
            json!({"profilesConfigMap": "x", "profiles": {"a": {"base": "roce-sriov"}}}),
            "Remove one of them",
        ),
        ("no_service_account", json!({"serviceAccount": {"create": false}}), "Set serviceAccount.name"),
        (
            "monitors_without_their_crds",
            json!({"podMonitor": {"enabled": true}}),
            "Install the operator first",
        ),
        (
            "alerts_without_their_crds",
            json!({"prometheusRule": {"enabled": true}}),
            "Install the operator first",
        ),
        (
            "a_variable_of_another_value",
            json!({"env": {"FABRIC_ADMISSION_WORKLOADS": "deny"}}),
            "the chart sets this variable from another value",
        ),
        // The schema.
        ("a_misspelt_value", json!({"replicas": 3}), "replicas"),
        (
            "a_misspelt_field_of_a_profile",
            json!({"profiles": {"a": {"base": "roce-sriov", "rail": []}}}),
            "rail",
        ),
        ("a_port_of_root", json!({"port": 443}), "port"),
        ("a_tag_for_a_digest", json!({"image": {"digest": "1.0.0"}}), "digest"),
        ("a_mode_that_does_not_exist", json!({"workloads": "enforce"}), "workloads"),
    ]
}

/// The nearest values to those above that work.
fn sensible() -> Vec<(&'static str, Value)> {
    vec![
        ("own_certificate", json!({"certificates": {"mode": "own", "secretName": "x"}})),
        (
            "an_issuer",
            json!({"certificates": {"mode": "cert-manager", "issuerRef": {"name": "x", "kind": "ClusterIssuer"}}}),
        ),
        ("without_replicas_and_webhooks", json!({"replicaCount": 0, "webhooks": {"enabled": false}})),
        ("one_replica", json!({"replicaCount": 1, "podDisruptionBudget": {"enabled": false}})),
        ("host_network", json!({"hostNetwork": true, "port": 8443})),
        (
            "profiles_and_a_monitor",
            json!({"profiles": {"a": {"base": "roce-sriov"}}, "podMonitor": {"enabled": true}}),
        ),
        (
            "alerts_and_a_dashboard",
            json!({"prometheusRule": {"enabled": true, "labels": {"release": "x"}}, "grafanaDashboard": {"enabled": true},
                "serviceMonitor": {"enabled": true}}),
        ),
        (
            "metrics_of_jobs",
            json!({"jobPodMonitor": {"enabled": true, "labels": {"release": "x"}, "namespaces": ["team-a"]}}),
        ),
        ("off_without_quotes", json!({"workloads": false, "networkObjects": false})),
    ]
}
