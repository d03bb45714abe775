//! Reports the same finding once: from one YAML anchor, or on the same objects seen from each of them.

use crate::manifest::{Document, Part};
use crate::report::{Located, ReviewedObject};
use crate::rules::{Finding, Severity, find_rule};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A finding as all copies of an anchored value have it.
#[derive(PartialEq, Eq, Hash)]
struct Copied {
    rule: &'static str,
    /// Where the file has the value.
    at: (u32, u32),
    /// The place in its text.
    spot: Option<(u32, u32)>,
    /// The field of it that is missing.
    missing: Option<String>,
}

/// The finding that stands for its copies: its pointer in the document, its severity, its result and its number there.
struct First {
    pointer: String,
    severity: Severity,
    result: usize,
    number: usize,
}

/// Folds findings on values that YAML aliases repeat into the first of them.
pub(super) fn fold_copies_of_anchored_values(document: &Document, results: &mut [ReviewedObject]) {
    if !document.has_aliases() {
        return;
    }
    let mut seen: HashMap<Copied, First> = HashMap::new();
    let mut repeats: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (index, result) in results.iter_mut().enumerate() {
        let template = result.template.as_deref().unwrap_or_default();
        let base = format!("{}{template}", result.source.pointer);
        // A corrected text is not in the document.
        let of_text = result.part.as_ref().map(|range| Part { start: range.start, pointer: "" });
        let part = of_text.unwrap_or(Part { start: result.start, pointer: template });
        let paths: Vec<&str> = result.findings.iter().map(|found| found.item.path.as_str()).collect();
        let mut origins = document.source_positions_of_copies(part, &paths).into_iter();
        let mut number = 0;
        result.findings.retain(|found| {
            let finding = &found.item;
            let pointer = format!("{base}{}", finding.path);
            // A finding on a whole pod is about that pod.
            let origin = origins.next().flatten().filter(|_| !finding.path.is_empty());
            let Some((origin, exists)) = origin else {
                number += 1;
                return true;
            };
            // Fields that are missing have the place of the object around them.
            let missing = if exists { None } else { pointer.rsplit('/').next() };
            let key = Copied {
                rule: finding.rule,
                at: (origin.line, origin.column),
                spot: finding.spot.map(|spot| (spot.line, spot.column)),
                missing: missing.map(str::to_owned),
            };
            match seen.get(&key) {
                Some(first) if first.pointer != pointer && first.severity >= finding.severity => {
                    *repeats.entry((first.result, first.number)).or_default() += 1;
                    // A copy in the same object is counted with its first only.
                    if first.result != index {
                        result.repeated.count_finding(finding.severity);
                    }
                    return false;
                }
                Some(_) => {}
                None => {
                    let first = First { pointer, severity: finding.severity, result: index, number };
                    seen.insert(key, first);
                }
            }
            number += 1;
            true
        });
    }
    for ((result, number), count) in repeats {
        let found = results.get_mut(result).and_then(|result| result.findings.get_mut(number));
        if let Some(found) = found {
            found.repeats += count;
        }
    }
}

/// Findings of a run that are about two objects each, such as policies that take the same VFs.
#[derive(Default)]
pub(super) struct FindingsAboutTwoObjects {
    /// The rule, the object whose result has the finding, and the other one; with the severity.
    reported: HashMap<(&'static str, String, String), Severity>,
    /// The findings that name an object, by the rule and the object.
    groups: HashMap<(&'static str, String), BTreeSet<usize>>,
    /// The severity of each of these findings.
    severities: Vec<Severity>,
    /// The rule, the other object and the text of findings for information.
    noted: HashSet<(&'static str, String, String)>,
}

impl FindingsAboutTwoObjects {
    /// Folds the findings of an object that differ in the other object only, those that an earlier result has from the other
    /// side or about both objects and a third one, and information on the other object that an earlier result has.
    pub(super) fn fold_repeated_findings(&mut self, result: &mut ReviewedObject) {
        let name = result.name.clone().unwrap_or_default();
        let mut first: HashMap<(&'static str, String), (usize, usize)> = HashMap::new();
        let mut kept: Vec<Located<Finding>> = Vec::new();
        let earlier = self.severities.len();
        for found in std::mem::take(&mut result.findings) {
            let (rule, path, severity) = (found.item.rule, found.item.path.clone(), found.item.severity);
            let Some(other) = found.item.other.clone() else {
                kept.push(found);
                continue;
            };
            let noted = severity == Severity::Info
                && !self.noted.insert((rule, other.clone(), found.item.message.clone()));
            let before = self.reported.get(&(rule, other.clone(), name.clone()));
            // It is hidden, and about the other object.
            if noted && find_rule(rule).is_some_and(|rule| rule.quiet) {
                continue;
            }
            let grouped = || self.group(rule, &name, &other, severity).is_some_and(|group| group < earlier);
            if noted || before.is_some_and(|s| *s >= severity) || grouped() {
                result.repeated.count_finding(severity);
                continue;
            }
            let most = self.reported.entry((rule, name.clone(), other.clone())).or_insert(severity);
            *most = severity.max(*most);
            let known = first.get(&(rule, path.clone())).copied();
            let group = known.map_or(self.severities.len(), |(_, group)| group);
            match known.and_then(|(index, _)| kept.get_mut(index)) {
                Some(first) => first.repeats += 1,
                None => {
                    first.insert((rule, path), (kept.len(), group));
                    self.severities.push(severity);
                    kept.push(found);
                }
            }
            for member in [name.clone(), other] {
                self.groups.entry((rule, member)).or_default().insert(group);
            }
        }
        result.findings = kept;
    }

    /// The first finding of at least this severity that names both objects.
    fn group(&self, rule: &'static str, name: &str, other: &str, severity: Severity) -> Option<usize> {
        let of = |name: &str| self.groups.get(&(rule, name.to_owned()));
        let severe = |group: &&usize| self.severities.get(**group).is_some_and(|s| *s >= severity);
        of(name)?.intersection(of(other)?).find(severe).copied()
    }
}
