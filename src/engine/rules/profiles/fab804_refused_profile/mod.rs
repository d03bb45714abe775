//! FAB804: profile that does not exist or does not admit the namespace.

use crate::facts::PROFILE_ANNOTATION;
use crate::resolve::{Evidence, Resolution};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{MayBeIgnored, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB804",
    severity: Severity::Error,
    files: files!(),
    waiver: MayBeIgnored::Isolation,
    denies_before_final: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Resolution::Refused { by, reason, fix, .. } = context.resolution else { return };
    match by {
        Evidence::NamespaceAnnotation => {
            findings.add(
                "",
                format!(
                    "annotation {PROFILE_ANNOTATION} of namespace {:?}: {reason}",
                    context.subject.namespace
                ),
                fix,
            );
        }
        _ => findings.add(pointers_in_pod::annotation(PROFILE_ANNOTATION), reason, fix),
    }
}
