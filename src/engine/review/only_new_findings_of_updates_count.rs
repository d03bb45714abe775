//! Only new findings of an update may deny: one set difference, for every kind.

use crate::json::decode_with_place::{self, DecodeError};
use crate::json::types_of_decoded_fields::Pairs;
use crate::rules::{Finding, MAX_FINDINGS_PER_RULE_AND_SEVERITY, Severity};
use crate::text::parse_document_within_limit;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// A finding on a part of an object: the number of the part, and the finding with its pointer in the part.
pub(super) type FindingInPart = (usize, Finding);

/// An object before or after a change, with the pointers of its parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Version<'a> {
    pub(super) json: &'a str,
    pub(super) parts: &'a [String],
}

/// Findings of an object before a change, under the same Snapshot.
#[derive(Debug, Default)]
pub(super) struct FindingsBeforeUpdate {
    pub(super) reported: Vec<FindingInPart>,
    /// Those that an annotation ignored.
    pub(super) ignored: Vec<FindingInPart>,
}

/// Removes the findings that the object had before, ignored ones included.
pub(super) fn keep_new(
    findings: &mut Vec<FindingInPart>,
    before: &FindingsBeforeUpdate,
    new: Version<'_>,
    old: Version<'_>,
) {
    let FindingsBeforeUpdate { reported, ignored } = before;
    if reported.len() + ignored.len() == 0 || findings.is_empty() {
        return;
    }
    let hashes = RandomState::new();
    let values = [new, old].map(|version| parse_document_within_limit(version.json).unwrap_or_default());
    let [new_value, old_value] = &values;
    let (new, old) = (Places::of(new_value, new.parts, &hashes), Places::of(old_value, old.parts, &hashes));
    let mut worst: HashMap<(&str, &str, u64), Severity> = HashMap::new();
    let mut counts: HashMap<(&str, Severity, u64), usize> = HashMap::new();
    for (part, finding) in reported.iter().chain(ignored) {
        let severity = worst
            .entry((finding.rule, &finding.message, old.hash(*part, &finding.path)))
            .or_insert(finding.severity);
        *severity = finding.severity.max(*severity);
    }
    // Ignored findings do not count: an annotation ignores all of a rule, so where one is not ignored now, the rule found
    // something else.
    for (part, finding) in reported {
        *counts.entry((finding.rule, finding.severity, old.hash(*part, ""))).or_default() += 1;
    }
    findings.retain(|(part, f)| {
        // The old list of the same part may be truncated, so absence proves nothing.
        let of_part = (f.rule, f.severity, new.hash(*part, ""));
        let complete = counts.get(&of_part).is_none_or(|count| *count < MAX_FINDINGS_PER_RULE_AND_SEVERITY);
        let before = || worst.get(&(f.rule, f.message.as_str(), new.hash(*part, &f.path)));
        complete && before().is_none_or(|severity| *severity < f.severity)
    });
}

/// Longest name of a list element that stands for it (bytes): Kubernetes has no longer names.
const MAX_NAME: usize = 253;

/// The parts of an object. A place in them is known by the hash of its pointer, with the names of list elements in place of
/// their indexes, since they move. A pointer itself may have kilobytes, and there is one for each finding.
struct Places<'v>(Vec<Place<'v>>);

impl<'v> Places<'v> {
    fn of(value: &'v Value, parts: &[String], hashes: &RandomState) -> Self {
        let whole = Place { value: Some(value), hash: hashes.build_hasher() };
        Self(parts.iter().map(|part| whole.clone().below(part)).collect())
    }

    fn hash(&self, part: usize, pointer: &str) -> u64 {
        self.0.get(part).map_or(0, |place| place.clone().below(pointer).hash.finish())
    }
}

/// A value of an object, if it is there, and the hash of its pointer.
#[derive(Clone)]
struct Place<'v> {
    value: Option<&'v Value>,
    hash: <RandomState as BuildHasher>::Hasher,
}

impl Place<'_> {
    fn below(mut self, pointer: &str) -> Self {
        for step in pointer.split('/').skip(1) {
            let element = match self.value {
                Some(Value::Array(list)) => step.parse::<usize>().ok().and_then(|index| list.get(index)),
                _ => None,
            };
            let name = element.and_then(name).filter(|name| name.len() <= MAX_NAME);
            (name.is_some(), name.unwrap_or(step)).hash(&mut self.hash);
            let key = match step.contains('~') {
                true => Cow::Owned(step.replace("~1", "/").replace("~0", "~")),
                false => Cow::Borrowed(step),
            };
            self.value = element.or_else(|| self.value?.get(&*key));
        }
        self
    }
}

/// The name of a list element: lists of the API are maps by one of these keys, or hold texts.
fn name(element: &Value) -> Option<&str> {
    let keys = ["name", "groupName", "mountPath", "key", "resourceName"];
    element.as_str().or_else(|| keys.iter().find_map(|key| element.get(key)?.as_str()))
}

/// Whether there is anything to check: more than the metadata and status of the object changes. So the finalizers of an
/// object that is being deleted can be removed. A `deletionTimestamp` by itself switches no rule off: whoever may set
/// finalizers keeps an object that is being deleted, and everything reads its spec meanwhile.
///
/// # Errors
/// [`DecodeError`] when the object is not a mapping, or has more members than [`MAX_MEMBERS`].
pub(super) fn changes_more_than_metadata_and_status(
    new: &str,
    old: Option<&str>,
) -> Result<bool, DecodeError> {
    let members: Members<'_> = decode_with_place::decode_object(new)?;
    let Some(old) = old else { return Ok(true) };
    let before = crate::json::reader::read::<Members<'_>>(old).ok();
    Ok(before.is_none_or(|before| !equal_except_metadata_and_status(&members, &before)))
}

/// The members of an object.
#[derive(Debug)]
struct Members<'a>(Pairs<'a, Option<&'a RawValue>>);

/// Most members of an object (count). Objects of people have a dozen, and whoever reads one looks at all of them several
/// times.
const MAX_MEMBERS: usize = 4_096;

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Pairs::deserialize_at_most(d, MAX_MEMBERS).map(Self)
    }
}

/// Most members of an object that are compared in any order.
const MAX_COMPARED_MEMBERS: usize = 256;

/// Whether two objects are equal except for metadata and status. The API server writes both in the same form. Objects with too
/// many members count as different, unless they have them in the same order.
fn equal_except_metadata_and_status(new: &Members<'_>, old: &Members<'_>) -> bool {
    fn judged<'m>(members: &'m Members<'_>) -> impl Iterator<Item = (&'m str, &'m str)> {
        let judged = members.0.iter().filter(|(key, _)| !matches!(*key, "metadata" | "status"));
        judged.map(|(key, value)| (key, value.map_or("null", RawValue::get)))
    }
    if judged(new).eq(judged(old)) {
        return true;
    }
    let are_few = |members| judged(members).nth(MAX_COMPARED_MEMBERS).is_none();
    let sorted = |members| judged(members).collect::<BTreeMap<&str, &str>>();
    are_few(new) && are_few(old) && sorted(new) == sorted(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_go_by_their_names() {
        let long = "x".repeat(MAX_NAME + 1);
        let of = |first: &str, last: &str, script: &str| {
            let lists = format!(r#""a/b":[{first},{{"name":"n","env":[{{"name":"E","value":"1"}}]}}{last}]"#);
            serde_json::from_str::<Value>(&format!(r#"{{"spec":{{{lists},"args":["-x","{script}"]}}}}"#))
        };
        let old = of(r#"{"x":1}"#, "", "v").unwrap();
        let new = of(r#"{"name":"m"},{"x":1}"#, r#",{"name":"o"}"#, &long).unwrap();
        let hashes = RandomState::new();
        let parts = ["".to_owned(), "/spec".to_owned(), "/spec/a~1b/1".to_owned(), "/spec/a~1b/2".to_owned()];
        let (old, new) = (Places::of(&old, &parts, &hashes), Places::of(&new, &parts, &hashes));
        for (before, after, same) in [
            ((0, "/spec/a~1b/1/env/0/value"), (0, "/spec/a~1b/2/env/0/value"), true),
            ((1, "/a~1b/1/env/0/value"), (0, "/spec/a~1b/2/env/0/value"), true),
            ((2, "/env/0"), (3, "/env/0"), true),
            ((0, "/spec/a~1b/1/env/0/value"), (0, "/spec/a~1b/1/env/0/value"), false),
            ((0, "/spec/a~1b/0/x"), (0, "/spec/a~1b/1/x"), false),
            ((0, "/spec/args/0"), (0, "/spec/args/0"), true),
            // A name of its own, and an index.
            ((0, "/spec/args/1"), (0, "/spec/args/1"), false),
            ((0, "/spec/gone/7/name"), (0, "/spec/gone/7/name"), true),
            ((0, ""), (0, ""), true),
            ((1, ""), (0, "/spec"), true),
        ] {
            let (before, after) = (old.hash(before.0, before.1), new.hash(after.0, after.1));
            assert_eq!(before == after, same, "{before:?} {after:?}");
        }
    }

    /// Role `a` has as many findings as are reported, so that one more may have been there before. Role `b` had none.
    #[test]
    fn a_full_list_of_one_part_hides_no_new_finding_of_another() {
        let json = r#"{"spec":{"roles":[{"name":"a"},{"name":"b"}]}}"#;
        let parts = ["/spec/roles/0", "/spec/roles/1"].map(str::to_owned);
        let version = Version { json, parts: &parts };
        let finding = |nth: usize| {
            let (rule, severity, path) = ("FAB403", Severity::Error, format!("/env/{nth}"));
            let (spot, message, fix, because, other) = (None, String::new(), String::new(), None, None);
            Finding { rule, severity, path, spot, message, fix, because, other }
        };
        let full: Vec<FindingInPart> =
            (0..MAX_FINDINGS_PER_RULE_AND_SEVERITY).map(|nth| (0, finding(nth))).collect();
        let found = [(0, finding(0)), (0, finding(MAX_FINDINGS_PER_RULE_AND_SEVERITY)), (1, finding(0))];
        let reported = FindingsBeforeUpdate { reported: full.clone(), ignored: Vec::new() };
        let ignored = FindingsBeforeUpdate { reported: Vec::new(), ignored: full };
        // A full list of findings that an annotation ignored says nothing about one that it does not ignore.
        for (before, new) in [(reported, &found[2..]), (ignored, &found[1..])] {
            let mut found = found.to_vec();
            keep_new(&mut found, &before, version, version);
            assert_eq!(found, new);
        }
    }

    #[test]
    fn metadata_and_status_are_no_change() {
        let of = |spec: &str, rest: &str| format!(r#"{{"kind":"K","spec":{spec}{rest}}}"#);
        let old = of("{\"a\":1}", r#","metadata":{"labels":{}},"status":{"x":1}"#);
        for (new, expected) in [
            (of("{\"a\":1}", r#","metadata":{"name":"n"},"status":{}"#), false),
            (of("{\"a\":2}", r#","metadata":{"labels":{}}"#), true),
            (of("{\"a\":1}", r#","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}"#), false),
            (of("{\"a\":2}", r#","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}"#), true),
            (of("{\"a\":1}", r#","data":{}"#), true),
        ] {
            assert_eq!(changes_more_than_metadata_and_status(&new, Some(&old)), Ok(expected), "{new}");
            assert_eq!(changes_more_than_metadata_and_status(&new, None), Ok(true), "{new}");
        }
    }

    #[test]
    fn members_count_in_any_order_unless_they_are_too_many() {
        let changes = |new: &str, old: &str| changes_more_than_metadata_and_status(new, Some(old)).unwrap();
        for (new, old, expected) in [
            (r#"{"spec":1,"status":1}"#, r#"{"status":2,"metadata":{},"spec":1}"#, false),
            (r#"{"spec":1}"#, r#"{"spec":2}"#, true),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, false),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, false),
            (r#"{"a":null}"#, "{}", true),
        ] {
            assert_eq!(changes(new, old), expected, "{new} {old}");
        }
        let members = |numbers: &mut dyn Iterator<Item = usize>| {
            format!("{{{}}}", numbers.map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(","))
        };
        let (few, many) = (MAX_COMPARED_MEMBERS, MAX_COMPARED_MEMBERS + 1);
        assert!(!changes(&members(&mut (0..few)), &members(&mut (0..few).rev())));
        assert!(changes(&members(&mut (0..many)), &members(&mut (0..many).rev())));
        assert!(!changes(&members(&mut (0..many)), &members(&mut (0..many))));
        let most = members(&mut (0..MAX_MEMBERS));
        let more = members(&mut (0..=MAX_MEMBERS));
        assert!(!changes(&most, &most) && changes(&most, &more));
        let refused = changes_more_than_metadata_and_status(&more, None).unwrap_err();
        assert!(refused.message.contains("more than 4096 entries"), "{refused:?}");
    }
}
