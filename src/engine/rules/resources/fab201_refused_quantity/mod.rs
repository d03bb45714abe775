//! FAB201: resource quantity that the API server refuses.

use crate::pod::fabric_signs::is_native;
use crate::pod::view::Container;
use crate::pod::{Quantity as Amount, QuantityError};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, Waiver, files};
use crate::text::{printable, token};

pub(super) static RULE: Rule = Rule {
    id: "FAB201",
    severity: Severity::Error,
    names_placeholders: true,
    files: files!(),
    waiver: Waiver::Api,
    reach: Reach::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for (holder, container) in context.pod().holders() {
        check_quantities(&format!("{}/resources", holder.path()), container, findings);
    }
}

fn check_quantities(at: &str, container: &Container<'_>, findings: &mut Findings<'_>) {
    for (field, list) in [("limits", container.limits()), ("requests", container.requests())] {
        for (name, text) in list.iter().flat_map(|l| l.iter()) {
            let path = || format!("{at}/{field}/{}", token(name));
            if !name.contains('/') && !is_native(name) {
                let shown = printable(name, 80);
                findings.add(
                    path(),
                    format!(
                        "{shown} is not a resource of Kubernetes: without a domain, the API server refuses it"
                    ),
                    match name {
                        "gpu" | "gpus" => "Write nvidia.com/gpu or amd.com/gpu.",
                        _ => {
                            "Write the name that the device plugin serves, with its domain: example.com/name."
                        }
                    },
                );
                continue;
            }
            let parsed = Amount::parse(&text.0);
            let wrong = match parsed {
                Err(QuantityError::Placeholder) => Some((
                    "is a placeholder that was not replaced",
                    "Render the template before applying it.",
                )),
                Err(QuantityError::Grammar) => Some((
                    "is not a Kubernetes quantity",
                    "Write a number with an optional suffix, such as 8, 500m or 64Gi.",
                )),
                Ok(q) if q.is_negative() => Some(("is negative", "Write 0 or more.")),
                Ok(q) if is_extended(name) && !q.is_integer() => {
                    Some(("is not a whole number, as an extended resource must be", "Write a whole number."))
                }
                Ok(_) => None,
            };
            if let Some((what, fix)) = wrong {
                findings.add(
                    path(),
                    format!("{}: {:?} {what}", printable(name, 80), printable(&text.0, 40)),
                    fix,
                );
            } else if let Ok(request) = parsed
                && field == "requests"
            {
                match is_extended(name) || name.starts_with("hugepages-") {
                    true => check_pair(&path, name, request, container, findings),
                    false => check_bound(&path, name, (request, &text.0), container, findings),
                }
            }
        }
    }
}

/// The request of an extended resource must have a limit and equal it.
fn check_pair(
    path: &dyn Fn() -> String,
    name: &str,
    request: Amount,
    container: &Container<'_>,
    findings: &mut Findings<'_>,
) {
    let resource = || printable(name, 80);
    match container.limits().and_then(|l| l.get(name)).map(|t| Amount::parse(&t.0)) {
        None => findings.add(
            path(),
            format!(
                "{}: request without a limit, which the API server refuses for {}",
                resource(),
                if is_extended(name) { "extended resources" } else { "huge pages" }
            ),
            "Write the limit; Kubernetes sets the request to it.",
        ),
        Some(Ok(limit)) if limit != request => findings.add(
            path(),
            format!("{}: request {} differs from limit {}", resource(), request.units(), limit.units()),
            "Make them equal, or write only the limit.",
        ),
        Some(_) => {}
    }
}

/// The request of another resource must not be above its limit.
fn check_bound(
    path: &dyn Fn() -> String,
    name: &str,
    (request, text): (Amount, &str),
    container: &Container<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(given) = container.limits().and_then(|l| l.get(name)) else { return };
    if Amount::parse(&given.0).is_ok_and(|limit| limit < request) {
        let (request, limit) = (printable(text, 40), printable(&given.0, 40));
        findings.add(
            path(),
            format!("{name}: request {request} is above its limit {limit}: the API server refuses the pod"),
            format!("Raise the limit to {request}, or lower the request."),
        );
    }
}

/// Whether a resource is an extended one: a name with a domain that is not Kubernetes' own.
fn is_extended(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(domain, _)| domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io"))
}
