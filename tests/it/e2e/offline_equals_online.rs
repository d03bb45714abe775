//! Offline and online give the same object: what `review -o yaml` writes, created where nobody changes it, equals
//! what the webhook makes of the original. Defaulting runs on both.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site};
use super::support::stored::comparable;
use super::trial;
use crate::support::suite::{Outcome, Suite};
use crate::support::{names, read, root, run};
use fabric_admission::manifest::{self, DocumentOrError};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "offline_and_online_give_the_same_object", same);
}

/// Pods of the golden cases, each with the site profile as its annotation.
fn pods() -> Result<Vec<(String, Value)>, String> {
    let cases = root().join("tests/cases");
    let mut pods = Vec::new();
    for case in names(&cases) {
        let Ok(text) = read(&cases.join(&case).join("input.yaml")) else { continue };
        for item in manifest::read_documents_of_file("input.yaml", text.as_bytes()) {
            let DocumentOrError::Document(document) = item else { continue };
            let mut pod: Value = serde_json::from_str(document.json.get()).map_err(|e| e.to_string())?;
            if pod["kind"] != "Pod" {
                continue;
            }
            let annotations = pod["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
            pod["metadata"]["annotations"] = Value::Object(annotations);
            pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!("h100");
            pod["metadata"].as_object_mut().map(|m| m.remove("namespace"));
            pods.push((case.clone(), pod));
        }
    }
    Ok(pods)
}

fn same(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let enforce = plane.namespace(&[PROFILE_LABEL])?;
    let plain = plane.namespace(&[])?;
    let mut compared = 0;
    for (case, pod) in pods()? {
        site.server.scratch.write("pod.json", pod.to_string())?;
        // Names without a namespace are those of the namespace the pod goes to.
        let args =
            ["review", "pod.json", "--profiles", "profiles.yaml", "--namespace", &enforce, "-o", "yaml"];
        let offline = run(&args, b"", site.server.scratch.path())?;
        let dry_run = ["create", "--dry-run=server", "-o", "json", "-f", "-", "-n"];
        let expected = plane.kubectl(&[&dry_run[..], &[plain.as_str()]].concat(), &offline.stdout)?;
        let actual = plane.kubectl(&[&dry_run[..], &[enforce.as_str()]].concat(), &pod.to_string())?;
        // What is refused here must be refused there, by us or by the API server.
        assert_eq!(
            actual.ok,
            offline.code == 0 && expected.ok,
            "{case}: {} / {}",
            expected.stderr,
            actual.stderr
        );
        if actual.ok {
            let pod = |text: &str| serde_json::from_str(text).map_err(|e| e.to_string());
            let (expected, actual): (Value, Value) = (pod(&expected.stdout)?, pod(&actual.stdout)?);
            assert_eq!(comparable(&expected), comparable(&actual), "{case}");
            compared += 1;
        }
    }
    assert!(compared >= 20, "only {compared} pods were compared");
    Ok(())
}
