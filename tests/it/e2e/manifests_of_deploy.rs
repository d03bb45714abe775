//! The manifests of `deploy/`: rendered, taken by a real API server, and as the design names them.

use super::support::plane::Plane;
use super::support::site::{rendered, with_url};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::json;
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "deploy_is_taken_by_the_api_server", taken);
    trial(suite, assets, "webhook_configurations_are_as_designed", as_designed);
    trial(suite, assets, "service_becomes_url_and_nothing_else", url);
}

fn taken(plane: &Plane) -> Outcome {
    plane.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric-admission, labels: {pod-security.kubernetes.io/enforce: restricted}}\n")?;
    for overlay in ["base", "overlays/enforce-network-objects", "overlays/namespace-isolation"] {
        for object in rendered(plane, overlay)? {
            let done = plane.kubectl(
                &["apply", "--dry-run=server", "--validate=strict", "-f", "-"],
                &object.to_string(),
            )?;
            assert!(
                done.ok && !done.stderr.contains("would violate PodSecurity"),
                "{overlay}: {}",
                done.stderr
            );
        }
    }
    Ok(())
}

fn as_designed(plane: &Plane) -> Outcome {
    let objects = rendered(plane, "base")?;
    let webhooks: Vec<_> = objects
        .iter()
        .filter(|o| o["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")))
        .flat_map(|o| {
            o["webhooks"].as_array().into_iter().flatten().map(move |w| (&o["metadata"]["name"], w))
        })
        .collect();
    let expected = [
        ("pod-fabric-admission", "mutate", "/mutate", "Ignore", Some("enforce")),
        ("fabric-admission", "enforce", "/validate", "Fail", Some("enforce")),
        ("fabric-admission", "audit", "/audit", "Ignore", Some("audit")),
        ("fabric-admission", "workloads", "/validate-workload", "Ignore", Some("enforce")),
        ("fabric-admission", "objects", "/validate-object", "Ignore", None),
    ];
    assert_eq!(webhooks.len(), expected.len());
    for ((configuration, webhook), (name, entry, path, policy, mode)) in webhooks.into_iter().zip(expected) {
        assert_eq!(
            (configuration, &webhook["name"]),
            (&json!(name), &json!(format!("{entry}.fabric-admission.dev")))
        );
        assert_eq!(webhook["clientConfig"]["service"]["path"], path);
        assert_eq!((&webhook["failurePolicy"], &webhook["sideEffects"]), (&json!(policy), &json!("None")));
        assert_eq!(
            (&webhook["timeoutSeconds"], &webhook["admissionReviewVersions"]),
            (&json!(5), &json!(["v1"]))
        );
        let selector = webhook["namespaceSelector"]["matchExpressions"].to_string();
        assert!(
            selector.contains("kube-system") && selector.contains("\"fabric-admission\""),
            "{entry}: {selector}"
        );
        assert!(mode.is_none_or(|m| selector.contains(&format!("[\"{m}\"]"))), "{entry}: {selector}");
        let reinvocation = (entry == "mutate").then_some(json!("IfNeeded"));
        assert_eq!(webhook.get("reinvocationPolicy"), reinvocation.as_ref(), "{entry}");
    }
    Ok(())
}

fn url(plane: &Plane) -> Outcome {
    for object in rendered(plane, "base")? {
        if !object["kind"].as_str().is_some_and(|k| k.ends_with("WebhookConfiguration")) {
            continue;
        }
        let mut changed = with_url(object.clone(), &|name| format!("{name}:443"), "CA")?;
        let mut original = object;
        for webhooks in [&mut original, &mut changed] {
            for webhook in webhooks["webhooks"].as_array_mut().ok_or("no webhooks")? {
                webhook["clientConfig"] = json!(null);
            }
        }
        assert_eq!(original, changed);
    }
    Ok(())
}
