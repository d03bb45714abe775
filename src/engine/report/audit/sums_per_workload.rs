//! What is kept of a workload: sums over its templates and pods. Memory grows with the number of workloads and of their
//! different findings, not with the number of pods.

use super::suppressions::{self, Suppression};
use crate::report::finding_identity_for_baselines::{NamedPaths, ObjectName};
use crate::review::Decision;
use crate::rules::{NO_PROFILE, Severity};
use crate::text::escaped_and_cut;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Most different findings, changes and annotations of one workload that are kept; more are counted.
const MAX_KEPT: usize = 200;

/// Which part of a workload was decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartOfWorkload {
    /// An object that makes no pods, such as a network.
    ClusterObject,
    /// A workload itself.
    Object,
    /// A pod template.
    Template,
    /// A pod.
    Pod,
}

/// A finding of a workload: severity, rule and named path.
type FindingKey = (Reverse<Severity>, &'static str, String);

/// One finding in all objects that have it.
#[derive(Debug, Clone)]
pub struct FindingTally {
    /// The message of the first one.
    pub message: String,
    /// The fix of the first one.
    pub fix: String,
    /// Why the severity is lower than the rule's; empty if it is not.
    pub because: &'static str,
    /// Pointer in the first object.
    pub pointer: String,
    /// Most findings of this rule and path in one object (count).
    pub count: usize,
    /// Whether the object itself or a template has it.
    pub template: bool,
    /// Pods that have it (count).
    pub pods: usize,
}

/// A change that would be made.
#[derive(Debug, Clone)]
pub struct ChangeTally {
    /// Reason.
    pub reason: String,
    /// Whether a template gets it.
    pub template: bool,
    /// Running pods that lack it (count).
    pub pods: usize,
}

/// The facts about a workload. Profile and evidence are those of its first template, or of its first pod if it has no
/// template.
#[derive(Debug, Clone, Default)]
pub struct SumsOfWorkload {
    /// Whether it makes pods, or is one.
    pub makes_pods: bool,
    /// Templates (count).
    pub templates: usize,
    /// Pods that have not finished (count).
    pub pods: usize,
    /// Whether rules or a profile apply to any of it.
    pub in_scope: bool,
    /// Profile.
    pub profile: Option<String>,
    /// Evidence for the profile, or why there is none.
    pub evidence: Option<String>,
    /// Profiles of its templates and pods.
    pub profiles: BTreeSet<String>,
    /// Profiles that pods were injected with, with the fingerprint of their settings, and the pods that have not finished
    /// (count).
    pub injected: BTreeMap<String, usize>,
    /// Whether the object itself or a template would be refused.
    pub refused: bool,
    /// Whether templates would be changed.
    pub changed: bool,
    /// Pods that would be refused if they were created again (count).
    pub refused_pods: usize,
    /// Pods that lack a change, and would get it if they were created again (count).
    pub changed_pods: usize,
    /// Pods with the settings of an earlier state of their profile, or of another profile (count).
    pub outdated_pods: usize,
    /// Pods of any of these three (count).
    pub restart_pods: usize,
    /// Pods that cannot be read (count).
    pub unreadable_pods: usize,
    /// Findings, most severe first.
    pub findings: BTreeMap<FindingKey, FindingTally>,
    /// Changes by container and description.
    pub changes: BTreeMap<(String, String), ChangeTally>,
    /// Annotations that ignore findings, by rule.
    pub suppressions: BTreeMap<String, Suppression>,
    /// Findings and changes beyond the limit (count).
    pub left_out: usize,
}

/// One decision, and what it is about.
#[derive(Debug, Clone, Copy)]
pub struct DecisionOnPart<'a> {
    /// Which part of the workload.
    pub seen: PartOfWorkload,
    /// Its JSON text.
    pub json: &'a str,
    /// The decision.
    pub decision: &'a Decision,
    /// Names of the pod's app containers, in their order.
    pub containers: &'a [String],
    /// The profile that the pod was injected with, and the fingerprint of its settings; `None` for anything but a pod.
    pub injected: Option<&'a str>,
    /// Whether the pod has the settings of an earlier state of its profile, or of another profile.
    pub outdated: bool,
    /// The date, as 2027-01-31: a reason may end on one.
    pub today: &'a str,
}

/// All workloads of a cluster, by name.
#[derive(Debug, Default)]
pub struct SumsOfAllWorkloads {
    /// Workloads, and other objects with findings.
    pub workloads: BTreeMap<ObjectName, SumsOfWorkload>,
    /// Pods that have finished (count): they are not decided on.
    pub finished_pods: usize,
    /// Jobs that have finished (count).
    pub finished_jobs: usize,
}

impl SumsOfAllWorkloads {
    /// Adds what a further list found.
    pub fn merge(&mut self, other: Self) {
        self.finished_pods += other.finished_pods;
        self.finished_jobs += other.finished_jobs;
        for (name, workload) in other.workloads {
            self.workloads.entry(name).or_default().merge(workload);
        }
    }

    /// Puts one workload's results under another's name.
    pub fn move_results_to_workload(&mut self, from: &ObjectName, to: ObjectName) {
        if let Some(workload) = self.workloads.remove(from) {
            self.workloads.entry(to).or_default().merge(workload);
        }
    }
}

impl SumsOfWorkload {
    /// Counts a decision in.
    pub fn add_decision(&mut self, decided: &DecisionOnPart<'_>) {
        let DecisionOnPart { seen, json, decision, containers, injected, outdated, today } = *decided;
        self.in_scope |= decision.in_scope || !decision.findings.is_empty();
        let is_pod = seen == PartOfWorkload::Pod;
        self.makes_pods |= seen != PartOfWorkload::ClusterObject;
        self.templates += usize::from(seen == PartOfWorkload::Template);
        let changed = !decision.patch.is_empty();
        if is_pod {
            self.pods += 1;
            self.refused_pods += usize::from(decision.denied);
            self.changed_pods += usize::from(changed);
            self.outdated_pods += usize::from(outdated);
            self.restart_pods += usize::from(decision.denied || changed || outdated);
        } else {
            self.refused |= decision.denied;
            self.changed |= changed;
        }
        if self.profile.is_none() && (decision.profile.is_some() || self.evidence.is_none()) {
            self.profile.clone_from(&decision.profile);
            self.evidence.clone_from(&decision.evidence);
        }
        if self.profiles.len() < MAX_KEPT {
            self.profiles.extend(decision.profile.clone());
        }
        if let Some(mark) = injected
            && (self.injected.len() < MAX_KEPT || self.injected.contains_key(mark))
        {
            *self.injected.entry(mark.to_owned()).or_default() += 1;
        }
        self.add_findings(json, decision, is_pod);
        self.add_changes(decision, containers, is_pod);
        for suppression in suppressions::suppressions_of_object(json, decision, today) {
            let room = self.suppressions.len() < MAX_KEPT;
            match self.suppressions.get_mut(&suppression.rule) {
                // Of several pods one may use it.
                Some(kept) if suppression.state < kept.state => *kept = suppression,
                Some(_) => {}
                None if room => {
                    self.suppressions.insert(suppression.rule.clone(), suppression);
                }
                None => self.left_out += 1,
            }
        }
    }

    fn add_findings(&mut self, json: &str, decision: &Decision, is_pod: bool) {
        let mut here: BTreeMap<FindingKey, usize> = BTreeMap::new();
        let paths = NamedPaths::new(if decision.findings.is_empty() { "" } else { json });
        for finding in &decision.findings {
            let path = paths.path_with_item_names(&finding.path);
            let key = (Reverse(finding.severity), finding.rule, path);
            *here.entry(key.clone()).or_default() += 1;
            if !self.findings.contains_key(&key) {
                if self.findings.len() >= MAX_KEPT {
                    self.left_out += 1;
                    continue;
                }
                let tally = FindingTally {
                    message: crate::report::message_with_profile_that_sets_value(decision, finding)
                        .into_owned(),
                    fix: finding.fix.clone(),
                    because: finding.because.unwrap_or_default(),
                    pointer: finding.path.clone(),
                    count: 0,
                    template: false,
                    pods: 0,
                };
                self.findings.insert(key, tally);
            }
        }
        for (key, count) in here {
            let Some(tally) = self.findings.get_mut(&key) else { continue };
            tally.count = tally.count.max(count);
            tally.template |= !is_pod;
            tally.pods += usize::from(is_pod);
        }
    }

    fn add_changes(&mut self, decision: &Decision, containers: &[String], is_pod: bool) {
        for change in &decision.plan.changes {
            let owner =
                change.edit.container().and_then(|at| containers.get(at)).cloned().unwrap_or_default();
            let key = (owner, escaped_and_cut(&change.edit.summary(), 4_000));
            if !self.changes.contains_key(&key) && self.changes.len() >= MAX_KEPT {
                self.left_out += 1;
                continue;
            }
            let first = || ChangeTally { reason: change.reason.to_string(), template: false, pods: 0 };
            let tally = self.changes.entry(key).or_insert_with(first);
            tally.template |= !is_pod;
            tally.pods += usize::from(is_pod);
        }
    }

    fn merge(&mut self, other: Self) {
        self.makes_pods |= other.makes_pods;
        self.templates += other.templates;
        self.pods += other.pods;
        self.in_scope |= other.in_scope;
        if self.profile.is_none() && (other.profile.is_some() || self.evidence.is_none()) {
            (self.profile, self.evidence) = (other.profile, other.evidence);
        }
        self.profiles.extend(other.profiles);
        for (mark, pods) in other.injected {
            *self.injected.entry(mark).or_default() += pods;
        }
        self.refused |= other.refused;
        self.changed |= other.changed;
        self.refused_pods += other.refused_pods;
        self.changed_pods += other.changed_pods;
        self.outdated_pods += other.outdated_pods;
        self.restart_pods += other.restart_pods;
        self.unreadable_pods += other.unreadable_pods;
        self.left_out += other.left_out;
        for (key, tally) in other.findings {
            match self.findings.get_mut(&key) {
                Some(kept) => {
                    kept.count = kept.count.max(tally.count);
                    kept.template |= tally.template;
                    kept.pods += tally.pods;
                }
                None => {
                    self.findings.insert(key, tally);
                }
            }
        }
        for (key, tally) in other.changes {
            let kept = self.changes.entry(key).or_insert(ChangeTally { pods: 0, ..tally.clone() });
            kept.template |= tally.template;
            kept.pods += tally.pods;
        }
        for (rule, suppression) in other.suppressions {
            match self.suppressions.get_mut(&rule) {
                Some(kept) if suppression.state >= kept.state => {}
                _ => {
                    self.suppressions.insert(rule, suppression);
                }
            }
        }
    }

    /// Severity of the most severe finding.
    #[must_use]
    pub fn worst_severity(&self) -> Option<Severity> {
        self.findings.keys().next().map(|(severity, ..)| severity.0)
    }

    /// Whether a new pod of it would be refused: by its template, or by its pods where it has no template.
    #[must_use]
    pub fn would_be_refused(&self) -> bool {
        self.refused || self.refused_pods > 0
    }

    /// Whether the outcome for a new pod is unknown: one of the pods cannot be read, and no template is known.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.unreadable_pods > 0 && self.templates == 0
    }

    /// Whether a new pod of it would be changed.
    #[must_use]
    pub fn would_be_changed(&self) -> bool {
        self.changed || self.changed_pods > 0
    }

    /// Whether no profile matches.
    #[must_use]
    pub fn has_no_profile(&self) -> bool {
        self.findings.keys().any(|(_, rule, _)| *rule == NO_PROFILE.id)
    }

    /// Whether the report shows it.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.in_scope || self.unreadable_pods > 0 || !self.suppressions.is_empty()
    }
}
