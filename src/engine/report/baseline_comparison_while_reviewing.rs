//! Findings beside a baseline while they are found: each is new or unchanged at once, and what is gone is known in the
//! end. Memory grows with the baseline and with new findings.

use super::baseline_comparison::{Comparison, CoverageDifference, Incomparable};
use super::baseline_file_format::{Baseline, BaselineEntry, Coverage, severity_by_name};
use super::finding_identity_for_baselines::{ObjectName, PackedIdentity};
use crate::rules::Severity;
use crate::text::count_with_noun;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A finding beside the baseline, in the words of SARIF 2.1.0 (section 3.27.24).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BaselineState {
    /// The baseline does not have it, or has it with a lower severity.
    New,
    /// The baseline has it.
    Unchanged,
}

/// A baseline, and how much of it was found again.
#[derive(Debug)]
pub struct RunningBaselineComparison {
    /// The baseline without its entries.
    before: Baseline,
    known: BTreeMap<PackedIdentity, BaselineFinding>,
    /// Objects of the baseline, and whether they are among the inputs.
    objects: HashMap<PackedIdentity, bool>,
    new: BTreeMap<(PackedIdentity, Severity), usize>,
    unchanged: usize,
}

/// A finding of the baseline.
#[derive(Debug, Clone, Copy)]
struct BaselineFinding {
    severity: Severity,
    count: usize,
    /// Findings of this identity in this run, of any severity (count).
    found: usize,
}

impl RunningBaselineComparison {
    /// Begins with a baseline.
    #[must_use]
    pub fn new(mut before: Baseline) -> Self {
        let mut known: BTreeMap<PackedIdentity, BaselineFinding> = BTreeMap::new();
        let mut objects = HashMap::new();
        for BaselineEntry { fingerprint, severity: name, count } in std::mem::take(&mut before.entries) {
            objects.insert(PackedIdentity::object(&fingerprint.object), false);
            let severity = severity_by_name(&name).unwrap_or(Severity::Info);
            let first = BaselineFinding { severity, count: 0, found: 0 };
            let kept = known.entry(PackedIdentity::finding(&fingerprint)).or_insert(first);
            kept.severity = kept.severity.max(severity);
            kept.count = kept.count.saturating_add(count);
        }
        Self { before, known, objects, new: BTreeMap::new(), unchanged: 0 }
    }

    /// Notes that an object is among the inputs.
    pub fn note_object_among_inputs(&mut self, object: &ObjectName) {
        if let Some(seen) = self.objects.get_mut(&PackedIdentity::object(object)) {
            *seen = true;
        }
    }

    /// Takes a finding that occurs so many times.
    pub fn count_and_classify_finding(
        &mut self,
        finding: &PackedIdentity,
        severity: Severity,
        times: usize,
    ) -> BaselineState {
        let before = self.known.get_mut(finding).map_or(0, |known| {
            let left = known.count.saturating_sub(known.found);
            known.found += times;
            if known.severity >= severity { left } else { 0 }
        });
        self.unchanged += before.min(times);
        if before >= times {
            return BaselineState::Unchanged;
        }
        *self.new.entry((finding.clone(), severity)).or_default() += times - before;
        BaselineState::New
    }

    /// The result. A finding that is gone is resolved only if this run could have found it.
    #[must_use]
    pub fn finish_comparison(self, coverage: Coverage, unreadable: bool) -> Comparison {
        let Self { before, known, objects, new, unchanged } = self;
        let entry = |finding: &PackedIdentity, severity: Severity, count| BaselineEntry {
            fingerprint: finding.unpack(),
            severity: severity.to_string(),
            count,
        };
        let new = new.into_iter().map(|((finding, severity), count)| entry(&finding, severity, count));
        let mut result = Comparison { new: new.collect(), unchanged, ..Comparison::default() };
        let changes = CoverageDifference::between(
            &before,
            &Baseline::new(env!("CARGO_PKG_VERSION"), coverage, Vec::new()),
        );
        let (mut absent, mut findings) = (BTreeSet::new(), 0_usize);
        let mut gone: Vec<BaselineEntry> = Vec::new();
        for (finding, BaselineFinding { severity, count, found }) in known {
            if count <= found {
                continue;
            }
            let entry = entry(&finding, severity, count - found);
            let object = PackedIdentity::object(&entry.fingerprint.object);
            if objects.get(&object) == Some(&true) {
                gone.push(entry);
            } else {
                findings = findings.saturating_add(count - found);
                absent.insert(object);
            }
        }
        gone.sort();
        for entry in gone {
            result.add_gone_finding(entry, &changes);
        }
        if findings > 0 {
            let (findings, objects) =
                (self::count_with_noun(findings, "finding"), self::count_with_noun(absent.len(), "object"));
            let reason = format!("{findings} of {objects} not among the inputs");
            result.incomparable.push(Incomparable { finding: None, reason });
        }
        if unreadable { result.make_resolved_incomparable() } else { result }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding_identity_for_baselines::FindingIdentity;
    use super::*;

    fn fingerprint(rule: &str, name: &str) -> FindingIdentity {
        let object = ObjectName {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            name: Some(name.to_owned()),
            ..ObjectName::default()
        };
        FindingIdentity { rule: rule.to_owned(), object, path: "/spec".to_owned() }
    }

    fn since(entries: &[(&str, &str, usize)]) -> RunningBaselineComparison {
        let entry = |(rule, name, count): &(&str, &str, usize)| BaselineEntry {
            fingerprint: fingerprint(rule, name),
            severity: "warning".to_owned(),
            count: *count,
        };
        RunningBaselineComparison::new(Baseline::new(
            "0.1.0",
            Coverage::default(),
            entries.iter().map(entry).collect(),
        ))
    }

    #[test]
    fn as_many_as_before_are_unchanged() {
        let mut since = since(&[("FAB501", "a", 2), ("FAB412", "a", 1)]);
        since.note_object_among_inputs(&fingerprint("", "a").object);
        let mut add = |severity, times| {
            since.count_and_classify_finding(
                &PackedIdentity::finding(&fingerprint("FAB501", "a")),
                severity,
                times,
            )
        };
        assert_eq!(add(Severity::Info, 1), BaselineState::Unchanged);
        assert_eq!(add(Severity::Error, 1), BaselineState::New);
        // One of two is new.
        let mut since_two = self::since(&[("FAB501", "a", 2)]);
        assert_eq!(
            since_two.count_and_classify_finding(
                &PackedIdentity::finding(&fingerprint("FAB501", "a")),
                Severity::Warning,
                3
            ),
            BaselineState::New
        );
        let found = since_two.finish_comparison(Coverage::default(), false);
        assert_eq!((found.new.first().map(|e| e.count), found.unchanged), (Some(1), 2));
        let found = since.finish_comparison(Coverage::default(), false);
        assert_eq!((found.new.len(), found.unchanged, found.resolved.len()), (1, 1, 1));
        assert_eq!(found.worst_new_severity(), Some(Severity::Error));
    }

    #[test]
    fn what_could_not_be_found_is_not_resolved() {
        let found = since(&[("FAB501", "a", 2)]).finish_comparison(Coverage::default(), false);
        assert_eq!((found.resolved.len(), found.incomparable.len()), (0, 1));
        let mut unreadable = since(&[("FAB501", "a", 2)]);
        unreadable.note_object_among_inputs(&fingerprint("", "a").object);
        let found = unreadable.finish_comparison(Coverage::default(), true);
        assert_eq!((found.resolved.len(), found.incomparable.len()), (0, 1));
        let mut unknown = since(&[("FAB000", "a", 2)]);
        unknown.before.rules.insert("FAB000".to_owned());
        unknown.note_object_among_inputs(&fingerprint("", "a").object);
        let found = unknown.finish_comparison(Coverage::default(), false);
        assert_eq!((found.resolved.len(), found.incomparable.len()), (0, 1));
    }
}
