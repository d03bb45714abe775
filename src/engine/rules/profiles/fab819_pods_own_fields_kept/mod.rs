//! FAB819: part of the profile in whose place the pod's own fields count.

use crate::multus::NETWORKS_ANNOTATION;
use crate::plan::{OwnFabricResult, OwnFieldKept, OwnSetting, UserFabric};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{count_with_noun, escaped_and_cut, json_pointer_token};

pub(super) static RULE: Rule = Rule {
    id: "FAB819",
    severity: Severity::Info,
    quiet: true,
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    let name = &profile.name;
    if let Some(brought) = &context.plan.user_fabric {
        report_networks_in_place_of_rails(name, brought, findings);
    }
    for kept in &context.plan.kept {
        let (path, message, fix) = path_message_and_fix(name, kept);
        findings.add(path, message, format!("{fix}. If this is intended, ignore the finding."));
    }
    let of_pod = context.plan.set_by_pod.iter().filter(|set| set.by == OwnSetting::HostNetwork);
    let mut names: Vec<&str> = of_pod.map(|set| set.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        findings.add(
            "/spec/hostNetwork",
            format!(
                "the webhook does not set {} of profile {name:?}: the values are interfaces of the pod network, but the pod uses the node's network",
                names.join(", ")
            ),
            "Set the variables to interfaces of the node. If this is intended, ignore the finding.",
        );
    }
}

/// Reports networks that stand in for rails.
fn report_networks_in_place_of_rails(profile: &str, brought: &UserFabric, findings: &mut FindingsOfRule<'_>) {
    let why = match brought.completeness {
        _ if brought.own >= brought.rails => return,
        OwnFabricResult::Complete => "the pod's own networks replace the rails",
        OwnFabricResult::CompleteByUnits => {
            "the pod requests a unit for each of its networks, so these networks replace the rails"
        }
        // FAB805 reports another fabric.
        OwnFabricResult::Incomplete | OwnFabricResult::OtherFabric(_) => return,
    };
    findings.add(
        pointers_in_pod::annotation(NETWORKS_ANNOTATION),
        format!(
            "{why} of profile {profile:?} ({} of {}): the webhook adds no networks",
            brought.own + brought.stand_ins,
            count_with_noun(brought.rails, "rail")
        ),
        format!("Remove the networks from annotation {NETWORKS_ANNOTATION} to get the profile's networks. If this is intended, ignore the finding."),
    );
}

/// The path, the message and the fix.
fn path_message_and_fix(profile: &str, kept: &OwnFieldKept) -> (String, String, String) {
    match kept {
        OwnFieldKept::Rails { left_out, rails } => (
            "/spec/containers".to_owned(),
            format!(
                "the webhook does not attach {left_out} of {} of profile {profile:?}: the pod requests no devices for these rails",
                count_with_noun(*rails, "rail")
            ),
            "Remove the rails' resource from the pod's containers to get all rails".to_owned(),
        ),
        OwnFieldKept::Units { container, resource, own, wanted } => (
            pointers_in_pod::in_container(
                *container,
                format_args!("resources/limits/{}", json_pointer_token(resource)),
            ),
            format!(
                "{}: the pod's own quantity {own} applies, not the quantity {wanted} of profile {profile:?}",
                escaped_and_cut(resource, 80)
            ),
            "Remove the quantity from the pod to get the profile's quantity".to_owned(),
        ),
        OwnFieldKept::GkeNetworks(key) => (
            pointers_in_pod::annotation(key),
            format!(
                "the pod already sets annotation {key}: the webhook does not add the networks of profile {profile:?}"
            ),
            "Remove the annotation to get the profile's networks".to_owned(),
        ),
        OwnFieldKept::NodeName => (
            "/spec/nodeName".to_owned(),
            format!(
                "the webhook does not add the node affinity of profile {profile:?}: the pod sets nodeName"
            ),
            "Remove nodeName to get a node of the profile".to_owned(),
        ),
        OwnFieldKept::NodeTerms(terms) => (
            "/spec/affinity/nodeAffinity".to_owned(),
            format!(
                "the webhook does not add the node affinity of profile {profile:?}: the pod's own affinity has {terms} terms, more than 256"
            ),
            "Use fewer node affinity terms".to_owned(),
        ),
        OwnFieldKept::NodeLabel { key, wanted } => (
            format!("/spec/nodeSelector/{}", json_pointer_token(key)),
            format!(
                "the webhook does not change {} in nodeSelector, but the pod's network is on nodes with value {}",
                escaped_and_cut(key, 80),
                escaped_and_cut(wanted, 63)
            ),
            format!("Set this label to {}", escaped_and_cut(wanted, 63)),
        ),
    }
}
