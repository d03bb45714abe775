//! Rights, by the API server's own access reviews.

use super::check_outcome::{DoctorCheckOutcome, joined};
use super::facts_that_were_read::{Facts, Right, list_at_pointer, text_at_pointer};
use super::names_of_our_objects::NAME;
use super::what_is_read::DEPLOYMENTS;
use serde_json::Value;

/// Kinds without which nothing about the installation is known.
const ESSENTIAL: [&str; 3] =
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations", "namespaces"];

fn missing_rights(rights: &Result<Vec<Right>, String>) -> Result<Vec<&Right>, DoctorCheckOutcome> {
    match rights {
        Ok(rights) => Ok(rights.iter().filter(|right| !right.allowed).collect()),
        Err(why) => Err(DoctorCheckOutcome::skipped(format!("the access reviews failed: {why}"))),
    }
}

fn shown(rights: &[&Right]) -> Vec<String> {
    rights.iter().map(ToString::to_string).collect()
}

pub(super) fn check_own_rights(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let missing = missing_rights(&facts.own_rights)?;
    let message = format!("this account may not: {}", joined(&shown(&missing)));
    let hint = "Run doctor with an account that may read these objects, or bind the roles of docs/doctor.md to \
                this account. doctor skips checks without their rights.";
    Ok(match missing.as_slice() {
        [] => DoctorCheckOutcome::success(),
        some if some.iter().any(|right| ESSENTIAL.contains(&right.resource.as_str())) => {
            DoctorCheckOutcome::error(format!("{message}; so doctor cannot check the installation"), hint)
        }
        _ => DoctorCheckOutcome::warning(message, hint),
    })
}

pub(super) fn check_rights_to_install(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let missing = missing_rights(&facts.install_rights)?;
    let problems = shown(&missing);
    Ok(match problems.as_slice() {
        [] => DoctorCheckOutcome::success(),
        some => DoctorCheckOutcome::error(
            format!("this account may not: {}; the installation stops at this object", joined(some)),
            "Install with an account that has these rights, such as a member of the group that is bound to cluster-admin.",
        ),
    })
}

/// What applies the roles again, by what the Deployment shows of its installation.
fn command_that_applies_roles_again(deployment: Option<&Value>) -> String {
    let Some(deployment) = deployment else { return "Apply the roles of deploy/base".to_owned() };
    let labels = deployment.pointer("/metadata/labels");
    if labels.and_then(|labels| labels.get("app.kubernetes.io/managed-by")?.as_str()) == Some("Helm") {
        let release = text_at_pointer(deployment, "/metadata/annotations/meta.helm.sh~1release-name");
        let release = if release.is_empty() { "RELEASE" } else { release };
        return format!("Run helm upgrade {release} with the chart of the server's version");
    }
    let containers = list_at_pointer(deployment, "/spec/template/spec/containers");
    let variables = containers
        .iter()
        .filter(|c| text_at_pointer(c, "/name") == NAME)
        .flat_map(|c| list_at_pointer(c, "/env"));
    let is = |(name, value): (&str, &str)| {
        variables
            .clone()
            .any(|v| text_at_pointer(v, "/name") == name && text_at_pointer(v, "/value").starts_with(value))
    };
    let with: Vec<&str> =
        COMPONENTS.iter().filter(|(_, variable)| is(*variable)).map(|(component, _)| *component).collect();
    match with.as_slice() {
        [] => "Run kubectl apply -k deploy/base".to_owned(),
        [one] => format!(
            "Run kubectl apply -k deploy/overlays/{one}, or apply your kustomization with component {one}"
        ),
        several => {
            format!("Apply your kustomization of deploy/base with the components {}", several.join(", "))
        }
    }
}

/// Components with an overlay, and the variable by which a Deployment shows each.
const COMPONENTS: [(&str, (&str, &str)); 5] = [
    ("cert-manager", ("FABRIC_ADMISSION_TLS_MODE", "cert-manager")),
    ("own-certificate", ("FABRIC_ADMISSION_TLS_MODE", "files")),
    ("enforce-network-objects", ("FABRIC_ADMISSION_NETWORK_OBJECTS", "enforce")),
    ("namespace-isolation", ("FABRIC_ADMISSION_NAMESPACE_ISOLATION", "true")),
    ("ipv6", ("FABRIC_ADMISSION_BIND", "[")),
];

pub(super) fn check_server_rights(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    // Which rights the server needs depends on its variables.
    facts.skip_if_unread(&DEPLOYMENTS)?;
    let missing = missing_rights(&facts.server_rights)?;
    let problems = shown(&missing);
    Ok(match problems.as_slice() {
        [] => DoctorCheckOutcome::success(),
        some => DoctorCheckOutcome::error(
            format!(
                "the service account of the server may not: {}; the server has no facts of these kinds, or cannot manage \
                 its certificate",
                joined(some)
            ),
            format!(
                "{}. Check that the bindings name the service account of Deployment {}/{NAME}.",
                command_that_applies_roles_again(facts.object_by_name_or_skip(&DEPLOYMENTS, NAME)?),
                facts.namespace
            ),
        ),
    })
}
