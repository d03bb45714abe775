//! FAB102: hostNetwork together with a networks annotation.

use super::annotation_in_cel::{CEL_NETWORKS, INTERFACE_PATTERN, LABEL_PATTERN, short_form_pattern};
use crate::multus::NETWORKS_ANNOTATION;
use crate::pod::containers_and_their_resources::ContainerPlace;
use crate::pod::nic_resource_names::{is_vf_or_host_device_by_name, is_vf_or_host_device_in_cel};
use crate::pod::pod_fields::Container;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::rules::rules_in_cel::{self, Cel, CelCheck, CelCondition};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB102",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "the author may want the pod to use the node's NICs")],
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let asks = context.subject.readable_networks().is_some_and(|networks| !networks.items.is_empty());
    if !context.pod().host_network() || !asks {
        return;
    }
    match resource_reserved_in_vain(context) {
        Some(name) => findings.add(
            PATH,
            format!(
                "hostNetwork pod with a networks annotation: Multus attaches no network, and {} is reserved but not used",
                escaped_and_cut(name, 80)
            ),
            "Remove hostNetwork, or remove the annotation and the device request.",
        ),
        None => findings.add_with_severity(
            Severity::Warning,
            PATH,
            "hostNetwork pod with a networks annotation: Multus attaches no network, and the pod uses the node's NICs",
            format!("Remove hostNetwork, or remove annotation {NETWORKS_ANNOTATION}."),
        ),
    }
}

const PATH: &str = "/spec/hostNetwork";

/// The resource of a device that the pod reserves and cannot use: a VF or another function of a NIC, for a network that
/// is not attached. A hostNetwork pod can use a shared device. A privileged container can also use the node's own
/// devices.
fn resource_reserved_in_vain<'a>(context: &PodContext<'a>) -> Option<&'a str> {
    let pod = context.pod();
    let privileged = |holder: ContainerPlace| match holder {
        ContainerPlace::App(index) => pod.containers().get(index).is_some_and(Container::privileged),
        ContainerPlace::Sidecar(_) | ContainerPlace::Init(_) => false,
    };
    let snapshot = context.subject.snapshot;
    let is_function = |name: &str| match snapshot.resource(name).and_then(|fact| fact.shared) {
        Some(shared) => !shared,
        None => is_vf_or_host_device_by_name(name),
    };
    let taken = context.devices().needs.iter().filter(|need| need.certain_attachments > 0);
    let taken = taken.flat_map(|need| &need.holders).filter(|(holder, name, _)| {
        holder.is_app_or_sidecar()
            && !privileged(*holder)
            && snapshot.resource(name).and_then(|f| f.shared) != Some(true)
    });
    let held = pod.containers().iter().enumerate().filter(|(_, container)| !container.privileged());
    let held = held.flat_map(|(index, container)| {
        let functions = container.resource_names().filter(|name| is_function(name));
        functions.filter(move |name| context.overlay.final_units_in_limits(index, container, name) > 0)
    });
    taken.map(|(_, name, _)| *name).next().or_else(|| held.into_iter().next())
}

fn cel() -> Cel {
    // FAB101 reports an annotation that cannot be parsed, so this one can be.
    let member = format!(
        r#""(name"\s*:\s*"{LABEL_PATTERN}|namespace"\s*:\s*"{LABEL_PATTERN}|interface"\s*:\s*"{INTERFACE_PATTERN})""#
    );
    let object = format!(r"[{{]\s*{member}(\s*,\s*{member})*\s*[}}]");
    let list = format!(r"\[\s*{object}(\s*,\s*{object})*\s*\]\s*");
    let named = r#"variables.networks.split('"name"').size() == variables.networks.split('{').size()"#;
    let wrong = format!(
        "object.spec.?hostNetwork.orValue(false) && (variables.networks.matches({}) ||\nvariables.networks.matches({}) && {named})",
        rules_in_cel::cel_literal(&short_form_pattern()),
        rules_in_cel::cel_literal(&format!("^\\s*{list}$")),
    );
    let function = rules_in_cel::container_requests_resource(&is_vf_or_host_device_in_cel());
    let reserved = format!(
        "variables.containers.exists(c, !c.?securityContext.?privileged.orValue(false) && {function})"
    );
    let check = |severity, wrong: String, message| CelCheck {
        severity,
        wrong: CelCondition::Object(wrong.into()),
        message,
    };
    Cel {
        variables: vec![("networks", CEL_NETWORKS.into())],
        checks: vec![
            check(
                Severity::Error,
                format!("({wrong}) && {reserved}"),
                "hostNetwork pod with a networks annotation: Multus attaches no network, and a VF is reserved but not used; remove hostNetwork, or remove the annotation and the device request",
            ),
            check(
                Severity::Warning,
                format!("({wrong}) && !{reserved}"),
                "hostNetwork pod with a networks annotation: Multus attaches no network, and the pod uses the node's NICs; remove hostNetwork, or remove annotation k8s.v1.cni.cncf.io/networks",
            ),
        ],
        beyond: Some(
            "devices that are known only from a network object or a SriovNetworkNodePolicy; JSON lists with keys other than name, namespace and interface; and text of more than 8000 characters",
        ),
    }
}
