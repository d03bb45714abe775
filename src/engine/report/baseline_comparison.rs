//! What has changed since a baseline. A finding that one of the two runs could not see is incomparable: it is neither new
//! nor resolved.

use super::baseline_file_format::{Baseline, BaselineEntry, KindNotRead, severity_by_name};
use super::finding_identity_for_baselines::FindingIdentity;
use super::unread_by_audit::{Reach, group_of_api_version, which_results_depend_on_kind};
use crate::rules::Severity;
use crate::text::cut_without_runner_commands as shown_and_cut;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Findings that the baseline does not have.
    pub new: Vec<BaselineEntry>,
    /// Findings of the baseline that are gone.
    pub resolved: Vec<BaselineEntry>,
    /// Findings that both have (count).
    pub unchanged: usize,
    /// Findings and kinds that cannot be compared.
    pub incomparable: Vec<Incomparable>,
}

/// What cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Incomparable {
    /// The finding; null where a whole kind or namespace cannot be compared.
    pub finding: Option<BaselineEntry>,
    /// Reason.
    pub reason: String,
}

impl Comparison {
    /// Compares a run with an earlier one.
    #[must_use]
    pub fn compare_runs(before: &Baseline, now: &Baseline) -> Self {
        let changes = CoverageDifference::between(before, now);
        let mut result = Self::default();
        let coverage =
            changes.lost.iter().map(|reason| Incomparable { finding: None, reason: reason.clone() });
        result.incomparable.extend(coverage);
        let counts = |baseline: &Baseline| -> BTreeMap<FindingIdentity, (usize, String)> {
            let mut all: BTreeMap<FindingIdentity, (usize, String)> = BTreeMap::new();
            for entry in &baseline.entries {
                let count = all.entry(entry.fingerprint.clone()).or_insert((0, entry.severity.clone()));
                count.0 = count.0.saturating_add(entry.count);
                if severity_by_name(&entry.severity) > severity_by_name(&count.1) {
                    count.1.clone_from(&entry.severity);
                }
            }
            all
        };
        let (mut old, new) = (counts(before), counts(now));
        for (fingerprint, (count, severity)) in new {
            // A finding that has become more severe counts as new.
            let known = old.remove(&fingerprint);
            let known =
                known.filter(|(_, then)| self::severity_by_name(&severity) <= self::severity_by_name(then));
            let known = known.map_or(0, |(count, _)| count);
            result.unchanged = result.unchanged.saturating_add(known.min(count));
            let entry =
                |count| BaselineEntry { fingerprint: fingerprint.clone(), severity: severity.clone(), count };
            if count > known {
                result.add_finding(entry(count - known), &changes, true);
            } else if known > count {
                result.add_finding(entry(known - count), &changes, false);
            }
        }
        for (fingerprint, (count, severity)) in old {
            result.add_finding(BaselineEntry { fingerprint, severity, count }, &changes, false);
        }
        result
    }

    /// For a run that had unreadable inputs: what is gone may be in one of them.
    #[must_use]
    pub fn make_resolved_incomparable(mut self) -> Self {
        let reason = "this run could not read all inputs";
        let doubtful = self.resolved.drain(..);
        self.incomparable
            .extend(doubtful.map(|entry| Incomparable { finding: Some(entry), reason: reason.to_owned() }));
        self
    }

    /// Adds a finding of the baseline that is gone.
    pub(super) fn add_gone_finding(&mut self, entry: BaselineEntry, changes: &CoverageDifference) {
        self.add_finding(entry, changes, false);
    }

    /// Adds the result for other inputs.
    pub fn add_result_of_other_inputs(&mut self, other: Self) {
        self.new.extend(other.new);
        self.resolved.extend(other.resolved);
        self.unchanged = self.unchanged.saturating_add(other.unchanged);
        self.incomparable.extend(other.incomparable);
    }

    fn add_finding(&mut self, entry: BaselineEntry, changes: &CoverageDifference, is_new: bool) {
        match changes.why_incomparable(&entry.fingerprint) {
            Some(reason) => self.incomparable.push(Incomparable { finding: Some(entry), reason }),
            None if is_new => self.new.push(entry),
            None => self.resolved.push(entry),
        }
    }

    /// The most severe new finding.
    #[must_use]
    pub fn worst_new_severity(&self) -> Option<Severity> {
        self.new.iter().filter_map(|entry| severity_by_name(&entry.severity)).max()
    }
}

/// What one of two runs could see and the other could not.
#[derive(Default)]
pub(super) struct CoverageDifference {
    /// Kinds that this run could not read and the earlier one could, and a smaller namespace: they may hide findings.
    lost: Vec<String>,
    /// Rules of only one of the versions.
    rules: BTreeSet<String>,
    /// Namespace of the run that saw less; `None` where both saw the same.
    only: Option<Option<String>>,
    kinds: Vec<(KindNotRead, String)>,
}

impl CoverageDifference {
    pub(super) fn between(before: &Baseline, now: &Baseline) -> Self {
        let mut changes = Self {
            rules: before.rules.symmetric_difference(&now.rules).cloned().collect(),
            ..Self::default()
        };
        let (then, at_present) = (&before.coverage, &now.coverage);
        if then.namespace != at_present.namespace {
            // Both saw nothing in common if each was about one namespace.
            changes.only = Some(match (&then.namespace, &at_present.namespace) {
                (Some(_), Some(_)) => None,
                (one, other) => one.clone().or_else(|| other.clone()),
            });
            if let Some(namespace) = &at_present.namespace {
                changes
                    .lost
                    .push(format!("this run is only about namespace {namespace}, the baseline is not"));
            }
        }
        // Another version of the tool may read a kind in another version.
        let kind = |unseen: &KindNotRead| {
            (group_of_api_version(&unseen.api_version).to_owned(), unseen.kind.clone())
        };
        let [before, now] = [&then.gaps, &at_present.gaps]
            .map(|gaps| gaps.iter().map(|unseen| (kind(unseen), unseen)).collect::<BTreeMap<_, _>>());
        let lost =
            now.iter().filter(|(kind, _)| !before.contains_key(*kind)).map(|(_, unseen)| (*unseen, true));
        let found =
            before.iter().filter(|(kind, _)| !now.contains_key(*kind)).map(|(_, unseen)| (*unseen, false));
        for (unseen, lost) in lost.chain(found) {
            let which = if lost { "this run" } else { "the baseline" };
            let reason = format!("{} objects are unknown to {which}", shown_and_cut(&unseen.kind, 63));
            if lost {
                changes.lost.push(reason.clone());
            }
            changes.kinds.push((unseen.clone(), reason));
        }
        changes
    }

    /// Why a finding that only one of the two has proves nothing.
    fn why_incomparable(&self, fingerprint: &FindingIdentity) -> Option<String> {
        if self.rules.contains(&fingerprint.rule) {
            let rule = shown_and_cut(&fingerprint.rule, 20);
            return Some(format!("only one of the two versions has rule {rule}"));
        }
        let object = &fingerprint.object;
        if let Some(only) = &self.only
            && (only.is_none() || object.namespace != *only)
        {
            return Some("the namespace is part of only one of the two runs".to_owned());
        }
        let touched =
            |unseen: &KindNotRead| match which_results_depend_on_kind(&unseen.api_version, &unseen.kind) {
                Reach::All => true,
                Reach::Own => {
                    unseen.kind == object.kind && group_of_api_version(&unseen.api_version) == object.group()
                }
            };
        self.kinds.iter().find(|(unseen, _)| touched(unseen)).map(|(_, reason)| reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::baseline_file_format::Coverage;
    use super::super::finding_identity_for_baselines::ObjectName;
    use super::*;

    fn entry(rule: &str, namespace: &str, kind: &str, count: usize) -> BaselineEntry {
        let object = ObjectName {
            namespace: Some(namespace.to_owned()),
            api_version: "batch/v1".to_owned(),
            kind: kind.to_owned(),
            name: Some("a".to_owned()),
            generate_name: None,
        };
        let fingerprint = FindingIdentity { rule: rule.to_owned(), object, path: "/spec".to_owned() };
        BaselineEntry { fingerprint, severity: "warning".to_owned(), count }
    }

    fn of(entries: Vec<BaselineEntry>) -> Baseline {
        Baseline::new("0.1.0", Coverage::default(), entries)
    }

    fn without(mut baseline: Baseline, api_version: &str, kind: &str) -> Baseline {
        let unseen = KindNotRead { api_version: api_version.to_owned(), kind: kind.to_owned() };
        baseline.coverage.gaps.insert(unseen);
        baseline
    }

    /// Whoever writes the file chooses the counts.
    #[test]
    fn counts_of_a_file_do_not_overflow() {
        let most = |rule| entry(rule, "n", "Job", usize::MAX);
        let before = of(vec![most("FAB501"), most("FAB501"), most("FAB412")]);
        let mut found = Comparison::compare_runs(&before, &of(Vec::new()));
        found.add_result_of_other_inputs(Comparison::compare_runs(&before, &before));
        found.add_result_of_other_inputs(Comparison::compare_runs(&before, &before));
        assert_eq!((found.resolved.len(), found.unchanged), (2, usize::MAX));
    }

    #[test]
    fn new_resolved_and_unchanged() {
        let before = of(vec![entry("FAB501", "n", "Job", 2), entry("FAB412", "n", "Job", 1)]);
        let now = of(vec![entry("FAB501", "n", "Job", 3), entry("FAB416", "n", "Job", 1)]);
        let found = Comparison::compare_runs(&before, &now);
        let rules = |entries: &[BaselineEntry]| -> Vec<(String, usize)> {
            entries.iter().map(|e| (e.fingerprint.rule.clone(), e.count)).collect()
        };
        assert_eq!(rules(&found.new), [("FAB416".to_owned(), 1), ("FAB501".to_owned(), 1)]);
        assert_eq!(rules(&found.resolved), [("FAB412".to_owned(), 1)]);
        assert_eq!((found.unchanged, found.incomparable.len()), (2, 0));
        assert_eq!(found.worst_new_severity(), Some(Severity::Warning));
    }

    #[test]
    fn a_finding_that_is_more_severe_now_is_new() {
        let mut worse = entry("FAB501", "n", "Job", 1);
        worse.severity = "error".to_owned();
        let found =
            Comparison::compare_runs(&of(vec![entry("FAB501", "n", "Job", 1)]), &of(vec![worse.clone()]));
        assert_eq!(
            (found.new.len(), found.resolved.len(), found.worst_new_severity()),
            (1, 0, Some(Severity::Error))
        );
        let found = Comparison::compare_runs(&of(vec![worse]), &of(vec![entry("FAB501", "n", "Job", 1)]));
        assert_eq!((found.new.len(), found.unchanged), (0, 1));
    }

    #[test]
    fn what_one_run_could_not_see_is_incomparable() {
        let one = || of(vec![entry("FAB501", "n", "Job", 1)]);
        // A kind that is lost: the finding is not resolved, and the loss itself is reported.
        let found = Comparison::compare_runs(&one(), &without(of(Vec::new()), "batch/v1", "Job"));
        assert_eq!((found.new.len(), found.resolved.len(), found.incomparable.len()), (0, 0, 2));
        // A kind that was not read then: the finding is not new.
        let found = Comparison::compare_runs(&without(of(Vec::new()), "v1", "Pod"), &one());
        assert_eq!((found.new.len(), found.resolved.len(), found.incomparable.len()), (0, 0, 1));
        // A kind that does not matter for the object.
        let found = Comparison::compare_runs(&without(of(Vec::new()), "apps/v1", "Deployment"), &one());
        assert_eq!((found.new.len(), found.incomparable.len()), (1, 0));
        // The same kind of another group.
        let found =
            Comparison::compare_runs(&without(of(Vec::new()), "batch.volcano.sh/v1alpha1", "Job"), &one());
        assert_eq!((found.new.len(), found.incomparable.len()), (1, 0));
        // A kind that the two versions of the tool read in two versions.
        let found = Comparison::compare_runs(
            &without(one(), "resource.k8s.io/v1beta1", "DeviceClass"),
            &without(one(), "resource.k8s.io/v1", "DeviceClass"),
        );
        assert_eq!((found.unchanged, found.incomparable.len()), (1, 0));
        // The same gap in both changes nothing.
        let found = Comparison::compare_runs(&without(one(), "v1", "Pod"), &without(one(), "v1", "Pod"));
        assert_eq!((found.unchanged, found.incomparable.len()), (1, 0));
    }

    #[test]
    fn other_rules_and_other_namespaces_are_incomparable() {
        let mut older = of(vec![entry("FAB999", "n", "Job", 1)]);
        older.rules.insert("FAB999".to_owned());
        older.rules.remove("FAB501");
        let found = Comparison::compare_runs(&older, &of(vec![entry("FAB501", "n", "Job", 1)]));
        assert_eq!((found.new.len(), found.resolved.len(), found.incomparable.len()), (0, 0, 2));
        let all = of(vec![entry("FAB501", "n", "Job", 1), entry("FAB501", "m", "Job", 1)]);
        let mut narrow = of(Vec::new());
        narrow.coverage.namespace = Some("n".to_owned());
        let found = Comparison::compare_runs(&all, &narrow);
        assert_eq!((found.resolved.len(), found.incomparable.len()), (1, 2));
    }

    #[test]
    fn a_file_of_something_else_says_what_it_is() {
        let wrong = |text: &str| Baseline::parse(text).unwrap_err().to_string();
        assert!(wrong("{").starts_with("not a baseline: "));
        assert!(wrong("{}").contains("the file has no \"schema\""));
        assert!(wrong(r#"{"schema":"fabric-admission.dev/audit/v1"}"#).contains("--write-baseline"));
        assert!(wrong(r#"{"schema":"fabric-admission.dev/baseline/v7"}"#).contains("another version"));
        assert!(wrong(r#"{"schema":"kubescape/v1"}"#).contains("kubescape/v1"));
        let text = serde_json::to_string(&of(vec![entry("FAB501", "n", "Job", 1)])).unwrap();
        assert_eq!(Baseline::parse(&text).unwrap(), of(vec![entry("FAB501", "n", "Job", 1)]));
    }
}
