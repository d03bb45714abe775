//! FAB814: annotation fabric-admission.dev/containers names no container that the profile can be for.

use crate::plan::{CONTAINERS_ANNOTATION, WhyNothingPlanned, WrongContainers};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB814",
    severity: Severity::Error,
    files: files!(),
    denies_before_final: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(WhyNothingPlanned::WrongContainers(wrong)) = &context.plan.withheld else { return };
    let shown = |name: &str| format!("\"{}\"", escaped_and_cut(name, 63));
    let drop =
        || format!("Name a container in spec.containers, or remove annotation {CONTAINERS_ANNOTATION}.");
    let (message, fix) = match wrong {
        WrongContainers::Empty => ("an item of the list is empty".to_owned(), drop()),
        WrongContainers::Unknown(name, near) => {
            let fix = near.as_deref().map(|near| format!("Did you mean {}?", shown(near)));
            (format!("no container is named {}", shown(name)), fix.unwrap_or_else(drop))
        }
        WrongContainers::Init(name) => (
            format!("{} is an init container, and profiles do not apply to init containers", shown(name)),
            drop(),
        ),
        WrongContainers::Proxy(name) => {
            (format!("{} is the proxy of a service mesh, and proxies get no devices", shown(name)), drop())
        }
        WrongContainers::Twice(name) => {
            (format!("{} is named twice", shown(name)), "Name each container once.".to_owned())
        }
        WrongContainers::NoAccelerators => (
            "no container of the pod requests accelerators".to_owned(),
            format!("Request accelerators, or remove annotation {CONTAINERS_ANNOTATION}."),
        ),
    };
    let path = pointers_in_pod::annotation(CONTAINERS_ANNOTATION);
    findings.add(path, format!("annotation {CONTAINERS_ANNOTATION} is not valid: {message}"), fix);
}
