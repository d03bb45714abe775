//! Mutating webhooks that change pods after ours.

use super::check_outcome::{DoctorCheckOutcome, joined};
use super::facts_that_were_read::{Facts, list_at_pointer, text_at_pointer};
use super::names_of_our_objects::MUTATING;
use super::what_is_read::MUTATING_CONFIGURATIONS;
use serde_json::Value;

/// Parts of the names of injectors that add containers, networks or devices to pods. Configurations are sorted by name
/// (k8s.io/apiserver pkg/admission/configuration/mutating_webhook_manager.go).
const INJECTORS: [&str; 7] =
    ["network-resources-injector", "istio", "linkerd", "consul", "kuma", "spiderpool", "ib-kubernetes"];

fn does_list_match(list: &[Value], wanted: &str) -> bool {
    list.iter().filter_map(Value::as_str).any(|value| value == wanted || value == "*")
}

/// Whether a webhook is called for the creation of pods.
fn takes_pods(webhook: &Value) -> bool {
    list_at_pointer(webhook, "/rules").iter().any(|rule| {
        does_list_match(list_at_pointer(rule, "/apiGroups"), "")
            && does_list_match(list_at_pointer(rule, "/resources"), "pods")
            && does_list_match(list_at_pointer(rule, "/operations"), "CREATE")
    })
}

pub(super) fn check_no_injector_runs_after_us(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let Some(ours) = facts.object_by_name_or_skip(&MUTATING_CONFIGURATIONS, MUTATING)? else {
        return Err(DoctorCheckOutcome::skipped(format!(
            "MutatingWebhookConfiguration {MUTATING} does not exist"
        )));
    };
    let again = list_at_pointer(ours, "/webhooks")
        .iter()
        .all(|w| text_at_pointer(w, "/reinvocationPolicy") == "IfNeeded");
    let mut later: Vec<String> = facts
        .objects_or_skip(&MUTATING_CONFIGURATIONS)?
        .iter()
        .filter(|found| {
            text_at_pointer(found, "/metadata/name") > MUTATING
                && list_at_pointer(found, "/webhooks").iter().any(takes_pods)
        })
        .map(|found| text_at_pointer(found, "/metadata/name").to_owned())
        .collect();
    later.sort_unstable();
    let injectors: Vec<String> =
        later.iter().filter(|name| INJECTORS.iter().any(|known| name.contains(known))).cloned().collect();
    if !later.is_empty() && !again {
        return Ok(DoctorCheckOutcome::warning(
            format!(
                "{} changes pods after {MUTATING}, and the API server does not call our webhook again: \
                 reinvocationPolicy is not IfNeeded",
                joined(&later)
            ),
            format!("Set reinvocationPolicy: IfNeeded in MutatingWebhookConfiguration {MUTATING}."),
        ));
    }
    if !injectors.is_empty() {
        return Ok(DoctorCheckOutcome::warning(
            format!(
                "{} changes pods after {MUTATING}: the API server calls our webhook a second time, and our webhook \
                 cannot see changes after this call",
                joined(&injectors)
            ),
            format!("Rename that configuration, so that its name sorts before {MUTATING}."),
        ));
    }
    Ok(if later.is_empty() {
        DoctorCheckOutcome::success()
    } else {
        DoctorCheckOutcome::success_with(format!(
            "later configurations: {}; the API server calls our webhook again after their changes",
            joined(&later)
        ))
    })
}
