//! FAB803: no profile for a pod that requests accelerators.

use crate::facts::PROFILE_ANNOTATION;
use crate::resolve::Resolution;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

/// The rule.
pub static RULE: Rule = Rule {
    id: "FAB803",
    severity: Severity::Warning,
    quiet: true,
    lesser: &[(Severity::Info, "the summary of a review already counts pods without a profile")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Resolution::NotApplicable { candidates, known } = context.resolution else { return };
    let list = match known - candidates.len() {
        // A tenant does not learn whether other namespaces have profiles.
        _ if candidates.is_empty() => match context.subject.snapshot.profiles().next() {
            None if !context.subject.snapshot.is_not_for_operator() => "no FabricProfile is known".to_owned(),
            _ => "no profile admits this namespace".to_owned(),
        },
        0 => format!("candidates: {}", candidates.join(", ")),
        more => format!("candidates: {}, {more} more", candidates.join(", ")),
    };
    let fix = match candidates.first() {
        Some(name) if candidates.len() == 1 => {
            format!("Annotate the pod template with {PROFILE_ANNOTATION}: {name}.")
        }
        Some(_) => {
            format!("Annotate the pod template with {PROFILE_ANNOTATION}: NAME, where NAME is one of the candidates.")
        }
        None if context.subject.snapshot.is_not_for_operator() => {
            "Ask the platform team for a FabricProfile that admits this namespace.".to_owned()
        }
        None => "Run review with --profiles PATH or --cluster PATH, or with a built-in base profile, such as --profile \
                 roce-sriov."
            .to_owned(),
    };
    let severity =
        if context.subject.snapshot.is_not_for_operator() { Severity::Warning } else { Severity::Info };
    findings.add_with_severity(
        severity,
        "",
        format!("no fabric profile matches: the pod gets no RDMA network ({list})"),
        fix,
    );
}
