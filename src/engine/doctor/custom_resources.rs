//! CRDs: ours, and that of Multus.

use super::check_outcome::{DoctorCheckOutcome, joined};
use super::facts_that_were_read::{Facts, list_at_pointer, text_at_pointer};
use super::what_is_read::{CRDS, NETWORK_CRD, PROFILE_CRD};
use serde_json::Value;

const APPLY: &str = "Run kubectl apply --server-side -f deploy/crds/fabricprofiles.yaml, or helm upgrade.";

/// The version of a CRD by name, if the API server serves it.
fn served_version_of_crd<'a>(crd: &'a Value, name: &str) -> Option<&'a Value> {
    let version =
        list_at_pointer(crd, "/spec/versions").iter().find(|v| text_at_pointer(v, "/name") == name)?;
    (version.pointer("/served") == Some(&Value::Bool(true))).then_some(version)
}

/// Paths of the properties of `wanted` that `found` lacks; of a lacking one not those below it.
fn collect_missing_properties(wanted: &Value, found: &Value, at: &str, lacks: &mut Vec<String>) {
    if let Some(properties) = wanted.pointer("/properties").and_then(Value::as_object) {
        for (key, property) in properties {
            let path = format!("{at}.{key}");
            match found.pointer("/properties").and_then(|all| all.get(key)) {
                Some(known) => collect_missing_properties(property, known, &path, lacks),
                None => lacks.push(path),
            }
        }
    }
    if let (Some(wanted), Some(found)) = (wanted.pointer("/items"), found.pointer("/items")) {
        collect_missing_properties(wanted, found, at, lacks);
    }
}

/// The CRD of this version, as `just docs` writes it. The code that makes it from the type has ten times its bytes, and
/// only the tests need it.
const DEFINITION: &str = include_str!("definition.json");

fn fields_that_installed_crd_lacks(crd: &Value) -> Result<Vec<String>, DoctorCheckOutcome> {
    let ours: Value =
        serde_json::from_str(DEFINITION).map_err(|error| DoctorCheckOutcome::skipped(error.to_string()))?;
    let schema = "/schema/openAPIV3Schema";
    let ours =
        served_version_of_crd(&ours, "v1alpha1").and_then(|v| v.pointer(schema)).cloned().unwrap_or_default();
    let mut lacks = Vec::new();
    if let Some(found) = served_version_of_crd(crd, "v1alpha1").and_then(|v| v.pointer(schema)) {
        collect_missing_properties(&ours, found, "", &mut lacks);
    }
    Ok(lacks)
}

fn outcome_of_outdated_crd(lacks: &[String]) -> DoctorCheckOutcome {
    DoctorCheckOutcome::warning(
        format!("the CRD does not know {}: the API server drops these fields silently", joined(lacks)),
        APPLY,
    )
}

/// After an installation.
pub(super) fn check_installed_profile_crd(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let Some(crd) = facts.object_by_name_or_skip(&CRDS, PROFILE_CRD)? else {
        return Ok(DoctorCheckOutcome::error(
            format!("the CRD {PROFILE_CRD} does not exist: FabricProfiles cannot be created"),
            APPLY,
        ));
    };
    if served_version_of_crd(crd, "v1alpha1").is_none() {
        return Ok(DoctorCheckOutcome::error(
            format!(
                "the CRD {PROFILE_CRD} does not serve version v1alpha1: the server reads no FabricProfile"
            ),
            APPLY,
        ));
    }
    let established =
        |c: &Value| text_at_pointer(c, "/type") == "Established" && text_at_pointer(c, "/status") == "True";
    if !list_at_pointer(crd, "/status/conditions").iter().any(established) {
        let hint = format!("Run kubectl describe crd {PROFILE_CRD}; its conditions name the conflict.");
        return Ok(DoctorCheckOutcome::error(format!("the CRD {PROFILE_CRD} is not established"), hint));
    }
    let lacks = fields_that_installed_crd_lacks(crd)?;
    Ok(if lacks.is_empty() { DoctorCheckOutcome::success() } else { outcome_of_outdated_crd(&lacks) })
}

/// Before an installation: a CRD that an earlier one left, since Helm keeps it.
pub(super) fn check_leftover_profile_crd(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    match facts.object_by_name_or_skip(&CRDS, PROFILE_CRD)? {
        None => Ok(DoctorCheckOutcome::success_with("none")),
        Some(crd) => {
            let lacks = fields_that_installed_crd_lacks(crd)?;
            Ok(if lacks.is_empty() {
                DoctorCheckOutcome::success_with("the CRD exists and is current")
            } else {
                outcome_of_outdated_crd(&lacks)
            })
        }
    }
}

/// The CRD of NetworkAttachmentDefinitions.
pub(super) fn check_network_crd(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    if facts.object_by_name_or_skip(&CRDS, NETWORK_CRD)?.is_some() {
        return Ok(DoctorCheckOutcome::success());
    }
    let hint = "Install Multus (https://github.com/k8snetworkplumbingwg/multus-cni), which brings the CRD.";
    let message = format!("the CRD {NETWORK_CRD} does not exist");
    let using = facts.snapshot.profiles().find(|profile| !profile.rails.is_empty());
    Ok(match using {
        Some(profile) => DoctorCheckOutcome::error(
            format!("{message}: the webhook does not inject profile {:?}, which has networks", profile.name),
            hint,
        ),
        None => {
            DoctorCheckOutcome::warning(format!("{message}: profiles with networks cannot be used"), hint)
        }
    })
}
