//! Argo CD and Flux apply the files again and again, server-side and as managers of their own. They never own a caBundle,
//! and an unchanged apply changes nothing.

use super::site::{CONFIGURATIONS, QUICK, Site};
use crate::e2e::support::plane::Plane;
use crate::support::suite::Outcome;
use serde_json::Value;

/// The managers of Argo CD and of Flux' kustomize-controller.
const MANAGERS: [&str; 2] = ["argocd-controller", "kustomize-controller"];

pub(super) fn apply(plane: &Plane) -> Outcome {
    for manager in MANAGERS {
        let site = Site::new(plane)?;
        // Only the manager has applied them.
        site.clear()?;
        let files: Vec<String> = site.shipped()?.iter().map(Value::to_string).collect();
        applied(plane, manager, &files)?;
        let server = site.replica(&QUICK)?;
        site.front.set(&[&server]);
        site.ready(&server)?;
        site.front.set(&[&server]);
        site.create()?;

        let before = configurations(plane)?;
        for object in &before {
            for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
                let owns = entry["fieldsV1"].to_string().contains("f:caBundle");
                let fabric_admission =
                    entry["manager"].as_str().is_some_and(|m| m.starts_with("fabric-admission"));
                assert!(owns == fabric_admission, "{manager}: {entry}");
            }
            let webhooks = object["webhooks"].as_array().ok_or("no webhooks")?;
            assert!(
                webhooks.iter().all(|webhook| webhook["clientConfig"]["caBundle"].is_string()),
                "{object}"
            );
        }
        // Without --force-conflicts: the server and the manager want different fields.
        for _ in 0..3 {
            applied(plane, manager, &files)?;
        }
        // The resource version as well, and the order of the webhooks.
        assert_eq!(configurations(plane)?, before, "{manager}");
        site.create()?;
    }
    Ok(())
}

/// A server-side apply without force, which must succeed.
fn applied(plane: &Plane, manager: &str, files: &[String]) -> Result<(), String> {
    for file in files {
        let manager = format!("--field-manager={manager}");
        let done = plane.kubectl(&["apply", "--server-side", &manager, "-f", "-"], file)?;
        if !done.ok {
            return Err(done.stderr);
        }
    }
    Ok(())
}

fn configurations(plane: &Plane) -> Result<Vec<Value>, String> {
    CONFIGURATIONS.iter().map(|(kind, name)| plane.get(&[kind, name, "--show-managed-fields"])).collect()
}
