//! The audit as JSON, `fabric-admission.dev/audit/v1`. Fields are only ever added; unknown values are `null`, never absent.

use super::sums_per_workload::{SumsOfAllWorkloads, SumsOfWorkload};
use super::suppressions::SuppressionState;
use crate::facts::EnforcementMode;
use crate::report::UnreadInput;
use crate::report::baseline_comparison::Comparison;
use crate::report::baseline_file_format::{Baseline, BaselineEntry, Coverage, KindNotRead};
use crate::report::finding_identity_for_baselines::{FindingIdentity, ObjectName};
use crate::report::review_json::mode_name;
use crate::report::unread_by_audit::KindNotKnown;
use crate::rules::Severity;
use crate::snapshot::Snapshot;
use crate::text::escaped_and_cut;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/audit/v1";

/// The whole document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Document")]
pub struct AuditDocument {
    /// Always `fabric-admission.dev/audit/v1`.
    pub schema: &'static str,
    /// Version of fabric-admission.
    pub tool_version: String,
    /// The only namespace of the audit; null for all namespaces.
    pub namespace: Option<String>,
    /// Whether a kind or an input could not be read: see `gaps` and `errors`.
    pub partial: bool,
    /// Kinds that could not be read, or that the files do not have.
    pub gaps: Vec<KindNotKnown>,
    /// Counts.
    pub summary: Summary,
    /// Namespaces, the one with the worst workload first.
    pub namespaces: Vec<NamespaceEntry>,
    /// Workloads in scope and other objects with findings, the worst first.
    pub workloads: Vec<WorkloadEntry>,
    /// Annotations that ignore findings, unused ones included.
    pub suppressions: Vec<SuppressionEntry>,
    /// Comparison with a baseline; null without one.
    #[serde(rename = "baseline")]
    pub comparison: Option<Comparison>,
    /// Errors of unreadable inputs.
    pub errors: Vec<UnreadInput>,
}

/// Counts of the whole audit. Refused and changed are about namespaces that opt in, whether they did or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Namespaces with workloads.
    pub namespaces: usize,
    /// Of these, namespaces that opted in.
    pub opted_in: usize,
    /// Workloads by top owner; pods without an owner are one each, or one for each generateName.
    pub workloads: usize,
    /// Pods that have not finished.
    pub pods: usize,
    /// Finished pods and jobs, which are not decided on.
    pub finished: usize,
    /// Workloads whose new pods would be refused.
    pub refused: usize,
    /// Workloads with a warning and no error.
    pub warned: usize,
    /// Workloads whose new pods would be changed.
    pub changed: usize,
    /// Workloads with running pods that would be changed or refused if they were created again.
    pub restart: usize,
    /// Workloads that request accelerators and match no profile (FAB803).
    pub without_profile: usize,
    /// Networks, policies and profiles with findings.
    pub other_objects: usize,
    /// Annotations that ignore nothing, or whose date is over.
    pub stale_suppressions: usize,
}

/// One namespace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceEntry {
    /// Name; null for objects without a namespace.
    pub name: Option<String>,
    /// `enforce` or `audit`; null if the namespace did not opt in, or is not known.
    pub mode: Option<&'static str>,
    /// Whether the Namespace object is known.
    pub known: bool,
    /// Workloads.
    pub workloads: usize,
    /// Pods that have not finished.
    pub pods: usize,
    /// Workloads whose new pods would be refused.
    pub refused: usize,
    /// Workloads whose new pods would be changed.
    pub changed: usize,
    /// Workloads with running pods that would be changed or refused if they were created again.
    pub restart: usize,
}

/// One workload, with its templates and pods, or another object with findings.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadEntry {
    /// The object: the top owner of the pods.
    pub object: ObjectName,
    /// `enforce` or `audit`; null if the namespace did not opt in.
    pub mode: Option<&'static str>,
    /// Whether the object makes pods or is one; false for networks, policies and profiles.
    pub makes_pods: bool,
    /// Pod templates.
    pub templates: usize,
    /// Pods that have not finished.
    pub pods: usize,
    /// Profile; null without one.
    pub profile: Option<String>,
    /// Evidence for the profile, or the reason why there is none.
    pub evidence: Option<String>,
    /// Profiles of its templates and pods, in alphabetical order.
    pub profiles: Vec<String>,
    /// Profiles that its running pods were injected with, in alphabetical order.
    pub injected: Vec<InjectedEntry>,
    /// `deny` if new pods would be refused in mode enforce, `unknown` if a pod cannot be read and no
    /// template is known, else `allow`.
    pub verdict: &'static str,
    /// Changes that new pods would get.
    pub changes: Vec<ChangeEntry>,
    /// What a new start of its running pods would do.
    pub restart: DifferencesAfterRestart,
    /// Findings, most severe first.
    pub findings: Vec<FindingEntry>,
    /// Pods that cannot be read.
    pub unreadable_pods: usize,
    /// Findings and changes that are not listed, since the workload has too many different ones.
    pub left_out: usize,
}

/// Running pods with the settings of one state of a profile.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InjectedEntry {
    /// Name of the profile.
    pub profile: String,
    /// Fingerprint of the profile's settings at that time.
    pub fingerprint: String,
    /// Pods that have not finished.
    pub pods: usize,
}

impl InjectedEntry {
    /// An entry by the value of the annotation, which anyone can write.
    fn new((mark, pods): (&String, &usize)) -> Self {
        let (profile, fingerprint) = mark.rsplit_once('@').unwrap_or((mark, ""));
        let [profile, fingerprint] = [profile, fingerprint].map(|text| escaped_and_cut(text, 253));
        Self { profile, fingerprint, pods: *pods }
    }
}

/// Running pods that would not be the same if they were created again.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(rename = "Restart")]
pub struct DifferencesAfterRestart {
    /// Pods that would be refused, changed, or get other settings.
    pub pods: usize,
    /// Pods that would be refused.
    pub refused: usize,
    /// Pods that would be changed.
    pub changed: usize,
    /// Pods that have the settings of an earlier state of their profile, or of another profile.
    pub outdated: usize,
}

/// One change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeEntry {
    /// Container; null for a change of the pod.
    pub container: Option<String>,
    /// The change as text.
    pub summary: String,
    /// Reason.
    pub reason: String,
    /// Whether a pod template would get it.
    pub template: bool,
    /// Running pods that lack it.
    pub pods: usize,
}

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingEntry {
    /// Id of the rule.
    pub rule: &'static str,
    /// `error`, `warning` or `info`.
    pub severity: Severity,
    /// JSON pointer in the template, the pod or the object that has it first.
    pub path: String,
    /// The same with list items by name; part of the identity of the finding in a baseline.
    pub named_path: String,
    /// Message.
    pub message: String,
    /// Fix.
    pub fix: String,
    /// Why the severity is lower than the rule's; empty if it is not lower.
    pub because: &'static str,
    /// Findings of this rule and path in one template or pod.
    pub count: usize,
    /// Whether the object or a template has it.
    pub template: bool,
    /// Pods that have it.
    pub pods: usize,
}

/// An annotation that ignores findings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuppressionEntry {
    /// The object that has it, or the top owner of the pods that have it.
    pub object: ObjectName,
    /// Id of the rule.
    pub rule: String,
    /// `used`, `expired`, `not-allowed`, `without-reason` or `unused`.
    pub state: SuppressionState,
    /// The reason.
    pub reason: String,
    /// The date in the reason (`until=2027-01-31`); null without one.
    pub until: Option<String>,
}

/// What is known beside the workloads.
#[derive(Debug, Default)]
pub struct AuditScopeAndGaps {
    /// Version of fabric-admission.
    pub tool_version: String,
    /// The only namespace.
    pub namespace: Option<String>,
    /// Kinds that are not known.
    pub gaps: Vec<KindNotKnown>,
    /// Errors of unreadable inputs.
    pub errors: Vec<UnreadInput>,
}

impl AuditDocument {
    /// The result of an audit, in its order. Namespaces are looked up in the snapshot.
    #[must_use]
    pub fn sum_up_and_order(
        tallies: &SumsOfAllWorkloads,
        frame: AuditScopeAndGaps,
        snapshot: &Snapshot,
    ) -> Self {
        let mode = |object: &ObjectName| {
            let facts = snapshot.namespace(object.namespace.as_deref()?)?;
            facts.mode()
        };
        let mut summary =
            Summary { finished: tallies.finished_pods + tallies.finished_jobs, ..Summary::default() };
        let mut namespaces: BTreeMap<Option<String>, NamespaceEntry> = BTreeMap::new();
        let mut workloads = Vec::new();
        let mut suppressions = Vec::new();
        for (object, workload) in &tallies.workloads {
            let mode = mode(object);
            count_workload(&mut summary, workload);
            if workload.makes_pods {
                let entry = namespaces.entry(object.namespace.clone()).or_insert_with(|| {
                    let known = object.namespace.as_deref().is_some_and(|n| snapshot.namespace(n).is_some());
                    NamespaceEntry::new(object.namespace.clone(), mode, known)
                });
                entry.count_workload(workload);
            }
            for suppression in workload.suppressions.values() {
                summary.stale_suppressions += usize::from(suppression.needs_attention());
                suppressions.push(SuppressionEntry {
                    object: object.clone(),
                    rule: suppression.rule.clone(),
                    state: suppression.state,
                    reason: suppression.reason.clone(),
                    until: suppression.until.clone(),
                });
            }
            if workload.is_listed() {
                workloads.push(WorkloadEntry::new(object, workload, mode));
            }
        }
        workloads.sort_by_cached_key(WorkloadEntry::rank);
        // A namespace stands where its worst workload does.
        let mut ordered: Vec<NamespaceEntry> = Vec::new();
        for entry in &workloads {
            ordered.extend(namespaces.remove(&entry.object.namespace));
        }
        ordered.extend(namespaces.into_values());
        summary.namespaces = ordered.len();
        summary.opted_in = ordered.iter().filter(|n| n.mode.is_some()).count();
        let AuditScopeAndGaps { tool_version, namespace, gaps, errors } = frame;
        Self {
            schema: SCHEMA,
            tool_version,
            namespace,
            partial: !gaps.is_empty() || !errors.is_empty(),
            gaps,
            summary,
            namespaces: ordered,
            workloads,
            suppressions,
            comparison: None,
            errors,
        }
    }

    /// The baseline of this result.
    #[must_use]
    pub fn as_new_baseline(&self) -> Baseline {
        let entries = self.workloads.iter().flat_map(|workload| {
            workload.findings.iter().map(|f| BaselineEntry {
                fingerprint: FindingIdentity {
                    rule: f.rule.to_owned(),
                    object: workload.object.clone(),
                    path: f.named_path.clone(),
                },
                severity: f.severity.to_string(),
                count: f.count,
            })
        });
        let gaps = self.gaps.iter();
        let gaps = gaps.map(|g| KindNotRead { api_version: g.api_version.clone(), kind: g.kind.clone() });
        let coverage = Coverage { namespace: self.namespace.clone(), gaps: gaps.collect() };
        Baseline::new(&self.tool_version, coverage, entries.collect())
    }

    /// Severity of the most severe finding.
    #[must_use]
    pub fn worst_severity(&self) -> Option<Severity> {
        self.workloads.iter().flat_map(|w| w.findings.first()).map(|f| f.severity).max()
    }
}

fn count_workload(summary: &mut Summary, workload: &SumsOfWorkload) {
    if !workload.makes_pods {
        summary.other_objects += usize::from(!workload.findings.is_empty());
        return;
    }
    summary.workloads += 1;
    summary.pods += workload.pods + workload.unreadable_pods;
    summary.refused += usize::from(workload.would_be_refused());
    summary.warned += usize::from(workload.worst_severity() == Some(Severity::Warning));
    summary.changed += usize::from(workload.would_be_changed());
    summary.restart += usize::from(workload.restart_pods > 0);
    summary.without_profile += usize::from(workload.has_no_profile());
}

impl NamespaceEntry {
    fn new(name: Option<String>, mode: Option<EnforcementMode>, known: bool) -> Self {
        let mode = mode.map(mode_name);
        Self { name, mode, known, workloads: 0, pods: 0, refused: 0, changed: 0, restart: 0 }
    }

    fn count_workload(&mut self, workload: &SumsOfWorkload) {
        self.workloads += 1;
        self.pods += workload.pods + workload.unreadable_pods;
        self.refused += usize::from(workload.would_be_refused());
        self.changed += usize::from(workload.would_be_changed());
        self.restart += usize::from(workload.restart_pods > 0);
    }
}

impl WorkloadEntry {
    fn new(object: &ObjectName, workload: &SumsOfWorkload, mode: Option<EnforcementMode>) -> Self {
        let findings = workload.findings.iter().map(|((severity, rule, named_path), tally)| FindingEntry {
            rule,
            severity: severity.0,
            path: tally.pointer.clone(),
            named_path: named_path.clone(),
            message: tally.message.clone(),
            fix: tally.fix.clone(),
            because: tally.because,
            count: tally.count,
            template: tally.template,
            pods: tally.pods,
        });
        let changes = workload.changes.iter().map(|((container, summary), tally)| ChangeEntry {
            container: Some(container.clone()).filter(|name| !name.is_empty()),
            summary: summary.clone(),
            reason: tally.reason.clone(),
            template: tally.template,
            pods: tally.pods,
        });
        Self {
            object: object.clone(),
            mode: mode.map(mode_name),
            makes_pods: workload.makes_pods,
            templates: workload.templates,
            pods: workload.pods + workload.unreadable_pods,
            profile: workload.profile.clone(),
            evidence: workload.evidence.clone(),
            profiles: workload.profiles.iter().cloned().collect(),
            injected: workload.injected.iter().map(InjectedEntry::new).collect(),
            verdict: match (workload.would_be_refused(), workload.is_undecided()) {
                (true, _) => "deny",
                (false, true) => "unknown",
                (false, false) => "allow",
            },
            changes: changes.collect(),
            restart: DifferencesAfterRestart {
                pods: workload.restart_pods,
                refused: workload.refused_pods,
                changed: workload.changed_pods,
                outdated: workload.outdated_pods,
            },
            findings: findings.collect(),
            unreadable_pods: workload.unreadable_pods,
            left_out: workload.left_out,
        }
    }

    /// The worst first: refused, then undecided, then by severity, then by what a new start would change, then by pods.
    fn rank(&self) -> impl Ord + use<> {
        let warnings = self.findings.iter().filter(|f| f.severity >= Severity::Warning).count();
        (
            Reverse(self.verdict == "deny"),
            Reverse(self.verdict == "unknown"),
            Reverse(self.findings.first().map(|f| f.severity)),
            Reverse(warnings),
            Reverse(self.restart.pods),
            Reverse(self.pods),
            self.object.clone(),
        )
    }
}
