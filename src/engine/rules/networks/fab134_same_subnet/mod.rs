//! FAB134: several Ethernet interfaces of a pod in one subnet.

use super::attachments_with_facts::{AttachmentWithFact, attachments_of_pod};
use crate::multus::NetworkFact;
use crate::multus::subnet::first_two_members_that_overlap;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use std::collections::HashMap;

pub(super) static RULE: Rule = Rule {
    id: "FAB134",
    severity: Severity::Warning,
    quiet: true,
    lesser: &[(Severity::Info, "only the platform team can change the networks of the profile")],
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Maximum number of subnets that are compared. Real pods have a few networks with one subnet each, and a workload may have
/// hundreds of templates.
const MAX_SUBNETS: usize = 512;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let snapshot = context.subject.snapshot;
    let has_subnet = |a: AttachmentWithFact<'_>| {
        a.fact.is_some_and(|fact| !snapshot.subnets_that_must_not_overlap(a.namespace, fact).is_empty())
    };
    // Networks of most pods have no subnet here: their addresses come from elsewhere.
    if !attachments_of_pod(context).any(has_subnet) {
        return;
    }
    let all: Vec<AttachmentWithFact<'_>> = attachments_of_pod(context).collect();
    // Two attachments of a network are enough: more attachments of the same network would show nothing new.
    let mut times: HashMap<*const NetworkFact, usize> = HashMap::new();
    let counted = all.iter().enumerate().filter_map(|(index, attachment)| {
        let fact = attachment.fact?;
        let times = times.entry(std::ptr::from_ref(fact)).or_default();
        *times += 1;
        (*times <= 2).then_some((index, attachment.namespace, fact))
    });
    let subnets = counted.flat_map(|(index, namespace, fact)| {
        snapshot.subnets_that_must_not_overlap(namespace, fact).iter().map(move |s| (*s, index))
    });
    let Some((subnet, first, second)) = first_two_members_that_overlap(subnets.take(MAX_SUBNETS).collect())
    else {
        return;
    };
    let (Some(first), Some(second)) = (all.get(first), all.get(second)) else { return };
    // Anyone may claim a namespace, and learns no address of its networks.
    let subnet = match snapshot.is_for_anyone() {
        true => "a subnet".to_owned(),
        false => format!("subnet {subnet}"),
    };
    let message = format!(
        "networks {} ({}) and {} ({}) of the pod share {subnet}: Linux sends through only one of the two interfaces",
        first.place,
        first.describe(),
        second.place,
        second.describe()
    );
    let pair = [first, second].into_iter().map(|a| (a.namespace, &*a.item.name));
    match context.profile_if_networks_are_its_rails(pair) {
        Some(profile) => findings.about_other_object(&profile.name).add_with_severity(
            Severity::Info,
            networks_annotation(),
            message,
            format!("Ask the platform team for one subnet per rail of profile \"{}\".", profile.name),
        ),
        None => findings.add(networks_annotation(), message, "Use a subnet per rail, or add plugin sbr."),
    }
}
