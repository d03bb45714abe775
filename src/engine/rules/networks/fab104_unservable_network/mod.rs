//! FAB104: network whose resource or node selector the webhook cannot add to the pod.

use crate::multus::{NODE_SELECTOR_ANNOTATION, NodeLabel, RequestedAttachment};
use crate::plan::{Edit, is_own_or_default_namespace};
use crate::profile::schema::Inject;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token};
use std::collections::{HashMap, HashSet};

pub(super) static RULE: Rule = Rule {
    id: "FAB104",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, OTHER_WAY), (Severity::Warning, OTHER_NODES)],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const OTHER_WAY: &str = "the pod may get the resource in another way";
const OTHER_NODES: &str = "the network may also work on the nodes that the pod selects";

/// Maximum number of networks that are reported for one pod.
const MAX_REPORTED: usize = 16;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    let serves = profile.inject == Inject::Networks && context.plan.withheld.is_none();
    let Some(Ok(networks)) = context.subject.networks.as_ref().filter(|_| serves) else { return };
    let planned = context.plan.changes.iter().filter_map(|c| match &c.edit {
        Edit::NodeSelector { key, value } => Some((key.as_str(), value.as_str())),
        _ => None,
    });
    // If the plan sets a label twice, the first value applies.
    let planned: HashMap<&str, &str> = planned.rev().collect();
    let (mut seen, mut reported) = (HashSet::new(), 0);
    for item in &networks.items {
        let namespace = item.namespace.as_deref().unwrap_or(context.subject.namespace);
        if reported == MAX_REPORTED {
            return;
        }
        let new = seen.insert((namespace, &*item.name));
        if new && profile.first_rail_on_network(namespace, &item.name, context.subject.namespace).is_none() {
            reported += usize::from(report_network_once(context, &planned, item, namespace, findings));
        }
    }
}

/// Reports what is wrong with one network. Returns whether it reported a finding.
fn report_network_once(
    context: &PodContext<'_>,
    planned: &HashMap<&str, &str>,
    item: &RequestedAttachment<'_>,
    namespace: &str,
    findings: &mut FindingsOfRule<'_>,
) -> bool {
    let network = || format!("{namespace}/{}", escaped_and_cut(&item.name, 100));
    if !is_own_or_default_namespace(context.subject.namespace, namespace) {
        findings.add_with_severity(
            Severity::Warning,
            networks_annotation(),
            format!("network {} is in another namespace: the webhook does not add the network's resource to the pod", network()),
            "Move the network to the pod's namespace or to namespace default, or request the network's resource in the pod.",
        );
        return true;
    }
    let Some(fact) = context.subject.snapshot.network(namespace, &item.name) else {
        if context.subject.snapshot.knows_all_networks_of(namespace) {
            findings.add(
                networks_annotation(),
                format!("network {} does not exist: the pod stays in ContainerCreating", network()),
                "Create the NetworkAttachmentDefinition, or correct its name and namespace.",
            );
        }
        return context.subject.snapshot.knows_all_networks_of(namespace);
    };
    let Some(text) = fact.node_selector.as_deref() else { return false };
    let Some(label) = NodeLabel::parse(text) else {
        findings.add(
            networks_annotation(),
            format!(
                "annotation {NODE_SELECTOR_ANNOTATION} of network {} is {:?}, which is not a node label",
                network(),
                escaped_and_cut(text, 40)
            ),
            "Write exactly one label (key=value) in this annotation of the network.",
        );
        return true;
    };
    let asked = planned.get(label.key).copied().or_else(|| context.pod().node_selector_value(label.key));
    if let Some(other) = asked.filter(|value| *value != label.value) {
        findings.with_reason_for_lower_severity(OTHER_NODES).add_with_severity(
            Severity::Warning,
            format!("/spec/nodeSelector/{}", json_pointer_token(label.key)),
            format!(
                "the pod's nodeSelector has {}={}, but network {} requires the value {:?}: no node has both values",
                escaped_and_cut(label.key, 60),
                escaped_and_cut(other, 40),
                network(),
                label.value
            ),
            "Remove this entry of nodeSelector, or request another network.",
        );
        return true;
    }
    false
}
