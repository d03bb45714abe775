//! FAB813: what is known of the cluster is old.

use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB813",
    severity: Severity::Warning,
    files: files!(no_example: "only the webhook's watches fall behind"),
    at_one_point: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let stale = context.snapshot.stale();
    if !stale.is_empty() && context.resolution.profile().is_some() {
        let message = format!("nothing was heard of the cluster's {} for a while", stale.join(", "));
        findings.add("", message, "ask the operators of this webhook; the answer follows from older facts");
    }
}
