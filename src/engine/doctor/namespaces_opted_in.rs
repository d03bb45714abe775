//! Namespaces of users: who opted in, and with which labels.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, text_at_pointer};
use super::what_is_read::NAMESPACES;
use crate::facts::{EnforcementMode, MODE_LABEL, PROFILE_ANNOTATION, PodSecurity};
use crate::profile::Memlock;
use crate::resolve::namespaces_that_use;
use crate::rules::{ObjectContext, ObjectEvent, run_rules_on_object};
use crate::text::{count_with_noun, name_meant_by_misspelt};
use serde_json::Value;

pub(super) fn check_any_namespace_opted_in(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_unread(&NAMESPACES)?;
    let all = facts.snapshot.namespaces();
    let of = |mode| all.values().filter(|found| found.mode() == Some(mode)).count();
    let (enforce, audit) = (of(EnforcementMode::Enforce), of(EnforcementMode::Audit));
    Ok(if enforce + audit == 0 {
        DoctorCheckOutcome::warning(
            "no namespace opted in: the API server does not call the webhook for any pod",
            "Run kubectl label namespace NAMESPACE fabric-admission.dev/mode=audit. In this mode the webhook only reports.",
        )
    } else {
        DoctorCheckOutcome::success_with(format!(
            "{} in mode enforce, {audit} in mode audit",
            count_with_noun(enforce, "namespace")
        ))
    })
}

/// Labels and annotations with a mistyped domain and the name of a key that the webhook reads, each with the key that was
/// meant. FAB817 looks only at keys of the domain `fabric-admission.dev`.
fn mistyped_domains(namespace: &Value) -> Vec<(&str, &'static str)> {
    let keys = ["/metadata/labels", "/metadata/annotations"]
        .into_iter()
        .filter_map(|pointer| namespace.pointer(pointer)?.as_object())
        .flat_map(|found| found.keys());
    let near = |key: &str| {
        let (domain, name) = key.split_once('/')?;
        [MODE_LABEL, PROFILE_ANNOTATION].into_iter().find(|meant| {
            meant.split_once('/').is_some_and(|(ours, known)| {
                name == known && name_meant_by_misspelt(domain, [ours].into_iter()).is_some()
            })
        })
    };
    keys.filter_map(|key| Some((key.as_str(), near(key)?))).collect()
}

/// By the rule on namespaces: mistyped modes, keys and annotations.
pub(super) fn check_namespace_labels_have_effect(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let mut problems = Vec::new();
    let mut fix = None;
    for namespace in facts.objects_or_skip(&NAMESPACES)? {
        for (key, meant) in mistyped_domains(namespace) {
            problems.push(format!(
                "namespace {}: {key} has no effect; did you mean {meant}?",
                text_at_pointer(namespace, "/metadata/name")
            ));
            fix.get_or_insert(format!("Write {meant}."));
        }
        let json = namespace.to_string();
        if !json.contains("fabric-admission") {
            continue;
        }
        let context = ObjectContext::new(("", "Namespace"), &json, ObjectEvent::Given, &facts.snapshot);
        for finding in run_rules_on_object(&context) {
            problems.push(format!(
                "namespace {}: {}",
                text_at_pointer(namespace, "/metadata/name"),
                finding.message
            ));
            fix.get_or_insert(finding.fix);
        }
    }
    Ok(DoctorCheckOutcome::warning_if_any(&problems, fix.unwrap_or_default()))
}

pub(super) fn check_pod_security_admits_ipc_lock(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_unread(&NAMESPACES)?;
    facts.skip_if_profiles_unread()?;
    let snapshot = &facts.snapshot;
    let mut problems = Vec::new();
    for profile in snapshot.profiles() {
        if !matches!(profile.memlock, Some(Memlock::IpcLock | Memlock::Nri)) {
            continue;
        }
        for namespace in namespaces_that_use(profile, snapshot) {
            let labelled = snapshot.namespace(namespace).and_then(|found| found.pod_security());
            let level = labelled.unwrap_or(snapshot.settings().pod_security_default);
            if level != PodSecurity::Privileged {
                problems.push(format!(
                    "namespace {namespace} enforces Pod Security level {level}: the webhook does not add IPC_LOCK of \
                     profile {:?}, and RDMA fails if the runtime limits pinned memory",
                    profile.name
                ));
            }
        }
    }
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems,
        "Raise the memlock limit of the container runtime and set spec.memlock: runtime in the profile, or label the \
         namespace pod-security.kubernetes.io/enforce=privileged.",
    ))
}
