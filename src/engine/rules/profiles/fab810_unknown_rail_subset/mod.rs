//! FAB810: unknown subset of a profile's rails, or a subset without the bootstrap interface.

use crate::plan::{RAILS_ANNOTATION, WhyNothingPlanned};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{escaped_and_cut, names_in_sentence, nearest_if_probably_meant};

pub(super) static RULE: Rule = Rule {
    id: "FAB810",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "only one variable of the profile is missing")],
    files: files!(),
    denies_before_final: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Names that a finding lists at most.
const MAX_NAMES: usize = 8;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    if let Some(WhyNothingPlanned::UnknownRails(name)) = &context.plan.withheld {
        let known = || profile.subsets.iter().map(|s| s.name.as_str());
        let shown = escaped_and_cut(name, 63);
        let mut list: Vec<String> = known().take(MAX_NAMES).map(|name| format!("{name:?}")).collect();
        let left = profile.subsets.len() - list.len();
        if left > 0 {
            list.push(format!("{left} more"));
        }
        let subsets = match list.as_slice() {
            [only] => format!("the profile has only subset {only}"),
            several => format!("the profile's subsets are {}", names_in_sentence(several)),
        };
        let (has, fix) = match nearest_if_probably_meant(
            name,
            context.deadline.take_names_within_budgets(name, known()),
        ) {
            _ if list.is_empty() => (
                "the profile defines no rail subsets".to_owned(),
                format!("Remove annotation {RAILS_ANNOTATION}."),
            ),
            Some(near) => (subsets, format!("Did you mean {near:?}?")),
            None => (subsets, format!("Name one of these subsets, or remove annotation {RAILS_ANNOTATION}.")),
        };
        let what = match name.is_empty() {
            true => format!("annotation {RAILS_ANNOTATION} is empty"),
            false => format!("profile {:?} does not define rail subset {shown:?}", profile.name),
        };
        findings.add(pointers_in_pod::annotation(RAILS_ANNOTATION), format!("{what}: {has}"), fix);
    }
    for without in &context.plan.without_interface {
        let (name, interface) = (&without.name, &without.interface);
        findings.add_with_severity(
            Severity::Warning,
            pointers_in_pod::container(without.container),
            format!(
                "the webhook does not set {name}={interface} of profile {:?}: the pod has no interface {interface}",
                profile.name
            ),
            format!("Set {name} to an interface of the pod, such as eth0."),
        );
    }
}
