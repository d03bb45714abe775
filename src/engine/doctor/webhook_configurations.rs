//! The webhook configurations: whether they exist, lead to the server, and select what they should.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, list_at_pointer, text_at_pointer};
use super::names_of_our_objects::{MUTATING, NAME, VALIDATING};
use super::what_is_read::{MUTATING_CONFIGURATIONS, SERVICES, VALIDATING_CONFIGURATIONS};
use crate::facts::{MODE_LABEL, NAME_LABEL};
use serde_json::Value;

/// A webhook as `deploy/base/webhooks.yaml` has it; a test compares them.
pub(super) struct WebhookOfConfiguration {
    /// Its name.
    pub(super) name: &'static str,
    path: &'static str,
    /// The mode that its namespaces have; `None` for all namespaces.
    mode: Option<&'static str>,
    policy: &'static str,
    /// Whether settings of the chart may leave it out.
    optional: bool,
}

const fn entry(
    name: &'static str,
    path: &'static str,
    mode: Option<&'static str>,
    policy: &'static str,
) -> WebhookOfConfiguration {
    WebhookOfConfiguration { name, path, mode, policy, optional: false }
}

/// Our webhooks.
pub(super) const ENTRIES: [WebhookOfConfiguration; 6] = [
    entry("mutate.fabric-admission.dev", "/mutate", Some("enforce"), "Ignore"),
    entry("enforce.fabric-admission.dev", "/validate", Some("enforce"), "Fail"),
    entry("audit.fabric-admission.dev", "/audit", Some("audit"), "Ignore"),
    WebhookOfConfiguration {
        optional: true,
        ..entry("workloads.fabric-admission.dev", "/validate-workload", Some("enforce"), "Ignore")
    },
    WebhookOfConfiguration {
        optional: true,
        ..entry("objects.fabric-admission.dev", "/validate-object", None, "Ignore")
    },
    WebhookOfConfiguration {
        optional: true,
        ..entry("networks.fabric-admission.dev", "/validate-networks", Some("enforce"), "Fail")
    },
];

const APPLY: &str =
    "Apply deploy/base/webhooks.yaml, or run helm upgrade. Do not write a caBundle: the server writes it.";

/// Our two configurations, where they exist.
fn our_configurations(facts: &Facts) -> Result<[(&'static str, Option<&Value>); 2], DoctorCheckOutcome> {
    Ok([
        (MUTATING, facts.object_by_name_or_skip(&MUTATING_CONFIGURATIONS, MUTATING)?),
        (VALIDATING, facts.object_by_name_or_skip(&VALIDATING_CONFIGURATIONS, VALIDATING)?),
    ])
}

/// All webhooks of our two configurations.
pub(super) fn our_webhooks(facts: &Facts) -> Result<Vec<&Value>, DoctorCheckOutcome> {
    let all = our_configurations(facts)?;
    Ok(all
        .into_iter()
        .filter_map(|(_, found)| found)
        .flat_map(|found| list_at_pointer(found, "/webhooks"))
        .collect())
}

/// The webhooks that are there; without any there is nothing to check.
fn configurations_that_exist(facts: &Facts) -> Result<Vec<&Value>, DoctorCheckOutcome> {
    let found = our_webhooks(facts)?;
    if found.is_empty() {
        Err(DoctorCheckOutcome::skipped("no webhook configuration exists"))
    } else {
        Ok(found)
    }
}

pub(super) fn check_configurations_exist(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let configurations = our_configurations(facts).map_err(DoctorCheckOutcome::error_in_place_of_skip)?;
    let mut problems = Vec::new();
    for (kind, (name, found)) in
        ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"].iter().zip(configurations)
    {
        let consequence = if name == MUTATING { "no pod is changed" } else { "no pod is checked" };
        if found.is_none() {
            problems.push(format!("{kind} {name} does not exist: {consequence}"));
        }
    }
    let found = our_webhooks(facts)?;
    for entry in ENTRIES.iter().filter(|entry| !entry.optional) {
        // A missing configuration is one problem, not one for each of its webhooks.
        if problems.is_empty() && !found.iter().any(|webhook| text_at_pointer(webhook, "/name") == entry.name)
        {
            problems.push(format!("webhook {} does not exist", entry.name));
        }
    }
    Ok(DoctorCheckOutcome::error_if_any(&problems, APPLY))
}

/// Before an installation: configurations that an earlier one left.
pub(super) fn check_leftover_configurations(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let found = our_webhooks(facts)?;
    if found.is_empty() {
        return Ok(DoctorCheckOutcome::success_with("none"));
    }
    if facts.object_by_name_or_skip(&SERVICES, NAME)?.is_some() {
        return Ok(DoctorCheckOutcome::success_with("an installation exists; run doctor without --pre"));
    }
    Ok(DoctorCheckOutcome::error(
        format!(
            "the configurations {MUTATING} and {VALIDATING} of an earlier installation exist, but their Service does \
             not: the API server refuses pods of namespaces with mode enforce"
        ),
        format!(
            "Run kubectl delete mutatingwebhookconfiguration/{MUTATING} validatingwebhookconfiguration/{VALIDATING}."
        ),
    ))
}

pub(super) fn check_webhooks_call_our_service(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let found = configurations_that_exist(facts)?;
    let service = facts.object_by_name_or_skip(&SERVICES, NAME)?;
    let mut problems = Vec::new();
    let mut urls = Vec::new();
    for webhook in found {
        let name = text_at_pointer(webhook, "/name");
        let Some(called) = webhook.pointer("/clientConfig/service") else {
            urls.push(format!("{name} calls {}", text_at_pointer(webhook, "/clientConfig/url")));
            continue;
        };
        let (namespace, of) = (text_at_pointer(called, "/namespace"), text_at_pointer(called, "/name"));
        let port = called.pointer("/port").and_then(Value::as_u64).unwrap_or(443);
        if (namespace, of) != (facts.namespace.as_str(), NAME) {
            problems.push(format!("{name} calls Service {namespace}/{of}, not {}/{NAME}", facts.namespace));
        } else if let Some(service) = service {
            let ports =
                list_at_pointer(service, "/spec/ports").iter().filter_map(|p| p.pointer("/port")?.as_u64());
            if !ports.into_iter().any(|known| known == port) {
                problems
                    .push(format!("{name} calls port {port}, which Service {namespace}/{of} does not have"));
            }
        }
        let path = text_at_pointer(called, "/path");
        match ENTRIES.iter().find(|entry| entry.name == name) {
            Some(entry) if entry.path == path => {}
            Some(entry) => problems.push(format!("{name} calls path {path:?}, not {:?}", entry.path)),
            None => problems.push(format!("{name} is not a webhook of this version")),
        }
    }
    Ok(if problems.is_empty() {
        DoctorCheckOutcome::warning_if_any(
            &urls,
            "Ignore this if the server runs outside the cluster: these calls then do not use its Service and endpoints.",
        )
    } else {
        DoctorCheckOutcome::error_if_any(&problems, APPLY)
    })
}

/// The values of a key's expression with an operator.
fn values_of_namespace_selector<'a>(webhook: &'a Value, key: &str, operator: &str) -> Vec<&'a str> {
    list_at_pointer(webhook, "/namespaceSelector/matchExpressions")
        .iter()
        .filter(|e| text_at_pointer(e, "/key") == key && text_at_pointer(e, "/operator") == operator)
        .flat_map(|e| list_at_pointer(e, "/values").iter().filter_map(Value::as_str))
        .collect()
}

pub(super) fn check_webhook_selectors(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let mut problems = Vec::new();
    for webhook in configurations_that_exist(facts)? {
        let name = text_at_pointer(webhook, "/name");
        let Some(entry) = ENTRIES.iter().find(|entry| entry.name == name) else { continue };
        if let Some(mode) = entry.mode {
            let labelled = webhook
                .pointer("/namespaceSelector/matchLabels")
                .and_then(|all| all.get(MODE_LABEL)?.as_str());
            let found = labelled
                .map_or_else(|| values_of_namespace_selector(webhook, MODE_LABEL, "In"), |one| vec![one]);
            if found != [mode] {
                let found = if found.is_empty() { "all namespaces".to_owned() } else { found.join(", ") };
                problems.push(format!("{name} selects namespaces by {MODE_LABEL}: {found}; expected {mode}"));
            }
        }
        let excluded = values_of_namespace_selector(webhook, NAME_LABEL, "NotIn");
        for namespace in ["kube-system", facts.namespace.as_str()] {
            if !excluded.contains(&namespace) {
                problems.push(format!("{name} does not exclude namespace {namespace}"));
            }
        }
        let policy = text_at_pointer(webhook, "/failurePolicy");
        if policy != entry.policy {
            let consequence = match entry.policy {
                "Fail" => "while no server answers, pods start without the check",
                _ => "while no server answers, the API server refuses the objects",
            };
            problems.push(format!("{name} has failurePolicy {policy}, not {}: {consequence}", entry.policy));
        }
    }
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems,
        format!(
            "{APPLY} Without the exclusions, the server's own pods and the pods of kube-system may wait for the server."
        ),
    ))
}
