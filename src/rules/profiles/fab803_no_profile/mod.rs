//! FAB803: no profile resolved for a pod that asks for accelerators.

use crate::fabric::Resolution;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::snapshot::PROFILE_ANNOTATION;

pub(super) static RULE: Rule =
    Rule { id: "FAB803", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let Resolution::NotApplicable { candidates, known } = context.resolution else { return };
    let list = match known - candidates.len() {
        _ if context.snapshot.profiles().next().is_none() => "no FabricProfile is known".to_owned(),
        _ if candidates.is_empty() => "no profile admits this namespace".to_owned(),
        0 => format!("candidates: {}", candidates.join(", ")),
        more => format!("candidates: {}, {more} more", candidates.join(", ")),
    };
    findings.add(
        "",
        format!("no profile for this pod, nothing is injected; {list}"),
        format!("annotate the pod or namespace with {PROFILE_ANNOTATION}, or review with --profile"),
    );
}
