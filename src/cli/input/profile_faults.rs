//! All faults of one FabricProfile at once. The reader and the checks stop at the first one, so a profile is read again
//! without each value that has a fault.

use crate::json::decode_with_place::DecodeError;
use crate::profile::schema::{API_VERSION, KIND};
use crate::profile::{FabricProfile, Profile, ProfileError};
use serde_json::Value;
use std::collections::BTreeSet;

/// Faults of one profile that are reported; each takes one more pass over it.
pub(in crate::cli) const MAX_FAULTS: usize = 50;

/// A fault of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct ProfileFault {
    /// JSON pointer of the value.
    pub(in crate::cli) pointer: String,
    /// The problem and the expected value.
    pub(in crate::cli) message: String,
    /// Whether the reader refused the value.
    unread: bool,
}

impl ProfileFault {
    /// The message for a list with errors of other kinds.
    pub(in crate::cli) fn message_with_profile_name(&self, name: &str) -> String {
        match self.unread {
            true => format!("FabricProfile cannot be read: {}", self.message),
            false => format!("FabricProfile {name:?}: {}", self.message),
        }
    }
}

/// A profile, or so many of its faults.
pub(in crate::cli) fn profile_or_faults(
    json: &str,
    bases: &[FabricProfile],
    most: usize,
) -> Result<FabricProfile, Vec<ProfileFault>> {
    let first = match fault(json, bases) {
        Ok(profile) => return Ok(profile),
        Err(fault) => fault,
    };
    if most < 2 {
        return Err(vec![first]);
    }
    // What is not JSON has no values to leave out.
    let Ok(given) = serde_json::from_str::<Value>(json) else { return Err(vec![first]) };
    let mut rest = given.clone();
    let mut removed = Removed { given: &given, pointers: BTreeSet::new() };
    let mut faults: Vec<ProfileFault> = Vec::new();
    let mut found = first;
    for _ in 0..most {
        let ProfileFault { pointer, .. } = found.clone();
        let place = removed.in_given(&pointer);
        if !removed.explains(&place) {
            faults.push(ProfileFault { pointer: place.clone(), ..found });
        }
        // With another version, nothing else would be checked.
        if place == "/apiVersion" && removed.pointers.insert(place.clone()) {
            if let Some(object) = rest.as_object_mut() {
                object.insert("apiVersion".to_owned(), API_VERSION.into());
                object.insert("kind".to_owned(), KIND.into());
            }
            match fault(&rest.to_string(), bases) {
                Ok(_) => break,
                Err(next) => found = next,
            }
            continue;
        }
        // Without these, every other field would seem to lack its value.
        if place == "/spec/base" || !place.starts_with("/spec/") && !place.starts_with("/metadata/") {
            break;
        }
        // A value that is missing: without the item that lacks it.
        let Some(left_out) = existing(&rest, &pointer) else { break };
        let place = removed.in_given(left_out);
        if !remove(&mut rest, left_out) || !removed.pointers.insert(place) {
            break;
        }
        match fault(&rest.to_string(), bases) {
            Ok(_) => break,
            Err(next) => found = next,
        }
    }
    faults.sort_by_key(|fault| order(&given, &fault.pointer));
    Err(faults)
}

/// The first fault of a profile.
fn fault(json: &str, bases: &[FabricProfile]) -> Result<FabricProfile, ProfileFault> {
    let profile = FabricProfile::read(json).map_err(|error| {
        let DecodeError { pointer, message } = error;
        ProfileFault { pointer, message, unread: true }
    })?;
    Profile::checked_with_base(&profile, bases).map_err(|error| {
        let ProfileError { pointer, message, .. } = error;
        ProfileFault { pointer, message, unread: false }
    })?;
    Ok(profile)
}

/// The values that were left out.
struct Removed<'a> {
    given: &'a Value,
    /// Their pointers in the profile as given.
    pointers: BTreeSet<String>,
}

impl Removed<'_> {
    /// The pointer of a value in the profile as given: an item of a list has a smaller index once items before it are left
    /// out.
    fn in_given(&self, pointer: &str) -> String {
        let mut place = String::new();
        for token in pointer.split('/').skip(1) {
            let items = self.given.pointer(&place).and_then(Value::as_array).map_or(0, Vec::len);
            let kept = |index: &usize| !self.pointers.contains(&format!("{place}/{index}"));
            let index = token.parse().ok().and_then(|nth| (0..items).filter(kept).nth(nth));
            let token = index.map_or_else(|| token.to_owned(), |index| index.to_string());
            place.push('/');
            place.push_str(&token);
        }
        place
    }

    /// Whether a fault follows from what was left out: a required value that is now missing, or a name of a rail that is no
    /// longer in the list.
    fn explains(&self, place: &str) -> bool {
        let inside = |removed: &String| {
            removed.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let of_rails = place == "/spec/bootstrap"
            || place.starts_with("/spec/subsets/") && place.contains("/interfaces")
            || place.starts_with("/spec/resources/") && place.ends_with("/per");
        let rails = || self.pointers.iter().any(|removed| removed.starts_with("/spec/rails"));
        self.pointers.iter().any(inside) || of_rails && rails()
    }
}

/// The pointer, or the nearest one above it that exists, below `/spec` or `/metadata`.
fn existing<'a>(value: &Value, pointer: &'a str) -> Option<&'a str> {
    let mut at = pointer;
    while value.pointer(at).is_none() {
        at = at.rsplit_once('/')?.0;
    }
    (at.matches('/').count() > 1).then_some(at)
}

/// Leaves a value out. False if nothing is at the pointer.
fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    match value.pointer_mut(parent) {
        Some(Value::Object(map)) => map.remove(&key.replace("~1", "/").replace("~0", "~")).is_some(),
        Some(Value::Array(items)) => match key.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// The position of each step of a pointer, so that faults come in the order of the file.
fn order(given: &Value, pointer: &str) -> Vec<usize> {
    let mut at = Some(given);
    let mut steps = Vec::new();
    for token in pointer.split('/').skip(1) {
        let key = token.replace("~1", "/").replace("~0", "~");
        let (step, next) = match at {
            Some(Value::Object(map)) => (map.keys().position(|known| *known == key), map.get(&key)),
            Some(Value::Array(items)) => {
                (key.parse().ok(), key.parse().ok().and_then(|n: usize| items.get(n)))
            }
            _ => (None, None),
        };
        steps.push(step.unwrap_or(usize::MAX));
        at = next;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{self, DocumentOrError};
    use crate::profile::built_in_bases::BASES;

    fn pointers(spec: &str) -> Vec<String> {
        let json = format!(
            r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"p"}},"spec":{spec}}}"#
        );
        let base = BASES.iter().find(|(name, _)| *name == "roce-sriov").unwrap().1;
        let Some(DocumentOrError::Document(base)) =
            manifest::read_documents_of_file("", base.as_bytes()).into_iter().next()
        else {
            panic!()
        };
        let bases = [FabricProfile::read(base.json.get()).unwrap()];
        profile_or_faults(&json, &bases, MAX_FAULTS)
            .unwrap_err()
            .into_iter()
            .map(|fault| fault.pointer)
            .collect()
    }

    #[test]
    fn faults_in_one_list_are_all_reported() {
        let found = pointers(
            r#"{"base":"roce-sriov","rails":[{"network":"a/b.c"},{"network":"a/b","count":99},{"netwrk":"a/b"},{"network":"a/c","resource":"x"}]}"#,
        );
        let expected = [
            "/spec/rails/0/network",
            "/spec/rails/1/count",
            "/spec/rails/2/netwrk",
            "/spec/rails/3/resource",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn faults_that_follow_are_not_reported() {
        assert_eq!(pointers(r#"{"base":"roce-sirov","bootstrap":"rail0"}"#), ["/spec/base"]);
        let found = pointers(r#"{"base":"roce-sriov","bootstrap":"rail0","rails":[{"network":"a/b.c"}]}"#);
        assert_eq!(found, ["/spec/rails/0/network"]);
        assert_eq!(pointers("3"), ["/spec"]);
    }

    #[test]
    fn another_version_hides_nothing() {
        let json = r#"{"apiVersion":"fabric-admission.dev/v1","kind":"FabricProfile","metadata":{"name":"p"},
            "spec":{"transport":"roce","attachment":"none","acceleratorsPerNode":99}}"#;
        let found = profile_or_faults(json, &[], MAX_FAULTS).unwrap_err();
        let found: Vec<&str> = found.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(found, ["/apiVersion", "/spec/acceleratorsPerNode"]);
    }

    #[test]
    fn faults_of_several_fields() {
        let found = pointers(
            r#"{"base":"roce-sriov","transport":"rocee","env":[{"name":"PATH","value":"a"},{"name":"A"}],"ncclVersion":"x","nodeSelectors":{}}"#,
        );
        let expected = [
            "/spec/transport",
            "/spec/env/0/name",
            "/spec/env/1/value",
            "/spec/ncclVersion",
            "/spec/nodeSelectors",
        ];
        assert_eq!(found, expected);
    }
}
