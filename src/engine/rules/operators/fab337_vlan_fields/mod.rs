//! FAB337: vlanQoS or 802.1ad without a VLAN.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::SRIOV_NETWORK;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB337",
    severity: Severity::Error,
    files: files!(),
    kinds: &[SRIOV_NETWORK],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.whole_number_at("/spec/vlan").is_some_and(|vlan| vlan != 0) {
        return;
    }
    if let Some(qos) = context.whole_number_at("/spec/vlanQoS").filter(|qos| *qos > 0) {
        findings.add(
            "/spec/vlanQoS",
            format!("vlanQoS is {qos}, but vlan is not set: sriov-cni refuses this, and pods stay in ContainerCreating"),
            "Set vlan, or remove vlanQoS.",
        );
    }
    let proto = context.non_empty_text_at("/spec/vlanProto").filter(|p| p.eq_ignore_ascii_case("802.1ad"));
    if let Some(proto) = proto {
        findings.add(
            "/spec/vlanProto",
            format!(
                "vlanProto is {proto}, but vlan is not set: sriov-cni refuses this, and pods stay in ContainerCreating"
            ),
            "Set vlan, or remove vlanProto.",
        );
    }
}

fn cel() -> Cel {
    let alone = "variables.spec.?vlan.orValue(0) == 0";
    let qos =
        format!("{alone} && type(variables.spec.?vlanQoS.orValue('')) == int && variables.spec.vlanQoS > 0");
    let proto = format!(
        "{alone} && type(variables.spec.?vlanProto.orValue(0)) == string &&\n\
             variables.spec.vlanProto.lowerAscii() == '802.1ad'"
    );
    let checks = vec![
        CelCheck::error(
            qos,
            "vlanQoS is set, but vlan is not: sriov-cni refuses this, and pods stay in ContainerCreating; set vlan, or remove vlanQoS",
        ),
        CelCheck::error(
            proto,
            "vlanProto is 802.1ad, but vlan is not set: sriov-cni refuses this, and pods stay in ContainerCreating; set vlan, or remove vlanProto",
        ),
    ];
    Cel { variables: Vec::new(), checks, beyond: None }
}
