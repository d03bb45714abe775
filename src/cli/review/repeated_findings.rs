//! Reports the same finding once: from one YAML anchor, or on the same objects seen from each of them.

use crate::manifest::Document;
use crate::report::{Located, Reviewed};
use crate::rules::{Finding, Severity};
use std::collections::{BTreeMap, HashMap};

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
pub(super) fn from_anchors(document: &Document, results: &mut [Reviewed]) {
    if !document.has_aliases() {
        return;
    }
    let mut seen: HashMap<Copied, First> = HashMap::new();
    let mut repeats: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (index, result) in results.iter_mut().enumerate() {
        let base = format!("{}{}", result.source.pointer, result.template.as_deref().unwrap_or_default());
        let mut number = 0;
        result.findings.retain(|found| {
            let finding = &found.item;
            let pointer = format!("{base}{}", finding.path);
            // A finding on a whole pod is about that pod.
            let origin = if finding.path.is_empty() { None } else { document.origin(&pointer) };
            let Some(origin) = origin else {
                number += 1;
                return true;
            };
            // Fields that are missing have the place of the object around them.
            let missing = if document.get(&pointer).is_some() { None } else { pointer.rsplit('/').next() };
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
                        result.repeated.count(finding.severity);
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
pub(super) struct Pairs {
    /// The rule, the object whose result has the finding, and the other one; with the severity.
    reported: HashMap<(&'static str, String, String), Severity>,
}

impl Pairs {
    /// Folds the findings of an object that differ in the other object only, and those that an earlier result has from
    /// the other side.
    pub(super) fn fold(&mut self, result: &mut Reviewed) {
        let name = result.name.clone().unwrap_or_default();
        let mut first: HashMap<(&'static str, String), usize> = HashMap::new();
        let mut kept: Vec<Located<Finding>> = Vec::new();
        for found in std::mem::take(&mut result.findings) {
            let (rule, path) = (found.item.rule, found.item.path.clone());
            let Some(other) = found.item.other.clone() else {
                kept.push(found);
                continue;
            };
            let before = self.reported.get(&(rule, other.clone(), name.clone()));
            if before.is_some_and(|severity| *severity >= found.item.severity) {
                result.repeated.count(found.item.severity);
                continue;
            }
            let most = self.reported.entry((rule, name.clone(), other)).or_insert(found.item.severity);
            *most = found.item.severity.max(*most);
            match first.get(&(rule, path.clone())).and_then(|index| kept.get_mut(*index)) {
                Some(first) => first.repeats += 1,
                None => {
                    first.insert((rule, path), kept.len());
                    kept.push(found);
                }
            }
        }
        result.findings = kept;
    }
}
