//! FAB250: accelerators requested by resource and by claim in one container.

use crate::demands::answers_per_fact::PerFact;
use crate::demands::claimed_devices::{claims_within_device_limit, find_known_claim_or_template};
use crate::facts::DeviceClaim;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use std::collections::BTreeSet;

pub(super) static RULE: Rule =
    Rule { id: "FAB250", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Resources of device plugins, each with a word that the names of DeviceClasses of the same vendor contain.
const BOTH: [(&str, &str); 2] = [("nvidia.com/gpu", "nvidia"), ("amd.com/gpu", "amd")];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let claims = claims_within_device_limit(pod, context.subject.namespace, context.subject.snapshot);
    if claims.is_empty() {
        return;
    }
    for (vendor_resource, vendor) in BOTH {
        let holders = || {
            pod.containers_not_added_by_webhook()
                .filter(|(_, c)| c.units_of_resource(vendor_resource) > Some(0))
        };
        if holders().next().is_none() {
            continue;
        }
        // If a DeviceClass serves the resource, the DRA driver itself allocates its devices.
        if context
            .subject
            .snapshot
            .cluster_facts_for_audience()
            .device_class_of_resource(vendor_resource)
            .is_some()
        {
            continue;
        }
        let brings = |known: &DeviceClaim| {
            known.requests.iter().flat_map(|r| &r.options).any(|ask| {
                let class = context.subject.snapshot.device_class(&ask.class);
                ask.is_for_whole_accelerators(class) && ask.driver_or_class_name(class).contains(vendor)
            })
        };
        let mut known = PerFact::default();
        let bringing = claims.iter().filter(|claim| {
            let fact =
                find_known_claim_or_template(claim, context.subject.namespace, context.subject.snapshot);
            fact.is_some_and(|fact| *known.get(fact, || brings(fact)))
        });
        let bringing: BTreeSet<&str> = bringing.filter_map(|c| c.name.as_deref()).collect();
        if bringing.is_empty() {
            continue;
        }
        for (holder, container) in holders() {
            let own = container.resources.as_ref().and_then(|r| r.claims.as_deref()).unwrap_or_default();
            if let Some(name) = own.iter().filter_map(|c| c.name.as_deref()).find(|n| bringing.contains(n)) {
                findings.add(
                    format!("{}/resources", holder.json_pointer()),
                    format!(
                        "container {:?} gets accelerators twice: from resource {vendor_resource} and from claim \"{}\"",
                        escaped_and_cut(container.name(), 63),
                        escaped_and_cut(name, 63)
                    ),
                    "Remove either the resource or the claim.",
                );
            }
        }
    }
}
