//! The CRD of FabricProfile on a real API server: taken, explained, and of one mind with `Profile::resolve`.

use super::support::plane::Plane;
use super::trial;
use crate::profile::profile_table::{By, TABLE};
use crate::support::suite::{Outcome, Suite};
use crate::support::{names, read, root};
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "crd_is_established_and_applies_twice_alike", established);
    trial(suite, assets, "crd_takes_the_bases_and_the_examples", accepts);
    trial(suite, assets, "crd_agrees_with_the_files", agrees);
    trial(suite, assets, "crd_is_explained_and_listed", explained);
}

/// Puts the CRD in place, if it is not there yet.
pub(super) fn install(plane: &Plane) -> Result<(), String> {
    let file = root().join("deploy/crds/fabricprofiles.yaml").to_string_lossy().into_owned();
    let done = plane.kubectl(&["apply", "--server-side", "--validate=strict", "-f", &file], "")?;
    if !done.ok || done.stderr.to_lowercase().contains("warning") {
        return Err(format!("the CRD: {}", done.stderr));
    }
    plane.until("FabricProfiles are served", Duration::from_secs(30), || {
        let listed = plane.kubectl(&["get", "fabricprofiles"], "")?;
        Ok(listed.ok)
    })
}

fn established(plane: &Plane) -> Outcome {
    install(plane)?;
    let name = ["crd", "fabricprofiles.fabric-admission.dev"];
    let first = plane.get(&name)?;
    install(plane)?;
    let second = plane.get(&name)?;
    assert_eq!(first["metadata"]["resourceVersion"], second["metadata"]["resourceVersion"]);
    let conditions = second["status"]["conditions"].as_array().ok_or("no conditions")?;
    for (kind, status) in [("Established", "True"), ("NamesAccepted", "True")] {
        assert!(conditions.iter().any(|c| c["type"] == kind && c["status"] == status), "{conditions:?}");
    }
    assert!(!conditions.iter().any(|c| c["type"] == "NonStructuralSchema"), "{conditions:?}");
    Ok(())
}

fn accepts(plane: &Plane) -> Outcome {
    install(plane)?;
    for directory in ["policies", "examples/profiles"] {
        for file in names(&root().join(directory)) {
            let text = read(&root().join(directory).join(&file))?;
            let renamed = text.replacen("  name: ", "  name: copy-of-", 1);
            let args = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
            let done = plane.kubectl(&args, &renamed)?;
            assert!(done.ok && done.stderr.is_empty(), "{file}: {}", done.stderr);
        }
    }
    Ok(())
}

fn agrees(plane: &Plane) -> Outcome {
    install(plane)?;
    let mut wrong = Vec::new();
    for row in TABLE {
        let object = row.object()?.to_string();
        let args = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
        let done = plane.kubectl(&args, &object)?;
        let name = row.name;
        match row.by {
            By::Both | By::Crd(_) if done.ok => wrong.push(format!("{name}: accepted")),
            By::Both | By::Crd(_) if !done.stderr.contains(row.field) => {
                wrong.push(format!("{name}: does not name {}: {}", row.field, done.stderr));
            }
            By::Resolve(_) | By::Nobody if !done.ok => wrong.push(format!("{name}: {}", done.stderr)),
            _ => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn explained(plane: &Plane) -> Outcome {
    install(plane)?;
    // The API server publishes the schema of a new kind a moment after it serves the kind.
    plane.until("the schema of FabricProfiles is published", Duration::from_secs(30), || {
        Ok(plane.kubectl(&["explain", "fabricprofile"], "")?.ok)
    })?;
    for (field, words) in [
        ("fabricprofile", "Settings of one fabric for pods"),
        ("fabricprofile.spec.rails", "NIC path of a pod"),
        ("fabricprofile.spec.transport", "`infiniband`"),
        ("fabricprofile.spec.env.policy", "`forbid`"),
        ("fprof.status.problems", "An empty list means that the profile has"),
    ] {
        let done = plane.kubectl(&["explain", field], "")?;
        assert!(done.ok, "{field}: {}", done.stderr);
        let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{field}: {}", done.stdout);
        assert!(!text.contains("<no description>"), "{field}: {}", done.stdout);
    }
    let profile = "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {name: listed}\n\
                   spec: {base: roce-sriov, transport: roce, attachment: sriov, priority: 7}\n";
    plane.apply(profile)?;
    let lines = |args: &[&str]| -> Result<Vec<Vec<String>>, String> {
        let words = |l: &str| l.split_whitespace().map(str::to_owned).collect();
        Ok(plane.kubectl(args, "")?.stdout.lines().map(words).collect())
    };
    let table = lines(&["get", "fabricprofiles"])?;
    assert_eq!(table[0], ["NAME", "BASE", "TRANSPORT", "PRIORITY", "NODES", "AGE"]);
    // A server writes the values that count, own and inherited, into the status: `e2e::status_is_written_by_one_replica_with_our_rights` reads them.
    assert_eq!(table[1][..2], ["listed", "roce-sriov"], "{table:?}");
    let wide = lines(&["get", "fprof", "-o", "wide"])?;
    assert!(wide[0].iter().any(|c| c == "ATTACHMENT"), "{wide:?}");
    let done = plane.kubectl(&["delete", "fprof", "listed"], "")?;
    if done.ok { Ok(()) } else { Err(done.stderr.into()) }
}
