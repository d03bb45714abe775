//! Strategic merge patches of pod templates, and where each value comes from.

use crate::text::json_pointer_token;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Most elements of one list that are compared with one another.
pub(super) const MAX_ELEMENTS: usize = 500;

/// Steps of one join: elements that are compared, and values that are copied, where a long text counts as several. A
/// TrainJob of people takes a few hundred.
const MAX_STEPS: usize = 16_000;

/// Values of one join that are copied, whatever their length. The copies of all jobs are checked, in an update with two readings
/// of resources four times. A variable has three values.
const MAX_COPIED: usize = 2_500;

/// The length of text that is a step (bytes).
const STEP: usize = 16;

/// Places in a document that something else says: the pointer in it, and the one in what says it.
#[derive(Debug, Default)]
pub(super) struct SourcesOfMergedValues {
    said: BTreeMap<String, String>,
    steps: usize,
    copied: usize,
}

impl SourcesOfMergedValues {
    /// Says that the value at a pointer, with all below it, stands elsewhere.
    pub(super) fn record_source(&mut self, at: String, from: String) {
        self.said.insert(at, from);
    }

    /// The pointers of a member, counted by their lengths; `None` where there have been too many.
    fn pointers_of_member(&mut self, at: &str, from: &str, key: &str) -> Option<(String, String)> {
        self.count_steps(1 + (at.len() + from.len() + 2 * key.len()) / STEP)?;
        Some((format!("{at}/{}", json_pointer_token(key)), format!("{from}/{}", json_pointer_token(key))))
    }

    /// Counts steps; `None` where there have been too many.
    pub(super) fn count_steps(&mut self, steps: usize) -> Option<()> {
        self.steps += steps;
        (self.steps <= MAX_STEPS).then_some(())
    }

    /// A copy of a value, counted before it is made; `None` where there have been too many.
    pub(super) fn counted_copy(&mut self, value: &Value) -> Option<Value> {
        self.copied += values(value);
        self.count_steps(values(value) + texts(value))?;
        (self.copied <= MAX_COPIED).then(|| value.clone())
    }

    /// The other place of a pointer; of several around it the nearest, and of these the last.
    pub(super) fn source_of(&self, pointer: &str) -> Option<String> {
        let mut at = pointer;
        loop {
            if let Some(from) = self.said.get(at) {
                return Some(format!("{from}{}", pointer.strip_prefix(at)?));
            }
            at = at.rsplit_once('/')?.0;
        }
    }
}

/// Key that identifies the elements of a list (k8s.io/api core/v1, `patchMergeKey`); `None` where a patch takes the
/// place of the whole list.
fn merge_key(list: &str) -> Option<&'static str> {
    match list {
        "replicatedJobs" | "containers" | "initContainers" | "env" | "volumes" | "imagePullSecrets"
        | "resourceClaims" | "schedulingGates" => Some("name"),
        "volumeMounts" => Some("mountPath"),
        "volumeDevices" => Some("devicePath"),
        _ => None,
    }
}

/// Lays a patch over a value. `None` where it has directives, which are not followed here, or there is too much of it.
pub(super) fn merge_and_record_sources(
    target: &mut Value,
    patch: &Value,
    at: &str,
    from: &str,
    places: &mut SourcesOfMergedValues,
) -> Option<()> {
    let (Some(own), Some(given)) = (target.as_object_mut(), patch.as_object()) else {
        *target = places.counted_copy(patch)?;
        places.record_source(at.to_owned(), from.to_owned());
        return Some(());
    };
    for (key, value) in given {
        if key.starts_with('$') {
            return None;
        }
        let (at, from) = places.pointers_of_member(at, from, key)?;
        match (own.get_mut(key), value) {
            (_, Value::Null) => drop(own.remove(key)),
            (Some(list @ Value::Array(_)), Value::Array(items)) if merge_key(key).is_some() => {
                merge_elements_by_key(list, items, merge_key(key)?, &at, &from, places)?;
            }
            (Some(known @ Value::Object(_)), Value::Object(_)) => {
                merge_and_record_sources(known, value, &at, &from, places)?
            }
            _ => {
                own.insert(key.clone(), places.counted_copy(value)?);
                places.record_source(at, from);
            }
        }
    }
    Some(())
}

/// A value and the values in it (count).
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(values).sum(),
        Value::Object(object) => object.values().map(values).sum(),
        _ => 0,
    }
}

/// Steps that the texts of a value take.
fn texts(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(texts).sum(),
        Value::Object(object) => object.iter().map(|(key, value)| key.len() / STEP + texts(value)).sum(),
        Value::String(text) => text.len() / STEP,
        _ => 0,
    }
}

/// Where the elements of a list are, by the value of the key that identifies them; of equal ones, the first.
pub(super) struct Elements {
    key: &'static str,
    places: HashMap<Option<String>, usize>,
}

impl Elements {
    pub(super) fn of(list: &[Value], key: &'static str) -> Self {
        let mut elements = Self { key, places: HashMap::new() };
        for (place, item) in list.iter().enumerate() {
            elements.place_of_element_or_next(item, place);
        }
        elements
    }

    /// The place of the element that an item stands for; `next` if it is a new one.
    pub(super) fn place_of_element_or_next(&mut self, item: &Value, next: usize) -> usize {
        let key = item.get(self.key).map(Value::to_string);
        *self.places.entry(key).or_insert(next)
    }
}

fn merge_elements_by_key(
    list: &mut Value,
    items: &[Value],
    key: &'static str,
    at: &str,
    from: &str,
    places: &mut SourcesOfMergedValues,
) -> Option<()> {
    let own = list.as_array_mut()?;
    if items.is_empty() {
        return Some(());
    }
    if own.len().max(items.len()) > MAX_ELEMENTS {
        return None;
    }
    // Each patch finds the elements anew.
    for item in own.iter().chain(items) {
        places.count_steps(1 + item.get(key).map_or(0, texts))?;
    }
    let mut elements = Elements::of(own, key);
    for (number, item) in items.iter().enumerate() {
        let place = elements.place_of_element_or_next(item, own.len());
        let (at, from) = (format!("{at}/{place}"), format!("{from}/{number}"));
        match own.get_mut(place) {
            Some(known) => merge_and_record_sources(known, item, &at, &from, places)?,
            None => {
                own.push(places.counted_copy(item)?);
                places.record_source(at, from);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_are_identified_by_their_key() {
        let mut pod = json!({"containers": [{"name": "a", "image": "x", "volumeMounts": [{"mountPath": "/x", "name": "v"}]},
            {"name": "b"}], "tolerations": [1], "nodeSelector": {"a": "1"}, "priority": 7});
        let patch = json!({"containers": [{"name": "b", "image": "y"}, {"name": "a",
            "volumeMounts": [{"mountPath": "/dev/shm", "name": "shm"}]}, {"name": "c"}],
            "tolerations": [2], "nodeSelector": {"b/c": "2"}, "priority": null});
        let mut places = SourcesOfMergedValues::default();
        merge_and_record_sources(&mut pod, &patch, "/spec", "/p", &mut places).unwrap();
        assert_eq!(
            pod,
            json!({"containers": [{"name": "a", "image": "x", "volumeMounts": [{"mountPath": "/x", "name": "v"},
                {"mountPath": "/dev/shm", "name": "shm"}]}, {"name": "b", "image": "y"}, {"name": "c"}],
                "tolerations": [2], "nodeSelector": {"a": "1", "b/c": "2"}})
        );
        for (at, from) in [
            ("/spec/containers/0/volumeMounts/1/name", Some("/p/containers/1/volumeMounts/0/name")),
            ("/spec/containers/0/volumeMounts/0", None),
            ("/spec/containers/1/image", Some("/p/containers/0/image")),
            ("/spec/containers/1", None),
            ("/spec/containers/2", Some("/p/containers/2")),
            ("/spec/nodeSelector/b~1c", Some("/p/nodeSelector/b~1c")),
            ("/spec/nodeSelector/a", None),
            ("/spec/tolerations/0", Some("/p/tolerations/0")),
        ] {
            assert_eq!(places.source_of(at).as_deref(), from, "{at}");
        }
    }

    #[test]
    fn directives_are_not_followed() {
        let mut pod = json!({"volumes": [{"name": "a"}]});
        let patch = json!({"volumes": [{"name": "a", "$patch": "delete"}]});
        assert_eq!(
            merge_and_record_sources(&mut pod, &patch, "", "", &mut SourcesOfMergedValues::default()),
            None
        );
    }
}
