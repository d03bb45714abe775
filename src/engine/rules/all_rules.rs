//! Every rule, and the loops that check with them. Documentation, `explain`, `rules list` and the meta-tests come from
//! this list, so that none of them can disagree with it.

use super::finding::{Finding, Findings, Severity};
use super::object::{Event, ObjectContext};
use super::pod_context::{PodContext, Scope};
use super::rule_declaration::{ObjectCheck, PodCheck, Reach, Rule, WorkloadCheck};
use super::workload_context::WorkloadContext;
use super::{cloud, inputs, memory_security, nccl, networks, operators, placement, profiles, resources};
use crate::deadline::Deadline;
use std::sync::LazyLock;

/// Every rule, by id: the groups one after the other, as the first digit of the ids has them.
pub static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let groups = [
        networks::RULES,
        resources::RULES,
        operators::RULES,
        nccl::RULES,
        memory_security::RULES,
        cloud::RULES,
        placement::RULES,
        profiles::RULES,
        inputs::RULES,
    ];
    groups.concat()
});

/// A rule with one of its checks.
type Checked<T> = (&'static Rule, T);

/// The checks of all rules by what they look at, each list in the order of the ids: a pod is shown only to rules on pods.
struct Checks {
    pod: Vec<Checked<PodCheck>>,
    workload: Vec<Checked<WorkloadCheck>>,
    object: Vec<Checked<ObjectCheck>>,
    deletion: Vec<Checked<ObjectCheck>>,
}

static CHECKS: LazyLock<Checks> = LazyLock::new(|| Checks {
    pod: having(|rule| rule.pod),
    workload: having(|rule| rule.workload),
    object: having(|rule| rule.object),
    deletion: having(|rule| rule.deletion),
});

fn having<T>(check: impl Fn(&Rule) -> Option<T>) -> Vec<Checked<T>> {
    RULES.iter().copied().filter_map(|rule| Some((rule, check(rule)?))).collect()
}

fn findings<'a>(rule: &Rule, deadline: &'a Deadline<'a>, out: &'a mut Vec<Finding>) -> Findings<'a> {
    Findings::new(rule.id, rule.severity, out).with_reasons(rule.lesser).within(deadline)
}

/// A rule by id, in any case.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

/// Whether any rule checks objects of a kind.
#[must_use]
pub fn checks_kind(group: &str, kind: &str) -> bool {
    RULES.iter().any(|rule| rule.checks((group, kind)))
}

/// Whether any rule judges fields of a kind, and not only whether an object of it can be read and used.
#[must_use]
pub fn judges_kind(group: &str, kind: &str) -> bool {
    RULES.iter().any(|rule| !rule.reads_only && rule.kinds.contains(&(group, kind)))
}

/// Checks a pod with every rule on pods that looks at pods like it.
pub fn check_pod(context: &PodContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    let without = context.scope == Scope::Rules;
    for (rule, check) in &CHECKS.pod {
        if context.deadline.is_over() {
            break;
        }
        let out_of_reach = without && rule.reach == Reach::Accelerated;
        if out_of_reach || context.before.is_some() && !rule.on_change {
            continue;
        }
        let before = out.len();
        check(context, &mut findings(rule, context.deadline, &mut out));
        if without && rule.reach == Reach::AnyWarns {
            for finding in out.iter_mut().skip(before).filter(|f| f.severity == Severity::Error) {
                finding.severity = Severity::Warning;
                finding.because = Some("the pod requests no accelerator, so it may not need the fabric");
            }
        }
    }
    out
}

/// Checks a workload with every rule on workloads.
pub fn check_workload(context: &WorkloadContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for (rule, check) in CHECKS.workload.iter().take_while(|_| !context.deadline.is_over()) {
        check(context, &mut findings(rule, context.deadline, &mut out));
    }
    out
}

/// Checks an object with the rules of its kind.
pub fn check_object(context: &ObjectContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    let checks = match context.event {
        Event::Given | Event::Updated { .. } => &CHECKS.object,
        Event::Deleted => &CHECKS.deletion,
    };
    for (rule, check) in checks.iter().filter(|(rule, _)| rule.checks((context.group, context.kind))) {
        if context.deadline.is_over() {
            break;
        }
        check(context, &mut findings(rule, context.deadline, &mut out));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_checks_objects_of_its_kinds_or_pods() {
        for rule in RULES.iter() {
            let objects = rule.object.is_some() || rule.deletion.is_some();
            assert_eq!(objects, !rule.kinds.is_empty(), "{}: kinds", rule.id);
            // Their findings are made where the annotations are applied, and where files are read.
            let elsewhere = rule.of_files || rule.id == profiles::INEFFECTIVE_IGNORE.id;
            let checked = objects || rule.pod.is_some() || rule.workload.is_some();
            assert_eq!(checked, !elsewhere, "{}: checks", rule.id);
        }
    }

    #[test]
    fn the_page_of_every_rule_can_be_parsed_and_names_it() {
        for rule in RULES.iter() {
            let page = crate::rules::rule_page::Page::parse(rule.files.page).unwrap();
            assert_eq!(page.id, rule.id);
        }
    }
}
