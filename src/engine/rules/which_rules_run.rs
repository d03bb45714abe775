//! Which rules run for a pod, a workload or an object, and which errors become warnings: those of a rule that warns
//! where the pod requests no accelerator.

use super::all_rules::RULES;
use super::finding::{Finding, FindingsOfRule, Severity};
use super::object_context::{ObjectContext, ObjectEvent};
use super::pod_context::{PodContext, WhyPodIsChecked};
use super::rule_declaration::{ObjectCheck, PodCheck, PodsChecked, Rule, WorkloadCheck};
use super::workload_context::WorkloadContext;
use crate::decision_limits::DecisionLimits;
use std::sync::LazyLock;

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
    pod: rules_with_check(|rule| rule.pod),
    workload: rules_with_check(|rule| rule.workload),
    object: rules_with_check(|rule| rule.object),
    deletion: rules_with_check(|rule| rule.deletion),
});

fn rules_with_check<T>(check: impl Fn(&Rule) -> Option<T>) -> Vec<Checked<T>> {
    RULES.iter().copied().filter_map(|rule| Some((rule, check(rule)?))).collect()
}

fn findings_collector_of_rule<'a>(
    rule: &Rule,
    deadline: &'a DecisionLimits<'a>,
    out: &'a mut Vec<Finding>,
) -> FindingsOfRule<'a> {
    FindingsOfRule::new(rule.id, rule.severity, out).with_reasons(rule.lesser).with_deadline(deadline)
}

/// Checks a pod with every rule on pods that looks at pods like it.
pub fn run_rules_on_pod(context: &PodContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    let without = context.scope == WhyPodIsChecked::Rules;
    for (rule, check) in &CHECKS.pod {
        if context.deadline.is_over() {
            break;
        }
        let out_of_reach = without && rule.reach == PodsChecked::Accelerated;
        if out_of_reach || context.before.is_some() && !rule.on_change {
            continue;
        }
        let before = out.len();
        check(context, &mut findings_collector_of_rule(rule, context.deadline, &mut out));
        if without && rule.reach == PodsChecked::AnyWarns {
            for finding in out.iter_mut().skip(before).filter(|f| f.severity == Severity::Error) {
                finding.severity = Severity::Warning;
                finding.because = Some("the pod requests no accelerator, so it may not need the fabric");
            }
        }
    }
    out
}

/// Checks a workload with every rule on workloads.
pub fn run_rules_on_workload(context: &WorkloadContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for (rule, check) in CHECKS.workload.iter().take_while(|_| !context.deadline.is_over()) {
        check(context, &mut findings_collector_of_rule(rule, context.deadline, &mut out));
    }
    out
}

/// Checks an object with the rules of its kind.
pub fn run_rules_on_object(context: &ObjectContext<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    let checks = match context.event {
        ObjectEvent::Given | ObjectEvent::Updated { .. } => &CHECKS.object,
        ObjectEvent::Deleted => &CHECKS.deletion,
    };
    for (rule, check) in checks.iter().filter(|(rule, _)| rule.does_check_kind((context.group, context.kind)))
    {
        if context.deadline.is_over() {
            break;
        }
        check(context, &mut findings_collector_of_rule(rule, context.deadline, &mut out));
    }
    out
}
