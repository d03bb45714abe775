//! `ignore`: findings that a site accepts in some of its files. They do not fail the command. The verdict stays that of the
//! webhook, which does not know this file.

use super::path_patterns::{does_path_match_pattern, names_of_path};
use crate::decision_limits::RunBudget;
use crate::report::{Located, ReviewedObject};
use crate::rules::which_findings_annotations_ignore::Suppressed;
use crate::rules::{self, RULES};
use crate::text::nearest_if_probably_meant;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An entry, as a file has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IgnoreEntry {
    rules: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    reason: String,
}

#[derive(Debug, Clone)]
struct Ignore {
    rules: BTreeSet<&'static str>,
    /// Patterns by their names, relative to the directory of the configuration; empty for all files.
    paths: Vec<Vec<String>>,
    reason: String,
    /// What a comparison of its paths with one name takes, as a number of names.
    cost: usize,
}

/// Longest reason (characters): it is repeated for each finding.
const MAX_REASON: usize = 500;

/// Names that are compared in one unit of the work of a run.
const NAMES_PER_WORK: usize = 10;
/// The parts of a name between its `*` are searched one after the other, and each takes as long as so many names.
const NAMES_PER_STAR: usize = 8;

/// Most entries of a configuration, and most paths of all entries (count). Each file is compared with them.
const MAX_ENTRIES_OR_PATHS: usize = 2_000;

/// A file, and the places of the entries that are for it.
type EntriesOfFile = Option<(String, Arc<[usize]>)>;

/// The ignored findings of one configuration.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Ignores {
    directory: PathBuf,
    entries: Arc<[Ignore]>,
    /// For the file that was asked for last: a file may have thousands of documents.
    of_last_file: Arc<Mutex<EntriesOfFile>>,
}

impl Ignores {
    /// Checks entries. An error has the pointer of the wrong value.
    pub(super) fn check_and_take_entries(
        entries: Vec<IgnoreEntry>,
        directory: &Path,
    ) -> Result<Self, (String, String)> {
        let mut read = Vec::new();
        let mut patterns = 0;
        for (at, IgnoreEntry { rules: ids, paths, reason }) in entries.into_iter().enumerate() {
            if reason.trim().is_empty() {
                return Err((format!("/ignore/{at}/reason"), "give a reason".to_owned()));
            }
            if reason.chars().count() > MAX_REASON {
                let message = format!("a reason has at most {MAX_REASON} characters");
                return Err((format!("/ignore/{at}/reason"), message));
            }
            if ids.is_empty() {
                return Err((format!("/ignore/{at}/rules"), "name at least one rule".to_owned()));
            }
            let mut rules = BTreeSet::new();
            for (number, id) in ids.iter().enumerate() {
                let rule = rules::find_rule(id).ok_or_else(|| {
                    let near =
                        nearest_if_probably_meant(&id.to_ascii_uppercase(), RULES.iter().map(|rule| rule.id));
                    let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                    (format!("/ignore/{at}/rules/{number}"), format!("unknown rule {id:?}{near}"))
                })?;
                rules.insert(rule.id);
            }
            patterns += paths.len();
            if at.max(patterns) > MAX_ENTRIES_OR_PATHS {
                let message = format!("a configuration has at most {MAX_ENTRIES_OR_PATHS} entries and paths");
                return Err((format!("/ignore/{at}"), message));
            }
            let paths: Vec<Vec<String>> = paths.iter().map(|path| names_of_path(path)).collect();
            let cost =
                paths.iter().flatten().map(|name| 1 + NAMES_PER_STAR * name.matches('*').count()).sum();
            read.push(Ignore { rules, paths, reason, cost });
        }
        Ok(Self { entries: read.into(), ..Self::default() }.for_directory(directory))
    }

    /// The same entries, with paths that start at another directory.
    pub(super) fn for_directory(&self, directory: &Path) -> Self {
        let directory = std::path::absolute(directory.join(".")).unwrap_or_default();
        Self { directory, entries: Arc::clone(&self.entries), ..Self::default() }
    }

    fn places_of_entries_for_file(&self, file: &str, work: &RunBudget) -> Arc<[usize]> {
        let mut last = self.of_last_file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, places)) = last.as_ref().filter(|(known, _)| known == file) {
            return Arc::clone(places);
        }
        let whole = std::path::absolute(file).unwrap_or_default();
        let path = whole.strip_prefix(&self.directory).unwrap_or(&whole).display().to_string();
        let path = names_of_path(&path);
        // At worst, each name of a pattern is compared with each name of the path.
        let cost = self.entries.iter().map(|ignore| ignore.cost).sum::<usize>();
        work.spend(cost.saturating_mul(path.len()) / NAMES_PER_WORK);
        let is_for_file = |ignore: &Ignore| {
            ignore.paths.is_empty()
                || ignore.paths.iter().any(|pattern| does_path_match_pattern(pattern, &path))
        };
        let places = self.entries.iter().enumerate().filter(|(_, ignore)| is_for_file(ignore));
        let places: Arc<[usize]> = places.map(|(place, _)| place).collect();
        *last = Some((file.to_owned(), Arc::clone(&places)));
        places
    }

    /// Sets the findings of a file aside that are ignored.
    pub(in crate::cli) fn set_ignored_findings_aside(
        &self,
        file: &str,
        results: &mut [ReviewedObject],
        work: &RunBudget,
    ) {
        if self.entries.is_empty() || results.iter().all(|r| r.findings.is_empty()) {
            return;
        }
        let places = self.places_of_entries_for_file(file, work);
        // The first entry with each rule: a file may have thousands of entries and of findings.
        let entries = places.iter().filter_map(|place| self.entries.get(*place));
        let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
        for Ignore { rules, reason, .. } in entries {
            for rule in rules {
                reasons.entry(rule).or_insert(reason);
            }
            work.spend(rules.len());
        }
        for r in results {
            let waived = r.findings.extract_if(.., |found| reasons.contains_key(found.item.rule));
            let waived = waived.filter_map(|Located { item: finding, place, repeats, baseline }| {
                let reason = (*reasons.get(finding.rule)?).to_owned();
                Some(Located { item: Suppressed { finding, reason }, place, repeats, baseline })
            });
            r.waived.extend(waived);
        }
    }
}
