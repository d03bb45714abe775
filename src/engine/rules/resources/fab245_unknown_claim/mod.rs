//! FAB245: claim that a container uses and the pod does not have.

use crate::demands::answers_per_fact::PerFact;
use crate::demands::claimed_devices::find_known_claim_or_template;
use crate::facts::{DeviceClaim, DriverKind, RequestedDevices};
use crate::pod::limits_and_costs_of_pods::MAX_CLAIMS;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{MayBeIgnored, PodsChecked, Rule, files};
use crate::text::escaped_and_cut;
use std::collections::{BTreeSet, HashMap, HashSet};

pub(super) static RULE: Rule = Rule {
    id: "FAB245",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, NEWER), (Severity::Warning, UNUSED)],
    files: files!(),
    waiver: MayBeIgnored::Api,
    reach: PodsChecked::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const NEWER: &str = "the claim or its template may have changed since the facts were read";
const UNUSED: &str = "the API server accepts a claim that no container uses";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    let names: HashSet<&str> = claims.iter().filter_map(|c| c.name.as_deref()).collect();
    // The API server refuses two claims of one name. Here the first is used.
    let mut known: HashMap<&str, Option<&DeviceClaim>> = HashMap::new();
    for claim in claims.iter().take(MAX_CLAIMS) {
        let find =
            || find_known_claim_or_template(claim, context.subject.namespace, context.subject.snapshot);
        claim.name.as_deref().map(|name| known.entry(name).or_insert_with(find));
    }
    let mut requests_of: PerFact<'_, _, HashSet<&str>> = PerFact::default();
    let mut used: HashSet<&str> = HashSet::new();
    let mut missing: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (holder, container) in pod.containers_not_added_by_webhook() {
        let own = container.resources.as_ref().and_then(|r| r.claims.as_deref()).unwrap_or_default();
        for (index, entry) in own.iter().enumerate() {
            let Some(name) = entry.name.as_deref() else { continue };
            if names.contains(name) {
                used.insert(name);
                let claim = known.get(name).copied().flatten();
                let Some((claim, request)) = claim.zip(entry.named_request()) else { continue };
                let has = requests_of
                    .get(claim, || claim.requests.iter().map(|r| r.name.as_str()).collect())
                    .contains(request);
                // More are not reported.
                if !has && missing.len() < MAX_FINDINGS_PER_RULE_AND_SEVERITY {
                    missing.insert((name, entry.request.as_deref().unwrap_or_default()));
                }
            } else if !findings.must_stop_reporting() {
                findings.add(
                    format!("{}/resources/claims/{index}/name", holder.json_pointer()),
                    format!(
                        "container {:?} uses claim {:?}, which is not in spec.resourceClaims: the API server refuses the pod",
                        escaped_and_cut(container.name(), 63),
                        escaped_and_cut(name, 63)
                    ),
                    "Write the name of an entry in spec.resourceClaims.",
                );
            }
        }
    }
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut reach = PerFact::default();
    for (index, claim) in claims.iter().enumerate().take(MAX_CLAIMS) {
        let Some(name) = claim.name.as_deref() else { continue };
        if !seen.insert(name) {
            continue;
        }
        if context.deadline.is_over() {
            return;
        }
        let path = || pointers_in_pod::claim(index);
        if !used.contains(name) {
            let known = known.get(name).copied().flatten();
            if known.is_some_and(|k| *reach.get(k, || reaches_containers_without_claim(k, context))) {
                continue;
            }
            findings.with_reason_for_lower_severity(UNUSED).add_with_severity(
                Severity::Warning,
                path(),
                format!(
                    "no container uses claim {:?}: the claim's devices are allocated but not used",
                    escaped_and_cut(name, 63)
                ),
                "Add the claim to resources.claims of a container, or remove the claim.",
            );
            continue;
        }
        for (_, request) in missing.range((name, "")..).take_while(|(of, _)| *of == name) {
            findings.with_reason_for_lower_severity(NEWER).add_with_severity(
                Severity::Warning,
                path(),
                format!(
                    "claim {:?} has no request {:?}, but a container names this request",
                    escaped_and_cut(name, 63),
                    escaped_and_cut(request, 63)
                ),
                "Write a request that the claim has, or remove the request's name to get the whole claim.",
            );
        }
    }
}

/// Whether a claim is for NICs that DRANET moves into the pod's network namespace. Such NICs reach every container,
/// even those that do not name the claim. dra-driver-sriov gives its devices only to containers that name the claim.
fn reaches_containers_without_claim(known: &DeviceClaim, context: &PodContext<'_>) -> bool {
    let moved = |ask: &RequestedDevices| {
        let class = context.subject.snapshot.device_class(&ask.class);
        let kind = context
            .subject
            .snapshot
            .settings()
            .harmless_drivers
            .kind_of_driver(ask.driver_or_class_name(class));
        kind == DriverKind::Nic && !ask.is_for_sriov_vfs(class)
    };
    let mut asks = known.requests.iter().flat_map(|request| &request.options).peekable();
    asks.peek().is_some() && asks.all(moved)
}
