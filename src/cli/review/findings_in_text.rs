//! Findings on the text of a file, which the object behind it does not show: values of another type than their field,
//! and keys that are given twice.

use super::document_results::GivenObject;
use crate::cli::input::documents_to_objects::InputObject;
use crate::decision_limits::RunBudget;
use crate::json::decode_with_place::{self, DecodeError};
use crate::json::types_of_decoded_fields::optional_struct;
use crate::manifest::{self, DuplicateKey};
use crate::pod::pod_fields::Metadata;
use crate::pod::{PodView, templates_by_shape};
use crate::report::{Located, Place, ReviewedObject};
use crate::rules::{Finding, inputs};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Values of one object that are reported; each takes one more pass over the object.
const MAX_RETYPED: usize = 50;
/// Each of these values is found by reading the whole object again: text that is read at most (bytes). An object with many YAML
/// aliases has up to 32 MiB.
const MAX_BYTES_READ_AGAIN: usize = 16 << 20;

/// Bytes that are read in one unit of the work of a run.
const BYTES_PER_WORK: usize = 8;

/// Repeated keys of one object that are reported; the last of them counts the others.
const MAX_REPEATED: usize = 50;

/// An object with each scalar as the type that its field has.
pub(super) struct RetypedObject {
    pub(super) json: String,
    /// A finding for each such scalar; paths start at the object.
    pub(super) findings: Vec<Finding>,
    /// Paths of booleans where the API has text. The text that was meant is not known.
    pub(super) unknown: Vec<String>,
}

/// Reads numbers as text where the API has text, and the reverse. `None` where that does not help.
pub(super) fn retype_wrong_values(given: GivenObject<'_>, work: &RunBudget) -> Option<RetypedObject> {
    let object = given.object;
    let mut json = object.json.to_owned();
    let (mut findings, mut unknown) = (Vec::new(), Vec::new());
    let mut left = MAX_BYTES_READ_AGAIN;
    while findings.len() < MAX_RETYPED && left > 0 && !work.is_spent() {
        left = left.saturating_sub(json.len());
        work.spend(json.len() / BYTES_PER_WORK);
        let Some(error) = wrong_type(&json, object.is_pod()) else { break };
        let Some(range) = manifest::range_at_pointer(&json, &error.pointer) else { break };
        let value = json.get(range.clone()).unwrap_or_default();
        let source = source_line(given, &error.pointer);
        let Some(retyped) = inputs::convert_to_type_of_field(&error.message, value, &error.pointer, source)
        else {
            break;
        };
        if matches!(value, "true" | "false") {
            unknown.push(error.pointer);
        }
        json.replace_range(range, &retyped.json);
        findings.push(retyped.finding);
    }
    if findings.is_empty() { None } else { Some(RetypedObject { json, findings, unknown }) }
}

/// An object of any kind, as far as its names, labels and annotations.
#[derive(Deserialize)]
struct Headed<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    #[expect(dead_code, reason = "only whether it can be decoded counts")]
    metadata: Option<Metadata<'a>>,
}

/// Whether a value of `metadata` has another type than its field.
pub(super) fn has_wrong_metadata(json: &str) -> bool {
    serde_json::from_str::<Headed<'_>>(json).is_err()
}

/// The first value of another type than its field has, in the metadata, in a pod or in the templates of an object.
fn wrong_type(json: &str, is_pod: bool) -> Option<DecodeError> {
    let error = |json: &str| PodView::read(json).err();
    if is_pod {
        return error(json);
    }
    if let Err(error) = decode_with_place::decode_object::<Headed<'_>>(json) {
        return Some(error);
    }
    templates_by_shape::find_templates(json).iter().find_map(|found| {
        let DecodeError { pointer, message } = error(found.json)?;
        Some(DecodeError { pointer: format!("{}{pointer}", found.pointer), message })
    })
}

/// Drops findings about a value whose text is not known, and about the variable that has it.
pub(super) fn drop_findings_of_unknown_value(results: &mut [ReviewedObject], pointer: &str) {
    let Some((index, path)) = innermost_result_of(results, pointer) else { return };
    let Some(result) = results.get_mut(index) else { return };
    let variable = path.strip_suffix("/value");
    result.findings.retain(|found| found.item.path != path && Some(found.item.path.as_str()) != variable);
}

/// Longest line that is shown from a key on (bytes). A whole List may be on one line, and have thousands of such values.
const MAX_LINE: usize = 4 << 10;

/// The line of the file that has a value, from its key on; empty if it is very long.
fn source_line<'a>(given: GivenObject<'a>, pointer: &str) -> &'a str {
    let object = given.object;
    let place = object.document.position_in_part_at_or_above(object.part_of_document(), pointer);
    let line = given.file.lines().line(place.line).filter(|line| line.len() <= MAX_LINE).unwrap_or_default();
    let column = usize::try_from(place.column).unwrap_or(usize::MAX);
    let line = std::str::from_utf8(line).unwrap_or_default();
    line.char_indices().nth(column.saturating_sub(1)).and_then(|(at, _)| line.get(at..)).unwrap_or(line)
}

/// Keys of an object that its file gives twice, with the place of the second. Paths start at the object.
pub(super) fn findings_on_repeated_keys(object: &InputObject<'_>, work: &RunBudget) -> Vec<Located<Finding>> {
    let (repeated, all) =
        object.document.repeated_keys_in(object.part_of_document(), &object.items, MAX_REPEATED);
    if all > 0 {
        // A List in Lists is looked through once for each, and the paths repeat long keys.
        let paths: usize = repeated.iter().map(|(path, _)| path.len()).sum();
        work.spend((object.json.len() + paths) / BYTES_PER_WORK);
    }
    let last = repeated.len();
    let finding = |((path, twice), number): ((String, &DuplicateKey), usize)| {
        let finding = inputs::finding_on_repeated_key(&path, &twice.key, twice.first.line)?;
        let found = Located::new(finding, Place { line: twice.second.line, column: twice.second.column });
        let repeats = if number == last { all - last } else { 0 };
        Some(Located { repeats, ..found })
    };
    repeated.into_iter().zip(1..).filter_map(finding).collect()
}

/// The result that a value of an object belongs to, with the path of the value in it: the innermost template around it,
/// else the object's own result.
pub(super) fn innermost_result_of(results: &[ReviewedObject], path: &str) -> Option<(usize, String)> {
    let fits = |(index, result): (usize, &ReviewedObject)| {
        let template = result.template.as_deref().unwrap_or_default();
        let rest = path.strip_prefix(template).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some((template.len(), index, rest.to_owned()))
    };
    let found = results.iter().enumerate().filter_map(fits);
    found.max_by_key(|(length, index, _)| (*length, usize::MAX - index)).map(|(_, index, rest)| (index, rest))
}

/// Adds findings whose paths start at the object. `own` makes the object's own result, where it has none.
pub(super) fn add_findings_to_innermost_results(
    results: &mut Vec<ReviewedObject>,
    findings: impl Iterator<Item = Located<Finding>>,
    own: impl Fn() -> ReviewedObject,
) {
    let mut of_results: BTreeMap<usize, Vec<Located<Finding>>> = BTreeMap::new();
    for mut found in findings {
        let index = match innermost_result_of(results, &found.item.path) {
            Some((index, path)) => {
                found.item.path = path;
                index
            }
            None => {
                results.push(own());
                results.len() - 1
            }
        };
        of_results.entry(index).or_default().push(found);
    }
    for (index, found) in of_results {
        if let Some(result) = results.get_mut(index) {
            result.add_findings_and_recompute_verdict(found);
        }
    }
}
