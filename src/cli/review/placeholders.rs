//! Placeholders that nothing has replaced: one finding per file, in place of all those that they cause.

use super::document_results::{DocumentReview, GivenObject, ObjectWithPlaceholders};
use super::findings_in_text::innermost_result_of;
use crate::cli::input::place_of_value;
use crate::pod::workload_kinds;
use crate::report::{Located, Repeated, ReviewedObject};
use crate::rules::inputs::{self, Placeholder, Syntax};
use crate::rules::{Finding, Severity, does_any_object_rule_run_on_kind, find_rule};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most different placeholders whose text is looked for in messages (count).
const MAX_TEXTS_COMPARED: usize = 64;

impl ObjectWithPlaceholders {
    /// Moves behind so many results of the document.
    pub(super) fn move_behind_results(&mut self, before: usize) {
        self.home = self.home.map(|home| home + before);
        self.caused.iter_mut().for_each(|(result, _)| *result += before);
    }

    fn severity(&self) -> Severity {
        let worst = self.caused.iter().filter_map(|(_, caused)| caused.worst).max();
        let least = worst.unwrap_or(Severity::Warning).max(Severity::Warning);
        if self.known { least } else { Severity::Warning }
    }
}

/// Takes the findings that placeholders cause out of the results of an object: for each tool that would replace them.
pub(super) fn take_out_findings_of_placeholders(
    given: GivenObject<'_>,
    results: &mut [ReviewedObject],
    own: impl Fn() -> ReviewedObject,
) -> Vec<ObjectWithPlaceholders> {
    if !results.iter().any(|result| result.decision.in_scope) {
        return Vec::new();
    }
    let mut found: BTreeMap<Syntax, Vec<Placeholder>> = BTreeMap::new();
    for placeholder in inputs::find_placeholders(given.object.json) {
        found.entry(placeholder.syntax()).or_default().push(placeholder);
    }
    let of = |(syntax, found)| take_out_findings_of_one_tool(given, results, syntax, found, &own);
    found.into_iter().filter_map(of).collect()
}

fn take_out_findings_of_one_tool(
    given: GivenObject<'_>,
    results: &mut [ReviewedObject],
    syntax: Syntax,
    found: Vec<Placeholder>,
    own: impl Fn() -> ReviewedObject,
) -> Option<ObjectWithPlaceholders> {
    let object = given.object;
    let mut caused = Vec::new();
    let mut worst: Option<Worst<'_>> = None;
    let mut by_pointer: HashMap<&str, &Placeholder> = HashMap::new();
    let mut texts: HashSet<&str> = HashSet::new();
    let mut by_text: Vec<&Placeholder> = Vec::new();
    for placeholder in &found {
        by_pointer.entry(&placeholder.pointer).or_insert(placeholder);
        if by_text.len() < MAX_TEXTS_COMPARED && texts.insert(&placeholder.text) {
            by_text.push(placeholder);
        }
    }
    for (number, result) in results.iter_mut().enumerate() {
        let base = result.template.clone().unwrap_or_default();
        let mut taken = Repeated::default();
        result.findings.retain(|f| {
            let path = format!("{base}{}", f.item.path);
            let quoted = || by_text.iter().find(|p| f.item.message.contains(&p.text));
            let cause = by_pointer.get(path.as_str()).or_else(quoted);
            let Some(cause) = cause.copied() else { return true };
            taken.count_finding(f.item.severity);
            let rank = (f.item.severity, find_rule(f.item.rule).is_some_and(|rule| rule.names_placeholders));
            if worst.as_ref().is_none_or(|worst| worst.rank < rank) {
                worst = Some(Worst { rank, cause, result: number, finding: f.clone() });
            }
            false
        });
        if taken.count > 0 {
            caused.push((number, taken));
        }
    }
    // Controllers of other kinds may replace them: Argo Workflows, Katib, kro.
    let known = object.is_pod()
        || workload_kinds::find_workload_kind(object.group(), &object.kind).is_some()
        || does_any_object_rule_run_on_kind(object.group(), &object.kind);
    if !known && caused.is_empty() {
        return None;
    }
    let inside = || found.iter().find(|p| innermost_result_of(results, &p.pointer).is_some());
    let first = worst.as_ref().map(|worst| worst.cause).or_else(inside).or(found.first())?;
    let place = place_of_value(object.document, object.part_of_document(), &first.pointer);
    let (mut home, path) = innermost_result_of(results, &first.pointer).unzip();
    let named = worst.filter(|worst| worst.rank.1 && known);
    home = named.as_ref().map(|named| named.result).or(home);
    let own = if home.is_none() { Some(Box::new(own())) } else { None };
    let named = named.map(|named| named.finding);
    let first =
        Placeholder { pointer: path.unwrap_or_else(|| first.pointer.clone()), text: first.text.clone() };
    Some(ObjectWithPlaceholders {
        syntax,
        first,
        place,
        home,
        own,
        named,
        values: found.len(),
        caused,
        known,
    })
}

/// The most severe finding that a placeholder causes.
struct Worst<'a> {
    /// Its severity, and whether its rule names placeholders.
    rank: (Severity, bool),
    cause: &'a Placeholder,
    /// The number of its result.
    result: usize,
    finding: Located<Finding>,
}

/// The severity that was reported for the earlier parts of a file, by tool.
pub(in crate::cli) type Reported = BTreeMap<Syntax, Severity>;

/// Reports the placeholders of one file once for each tool: at the most severe, of equal ones at the first. Of a file that
/// is read in parts, a later part reports one again if it is more severe.
pub(in crate::cli) fn report_once_per_tool(reviews: &mut [DocumentReview], before: &mut Reported) {
    let mut objects: BTreeMap<Syntax, Vec<(usize, ObjectWithPlaceholders)>> = BTreeMap::new();
    for (number, review) in reviews.iter_mut().enumerate() {
        for object in std::mem::take(&mut review.templated) {
            objects.entry(object.syntax).or_default().push((number, object));
        }
    }
    for (syntax, objects) in objects {
        let Some(severity) = objects.iter().map(|(_, object)| object.severity()).max() else { continue };
        let reported = before.get(&syntax).is_some_and(|before| *before >= severity);
        report_placeholders_of_one_tool(reviews, objects, (severity, reported));
        before.entry(syntax).and_modify(|before| *before = severity.max(*before)).or_insert(severity);
    }
}

/// The same for the placeholders of one tool.
fn report_placeholders_of_one_tool(
    reviews: &mut [DocumentReview],
    objects: Vec<(usize, ObjectWithPlaceholders)>,
    (severity, mut reported): (Severity, bool),
) {
    let values: usize = objects.iter().map(|(_, object)| object.values).sum();
    for (number, object) in objects {
        let Some(review) = reviews.get_mut(number) else { continue };
        let here = !reported && object.severity() == severity;
        for (result, mut caused) in object.caused {
            let is_home = here && Some(result) == object.home;
            let Some(result) = review.results.get_mut(result).filter(|_| !is_home) else { continue };
            if !object.known {
                caused.worst = caused.worst.min(Some(Severity::Warning));
            }
            result.repeated.add(caused);
            result.recompute_verdict();
        }
        if here {
            reported = true;
            let unsubstituted = || inputs::finding_on_placeholders(&object.first, severity, object.known);
            let found = object.named.or_else(|| Some(Located::new(unsubstituted()?, object.place)));
            let index = object.home.unwrap_or_else(|| review.find_or_add_result_of_object(object.own));
            if let (Some(result), Some(found)) = (review.results.get_mut(index), found) {
                result.add_findings_and_recompute_verdict([Located { repeats: values - 1, ..found }]);
            }
        }
    }
}
