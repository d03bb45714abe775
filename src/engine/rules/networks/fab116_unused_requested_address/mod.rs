//! FAB116: address, MAC or GUID request that the network ignores.

use super::attached::attached;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths::annotation_path;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB116",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for attachment in attached(context) {
        let Some(requests) = attachment.item.requests.as_deref() else { continue };
        let Some(fact) = attachment.fact.filter(|f| f.addressing.known) else { continue };
        let takes = fact.addressing.capabilities;
        let asked = [
            ("ips", "ips", !requests.ips.is_empty() && !takes.ips),
            ("mac", "mac", requests.mac.is_some() && !takes.mac),
            ("infiniband-guid", "infinibandGUID", requests.guid.is_some() && !takes.guid),
        ];
        for (key, capability, _) in asked.into_iter().filter(|(.., lost)| *lost) {
            findings.add(
                annotation_path(),
                format!(
                    "item {} requests {key}, but {} ({}) does not declare it: the request is ignored",
                    attachment.place,
                    attachment.describe(),
                    fact.origin
                ),
                format!(
                    "Declare \"capabilities\": {{\"{capability}\": true}} in the network, or remove {key}."
                ),
            );
        }
    }
}
