//! FAB109: default-network annotation that Multus refuses or looks up in another namespace.

use super::annotation_in_cel::short_form_pattern;
use crate::multus::{DEFAULT_NETWORK_ANNOTATION, parse_all};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::rules::rules_in_cel::{self, Cel, CelCheck, CelCondition};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB109",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "the name is correct if Multus runs in the pod's namespace")],
    files: files!(),
    reach: PodsChecked::Any,
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(text) = context.pod().annotation(DEFAULT_NETWORK_ANNOTATION) else { return };
    if context.pod().host_network() {
        return;
    }
    let path = || pointers_in_pod::annotation(DEFAULT_NETWORK_ANNOTATION);
    // Unlike the networks annotation, Multus parses this one wherever it is present (tryLoadK8sPodDefaultNetwork).
    if text.is_empty() {
        findings.add(
            path(),
            "the default-network annotation is empty: Multus refuses the pod, which stays in ContainerCreating",
            "Remove the annotation, or name one network as namespace/name.",
        );
        return;
    }
    match parse_all(text).as_ref().map(|n| n.items.as_slice()) {
        Err(error) => findings.add(
            path(),
            format!("the default-network annotation cannot be parsed: {error}"),
            "Name one network as namespace/name.",
        ),
        Ok([item]) => {
            let own = context.subject.namespace;
            if item.namespace.is_none()
                && own != "kube-system"
                && context.subject.snapshot.network(own, &item.name).is_some()
            {
                let name = escaped_and_cut(&item.name, 100);
                findings.add_with_severity(
                    Severity::Warning,
                    path(),
                    format!("default network {name:?} has no namespace: Multus looks only in the namespace where Multus runs, not in namespace {own:?}"),
                    format!("To use the network in namespace {own:?}, write {own}/{name}."),
                );
            }
        }
        Ok(items) => findings.add(
            path(),
            format!("the default-network annotation names {} networks: Multus accepts only one, and the pod sandbox fails", items.len()),
            "Name one network, and move the others to k8s.v1.cni.cncf.io/networks.",
        ),
    }
}

fn cel() -> Cel {
    let text = "variables.annotations[?'v1.multus-cni.io/default-network'].orValue('')";
    let wrong = format!(
        "!object.spec.?hostNetwork.orValue(false) && variables.defaultNetwork.contains(',') &&\n\
             variables.defaultNetwork.size() <= 8000 &&\n\
             variables.defaultNetwork.matches({})",
        rules_in_cel::cel_literal(&short_form_pattern())
    );
    let check = CelCheck {
        severity: Severity::Error,
        wrong: CelCondition::Object(wrong.into()),
        message: "the default-network annotation names several networks: Multus accepts only one, and the pod sandbox fails; name one network, and move the others to k8s.v1.cni.cncf.io/networks",
    };
    Cel {
        variables: vec![("defaultNetwork", text.into())],
        checks: vec![check],
        beyond: Some("JSON lists, text that Multus cannot parse, and the namespace in which Multus looks"),
    }
}
