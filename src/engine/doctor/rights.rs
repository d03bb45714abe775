//! Rights, by the API server's own access reviews.

use super::facts::{Facts, Right};
use super::names::NAME;
use super::outcome::{Outcome, joined};
use super::sources::DEPLOYMENTS;

/// Kinds without which nothing about the installation is known.
const ESSENTIAL: [&str; 3] =
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations", "namespaces"];

fn missing(rights: &Result<Vec<Right>, String>) -> Result<Vec<&Right>, Outcome> {
    match rights {
        Ok(rights) => Ok(rights.iter().filter(|right| !right.allowed).collect()),
        Err(why) => Err(Outcome::skipped(format!("the access reviews failed: {why}"))),
    }
}

fn shown(rights: &[&Right]) -> Vec<String> {
    rights.iter().map(ToString::to_string).collect()
}

pub(super) fn own(facts: &Facts) -> Result<Outcome, Outcome> {
    let missing = missing(&facts.own_rights)?;
    let message = format!("this account may not: {}", joined(&shown(&missing)));
    let hint = "Run doctor with an account that may read these objects, or bind the roles of docs/doctor.md to \
                this account. Checks without their rights are skipped.";
    Ok(match missing.as_slice() {
        [] => Outcome::success(),
        some if some.iter().any(|right| ESSENTIAL.contains(&right.resource.as_str())) => {
            Outcome::error(format!("{message}; so nothing is known about the installation"), hint)
        }
        _ => Outcome::warning(message, hint),
    })
}

pub(super) fn install(facts: &Facts) -> Result<Outcome, Outcome> {
    let missing = missing(&facts.install_rights)?;
    let problems = shown(&missing);
    Ok(match problems.as_slice() {
        [] => Outcome::success(),
        some => Outcome::error(
            format!("this account may not: {}; the installation stops there", joined(some)),
            "Install with an account that has these rights, such as a member of the group that is bound to cluster-admin.",
        ),
    })
}

pub(super) fn server(facts: &Facts) -> Result<Outcome, Outcome> {
    // Which rights the server needs depends on its variables.
    facts.known(&DEPLOYMENTS)?;
    let missing = missing(&facts.server_rights)?;
    let problems = shown(&missing);
    Ok(match problems.as_slice() {
        [] => Outcome::success(),
        some => Outcome::error(
            format!(
                "the service account of the server may not: {}; the server has no facts of these kinds, or cannot keep \
                 its certificate",
                joined(some)
            ),
            format!(
                "Apply the roles of deploy/base/rbac.yaml, or run helm upgrade. Check that the bindings name the service \
                 account of Deployment {}/{NAME}.",
                facts.namespace
            ),
        ),
    })
}
