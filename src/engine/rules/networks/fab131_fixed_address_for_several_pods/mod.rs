//! FAB131: one fixed address for several pods.

use super::attachments_with_facts::attached;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::annotation_path;
use crate::rules::rule_declaration::{Reach, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB131",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let mut addresses = attached(context).filter_map(|a| {
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
            annotation_path(),
            format!("{first} ({words}): connections fail at random"),
            "Let nv-ipam or whereabouts choose the address.",
        );
    }
}
