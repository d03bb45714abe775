//! The catalogue of known failures: each is covered by a rule, or docs/rules-not-taken.md says why not.

use crate::support::root;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::rules::{Page, RULES};
use std::collections::{BTreeMap, BTreeSet};

/// Prefix and last number of each subject.
const SUBJECTS: [(&str, usize); 16] = [
    ("SRP", 28),
    ("SRX", 9),
    ("SRN", 18),
    ("SOC", 5),
    ("NVN", 28),
    ("NAD", 21),
    ("IPM", 13),
    ("ANN", 17),
    ("RES", 17),
    ("SEC", 14),
    ("SHM", 11),
    ("HNT", 6),
    ("XOB", 22),
    ("DRA", 12),
    ("MUT", 16),
    ("NB", 55),
];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("known_failures::every_condition_is_a_rule_or_has_a_reason", complete);
}

fn complete() -> Outcome {
    let page = std::fs::read_to_string(root().join("docs/rules-not-taken.md"))?;
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ").map(|c| c.trim_end_matches('|').trim());
        Some((cells.next()?, (cells.next()?, cells.next()?)))
    });
    let not_taken: BTreeMap<&str, (&str, &str)> =
        rows.filter(|(id, _)| id.contains(char::is_numeric)).collect();
    let pages: Vec<Page> = RULES.iter().map(|rule| rule.page()).collect();
    let taken: BTreeSet<&str> = pages.iter().flat_map(|p| p.catalogue.iter().map(String::as_str)).collect();
    let known: BTreeSet<String> = SUBJECTS.iter().flat_map(|(prefix, last)| numbers(prefix, *last)).collect();
    let mut wrong = Vec::new();
    for id in &known {
        match (taken.contains(id.as_str()), not_taken.get(id.as_str())) {
            (true, Some(_)) => wrong.push(format!("{id} is a rule and stands in the page")),
            (false, None) => wrong.push(format!("{id} is not a rule, and the page does not say why")),
            (false, Some((what, why)))
                if what.len() < 10 || why.len() < 10 || what.contains("to be judged") =>
            {
                wrong.push(format!("{id}: the page says too little"));
            }
            _ => {}
        }
    }
    let named = taken.iter().chain(not_taken.keys());
    wrong.extend(named.filter(|id| !known.contains(**id)).map(|id| format!("{id} is not in the catalogue")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn numbers(prefix: &str, last: usize) -> impl Iterator<Item = String> {
    // The conditions of NCCL were numbered apart from the others.
    (1..=last).map(move |n| if prefix == "NB" { format!("NB{n:02}") } else { format!("{prefix}-{n:03}") })
}
