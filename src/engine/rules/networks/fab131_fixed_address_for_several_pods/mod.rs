//! FAB131: one fixed address for several pods.

use super::attachments_with_facts::attachments_of_pod;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB131",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let mut addresses = attachments_of_pod(context).filter_map(|a| {
        let asked = a.item.requests.as_ref().and_then(|r| r.ips.first());
        let of_network = a.fact.and_then(|f| f.addressing.ipam.as_ref()).is_some_and(|i| i.fixed);
        match asked {
            Some(ip) => Some(format!(
                "item {} of the networks annotation requests address {ip} in every pod",
                a.place
            )),
            None if of_network => {
                Some(format!("network {} gives the same address to every pod", a.describe()))
            }
            None => None,
        }
    });
    let Some(first) = addresses.next() else { return };
    if let Some(words) = context.why_several_pods() {
        findings.add(
            networks_annotation(),
            format!("{first} ({words}): connections fail at random"),
            "Let nv-ipam or whereabouts choose the address.",
        );
    }
}
