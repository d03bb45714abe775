//! The decisions on a workload and its templates as one.

use super::changes_in_words::kinds_of_changes_in_words;
use super::decide_workload::{DecisionsOnTemplates, TemplateLimits, decide_templates_and_workload};
use super::only_new_findings_of_updates_count::{self, FindingInPart, FindingsBeforeUpdate, Version};
use super::{Decision, Stage, WorkloadRequest, lower_severities_then_sort_and_judge};
use crate::facts::EnforcementMode;
use crate::pod::limits_and_costs_of_pods::MAX_CHECKED_VALUES;
use crate::rules::which_findings_annotations_ignore::Suppressed;
use crate::rules::{Finding, MAX_FINDINGS_PER_RULE_AND_SEVERITY, Severity};
use crate::snapshot::Snapshot;
use std::collections::BTreeMap;

/// One pod template of a workload.
#[derive(Debug)]
pub struct TemplateOutcome {
    /// JSON pointer in the object.
    pub pointer: String,
    /// Name of its profile.
    pub profile: Option<String>,
    /// What its pods will get when they are made, in a few words; `None` for nothing, and where the workload was there
    /// already.
    pub injection: Option<String>,
}

/// A workload that is decided and not judged yet. Its findings stay relative to their templates: a thousand templates may
/// have fifty thousand findings, and each template a pointer of kilobytes.
pub(super) struct WholeWorkload {
    decision: Decision,
    templates: Vec<TemplateOutcome>,
    /// Pointers: of the workload, and of each template.
    parts: Vec<String>,
    findings: Vec<FindingInPart>,
    suppressed: Vec<(usize, Suppressed)>,
}

impl WholeWorkload {
    /// Decides on a workload, or on one of so many versions of it. Of what its pods will get, only the words are kept.
    pub(super) fn decide_all_templates(
        request: WorkloadRequest<'_>,
        versions: usize,
        snapshot: &Snapshot,
    ) -> Self {
        let most_checked = MAX_CHECKED_VALUES / versions.max(1);
        let limits = TemplateLimits { writes_patches: false, most_checked };
        let DecisionsOnTemplates { decided, own, .. } =
            decide_templates_and_workload(request, snapshot, limits, |decision| {
                let changes = &decision.plan.changes;
                let words =
                    (!changes.is_empty()).then(|| kinds_of_changes_in_words(changes.iter().map(|c| &c.edit)));
                (decision.without_plan_and_patch(), words)
            });
        let mut decision = own.unwrap_or_default();
        let mut whole = Self {
            templates: Vec::new(),
            parts: vec![String::new()],
            findings: std::mem::take(&mut decision.findings).into_iter().map(|f| (0, f)).collect(),
            suppressed: std::mem::take(&mut decision.suppressed).into_iter().map(|s| (0, s)).collect(),
            decision,
        };
        for (template, decided) in decided {
            // The API server refuses a value of another type when the pods are created.
            let Ok((decision, injection)) = decided else { continue };
            let part = whole.parts.len();
            whole.parts.push(template.pointer.clone());
            whole.decision.in_scope |= decision.in_scope;
            whole.findings.extend(decision.findings.into_iter().map(|f| (part, f)));
            whole.suppressed.extend(decision.suppressed.into_iter().map(|s| (part, s)));
            if decision.in_scope {
                let Decision { profile, evidence, .. } = decision;
                let first = &mut whole.decision.evidence;
                *first = first.take().or(evidence);
                whole.templates.push(TemplateOutcome { pointer: template.pointer, profile, injection });
            }
        }
        whole
    }

    /// Removes the findings that the workload had before: its pods are planned already.
    pub(super) fn keep_new_findings_and_clear_injections(
        &mut self,
        json: &str,
        before: Self,
        json_before: &str,
    ) {
        let ignored = before.suppressed.into_iter().map(|(part, s)| (part, s.finding)).collect();
        let known = FindingsBeforeUpdate { reported: before.findings, ignored };
        let new = Version { json, parts: &self.parts };
        let old = Version { json: json_before, parts: &before.parts };
        only_new_findings_of_updates_count::keep_new(&mut self.findings, &known, new, old);
        for template in &mut self.templates {
            template.injection = None;
        }
    }

    /// Whether it says anything that an update may not have changed.
    pub(super) fn has_findings_or_injections(&self) -> bool {
        !self.findings.is_empty() || self.templates.iter().any(|template| template.injection.is_some())
    }

    /// The decision, with pointers in the workload.
    pub(super) fn join_findings_and_set_verdict(
        self,
        mode: EnforcementMode,
    ) -> (Decision, Vec<TemplateOutcome>) {
        let Self { mut decision, templates, parts, findings, suppressed } = self;
        let pointer = |part: usize| parts.get(part).map_or("", String::as_str);
        let (mut taken, mut set_aside) = (Counts::default(), Counts::default());
        let placed = findings.into_iter().filter(|(_, finding)| taken.count_unless_full(finding)).map(
            |(part, mut finding)| {
                finding.path.insert_str(0, pointer(part));
                finding
            },
        );
        decision.findings = placed.collect();
        let placed = suppressed.into_iter().filter(|(_, s)| set_aside.count_unless_full(&s.finding)).map(
            |(part, mut s)| {
                s.finding.path.insert_str(0, pointer(part));
                s
            },
        );
        decision.suppressed = placed.collect();
        let mut profiles: Vec<&str> = templates.iter().filter_map(|t| t.profile.as_deref()).collect();
        profiles.sort_unstable();
        profiles.dedup();
        decision.profile = Some(profiles.join(",")).filter(|p| !p.is_empty());
        lower_severities_then_sort_and_judge(&mut decision, Stage::Whole, mode, true);
        (decision, templates)
    }
}

/// Findings by rule and severity. Of each, as many are reported as of one pod.
#[derive(Default)]
struct Counts(BTreeMap<(&'static str, Severity), usize>);

impl Counts {
    fn count_unless_full(&mut self, finding: &Finding) -> bool {
        let count = self.0.entry((finding.rule, finding.severity)).or_default();
        *count += 1;
        *count <= MAX_FINDINGS_PER_RULE_AND_SEVERITY
    }
}
