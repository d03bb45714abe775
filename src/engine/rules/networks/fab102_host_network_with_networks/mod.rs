//! FAB102: hostNetwork together with a networks annotation.

use super::annotation::{CEL_NETWORKS, INTERFACE, LABEL, short_form};
use crate::multus::NETWORKS_ANNOTATION;
use crate::rules::cel::{self, Cel, Check, Wrong};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB102",
    severity: Severity::Error,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if context.pod().host_network()
        && let Some(Ok(networks)) = &context.subject.networks
        && !networks.items.is_empty()
    {
        findings.add(
            "/spec/hostNetwork",
            "hostNetwork with a networks annotation: the runtime calls no CNI plugin, so no network is attached",
            format!("Remove hostNetwork, or remove annotation {NETWORKS_ANNOTATION}."),
        );
    }
}

fn cel() -> Cel {
    // FAB101 reports an annotation that cannot be parsed, so this one can be.
    let member =
        format!(r#""(name"\s*:\s*"{LABEL}|namespace"\s*:\s*"{LABEL}|interface"\s*:\s*"{INTERFACE})""#);
    let object = format!(r"[{{]\s*{member}(\s*,\s*{member})*\s*[}}]");
    let list = format!(r"\[\s*{object}(\s*,\s*{object})*\s*\]\s*");
    let named = r#"variables.networks.split('"name"').size() == variables.networks.split('{').size()"#;
    let wrong = format!(
        "object.spec.?hostNetwork.orValue(false) && (variables.networks.matches({}) ||\nvariables.networks.matches({}) && {named})",
        cel::literal(&short_form()),
        cel::literal(&format!("^\\s*{list}$")),
    );
    let message = "hostNetwork with a networks annotation: the runtime calls no CNI plugin, so no network is attached; remove hostNetwork, or remove annotation k8s.v1.cni.cncf.io/networks";
    Cel {
        variables: vec![("networks", CEL_NETWORKS.into())],
        checks: vec![Check { severity: Severity::Error, wrong: Wrong::Object(wrong.into()), message }],
        beyond: Some(
            "JSON lists with other keys than name, namespace and interface, and text of more than 8000 characters",
        ),
    }
}
