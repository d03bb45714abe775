//! Checks of `env`, `pinTransport` and `bootstrap`, from which the variables of the profile follow: names that it may set,
//! and values that can work.

use super::nccl_version;
use crate::nccl::numbers_as_nccl_reads::is_word_for_number;
use crate::profile::checked_parts::EnvEntry;
use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::{EnvPolicy, Spec};

/// The variable that names NCCL's bootstrap interface.
pub(in crate::profile) const BOOTSTRAP_VARIABLE: &str = "NCCL_SOCKET_IFNAME";

/// Whether a profile may set a variable: not if it would change the programs of a container rather than its fabric.
fn may_profile_set(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with("LD_")
        && !matches!(name, "PATH" | "HOME" | "PYTHONPATH" | "BASH_ENV" | "ENV" | "IFS" | "SHELL")
}

/// The variable that names NCCL's network transport.
const TRANSPORT_VARIABLE: &str = "NCCL_NET";

/// `NCCL_NET=IB`: NCCL takes its own InfiniBand/RoCE transport or ends (NVIDIA/nccl src/plugin/net.cc, `ncclNetInit`).
fn variable_that_pins_transport() -> EnvEntry {
    EnvEntry {
        name: TRANSPORT_VARIABLE.into(),
        value: "IB".into(),
        policy: EnvPolicy::Default,
        from: None,
        before: None,
        reason: "If RDMA does not work, NCCL stops at start-up with an error, instead of silently running over TCP."
            .into(),
    }
}

/// Checks the variables of a profile.
pub(in crate::profile) fn checked_and_implied_variables(
    spec: &Spec,
    fail: &Fail<'_>,
) -> Result<Vec<EnvEntry>, ProfileError> {
    let mut entries: Vec<EnvEntry> = Vec::new();
    for (i, entry) in spec.env.iter().flatten().enumerate() {
        let at = |field: &str| format!("/spec/env/{i}/{field}");
        if !may_profile_set(&entry.name) {
            return Err(fail(&at("name"), format!("a profile may not set the variable {:?}", entry.name)));
        }
        if entries.iter().any(|e| *e.name == *entry.name) {
            return Err(fail(&at("name"), format!("duplicate variable {}", entry.name)));
        }
        let value = match (&entry.value, entry.policy) {
            (None, EnvPolicy::Forbid) => String::new(),
            (Some(_), EnvPolicy::Forbid) => {
                return Err(fail(
                    &at("value"),
                    "policy forbid does not allow a value; remove the value".into(),
                ));
            }
            (None, _) => return Err(fail(&at("value"), format!("variable {} needs a value", entry.name))),
            // `$(NAME)` would be expanded by the kubelet from the container's other variables.
            (Some(value), _)
                if value.contains("$(") || value.chars().any(char::is_control) || value.len() > 4096 =>
            {
                let message = "expected at most 4096 printable characters without $(".into();
                return Err(fail(&at("value"), message));
            }
            (Some(value), _) if is_word_for_number(&entry.name, value) => {
                let message = format!("{}={value:?}: NCCL reads a word as 0; write a number", entry.name);
                return Err(fail(&at("value"), message));
            }
            (Some(value), _) => value.clone(),
        };
        let reason = entry.reason.clone().unwrap_or_else(|| match entry.policy {
            EnvPolicy::Forbid => "pods must not set this variable".to_owned(),
            EnvPolicy::Default | EnvPolicy::Require => "set by the profile".to_owned(),
        });
        let from = nccl_version::checked_version(entry.nccl_from.as_ref(), &at("ncclFrom"), fail)?;
        let before = nccl_version::checked_version(entry.nccl_before.as_ref(), &at("ncclBefore"), fail)?;
        if from.zip(before).is_some_and(|(from, before)| from >= before) {
            return Err(fail(&at("ncclBefore"), "expected a version after ncclFrom".into()));
        }
        entries.push(EnvEntry {
            name: entry.name.as_str().into(),
            value: value.into(),
            policy: entry.policy,
            from,
            before,
            reason: reason.into(),
        });
    }
    if spec.pin_transport == Some(true) && entries.iter().all(|e| &*e.name != TRANSPORT_VARIABLE) {
        if spec.transport.is_some_and(|transport| !transport.is_verbs()) {
            let message = "pinTransport needs transport roce or infiniband, which NCCL_NET=IB selects";
            return Err(fail("/spec/pinTransport", message.into()));
        }
        // First, since it decides what the others mean.
        entries.insert(0, variable_that_pins_transport());
    }
    if let Some(bootstrap) = &spec.bootstrap
        && entries.iter().all(|e| &*e.name != BOOTSTRAP_VARIABLE)
    {
        entries.push(EnvEntry {
            name: BOOTSTRAP_VARIABLE.into(),
            value: bootstrap.as_str().into(),
            policy: EnvPolicy::Default,
            from: None,
            before: None,
            reason: format!("the profile's bootstrap interface is {bootstrap}").into(),
        });
    }
    Ok(entries)
}
