//! FAB201: resource quantity that the API server refuses.

mod pod_level;
mod quantity;

use crate::json::types_of_decoded_fields::Quantities;
use crate::pod::Quantity as Amount;
use crate::pod::fabric_signs::is_native_resource;
use crate::pod::pod_fields::Resources;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{MayBeIgnored, PodsChecked, Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token};
use quantity::{problem_if_request_above_limit, why_quantity_is_refused};

pub(super) static RULE: Rule = Rule {
    id: "FAB201",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, pod_level::REASON_FOR_WARNING)],
    names_placeholders: true,
    files: files!(),
    waiver: MayBeIgnored::Api,
    reach: PodsChecked::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (holder, container) in context.pod().containers_not_added_by_webhook() {
        if findings.must_stop_reporting() {
            break;
        }
        if let Some(resources) = &container.resources {
            check_quantities(&|| format!("{}/resources", holder.json_pointer()), resources, findings);
        }
    }
    if let Some(resources) = context.pod().spec.as_ref().and_then(|spec| spec.resources.as_ref()) {
        pod_level::check("/spec/resources", resources, findings);
    }
}

fn check_quantities(at: &dyn Fn() -> String, resources: &Resources<'_>, findings: &mut FindingsOfRule<'_>) {
    let limits = resources.limits.as_ref();
    for (field, list) in [("limits", limits), ("requests", resources.requests.as_ref())] {
        for (name, text) in list.iter().flat_map(|l| l.iter()) {
            let path = || format!("{}/{field}/{}", at(), json_pointer_token(name));
            if !name.contains('/') && !is_native_resource(name) {
                if findings.must_stop_reporting() {
                    return;
                }
                let shown = escaped_and_cut(name, 80);
                findings.add(
                    path(),
                    format!(
                        "resource name {shown} has no domain, and Kubernetes has no resource of this name: the API server refuses the pod"
                    ),
                    match name {
                        "gpu" | "gpus" => "Write nvidia.com/gpu or amd.com/gpu.",
                        _ => {
                            "Write the full name that the device plugin advertises, such as example.com/name."
                        }
                    },
                );
                continue;
            }
            let parsed = Amount::parse(&text.0);
            let wrong = why_quantity_is_refused(parsed, is_extended(name)).or_else(|| match parsed {
                Ok(q) if is_extended(name) && !q.is_integer() => Some((
                    "is not a whole number, but an extended resource needs a whole number",
                    "Write a whole number.",
                )),
                _ => None,
            });
            if let Some((what, fix)) = wrong {
                if findings.must_stop_reporting() {
                    return;
                }
                findings.add(
                    path(),
                    format!("{}: {:?} {what}", escaped_and_cut(name, 80), escaped_and_cut(&text.0, 40)),
                    fix,
                );
            } else if let Ok(request) = parsed
                && field == "requests"
            {
                match is_extended(name) || name.starts_with("hugepages-") {
                    true => check_request_equals_limit(&path, name, (request, &text.0), limits, findings),
                    false => {
                        if findings.must_stop_reporting() {
                            return;
                        }
                        if let Some((message, fix)) =
                            problem_if_request_above_limit(name, (request, &text.0), limits)
                        {
                            findings.add(path(), message, fix);
                        }
                    }
                }
            }
        }
    }
}

/// The request of an extended resource must have a limit and equal it.
fn check_request_equals_limit(
    path: &dyn Fn() -> String,
    name: &str,
    (request, text): (Amount, &str),
    limits: Option<&Quantities<'_>>,
    findings: &mut FindingsOfRule<'_>,
) {
    let resource = || escaped_and_cut(name, 80);
    match limits.and_then(|l| l.get(name)).map(|t| Amount::parse(&t.0)) {
        Some(Ok(limit)) if limit == request => {}
        // The texts below cost more than the check.
        _ if findings.must_stop_reporting() => {}
        None => findings.add(
            path(),
            format!(
                "{} has a request but no limit: the API server requires a limit for {}",
                resource(),
                if is_extended(name) { "extended resources" } else { "huge pages" }
            ),
            format!("Add {}: {} to limits.", resource(), escaped_and_cut(text, 40)),
        ),
        Some(Ok(limit)) => findings.add(
            path(),
            format!(
                "{}: the request ({}) differs from the limit ({}), so the API server refuses the pod",
                resource(),
                request.units_rounded_up(),
                limit.units_rounded_up()
            ),
            "Make the request equal to the limit, or write only the limit.",
        ),
        Some(_) => {}
    }
}

/// Whether a resource is an extended one: a name with a domain that is not Kubernetes' own.
fn is_extended(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(domain, _)| domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io"))
}
