//! Finds the pod templates inside an object, by shape: an object under some key that holds `spec.containers`
//! with at least one container that names an image. That covers the workload kinds of Kubernetes, Kubeflow,
//! JobSet, LeaderWorkerSet, Volcano, KubeRay and those nobody lists in advance.

use super::decode::{List, Objects, Pairs, Text, mapping};
use crate::text::token;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A template inside an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template<'a> {
    /// JSON pointer of the object that holds `metadata` and `spec`.
    pub pointer: String,
    /// Its JSON text.
    pub json: &'a str,
}

/// Deepest nesting that is searched; an AppWrapper around a PyTorchJob takes eight levels.
const MAX_DEPTH: usize = 32;

/// Templates in the order of the text. The object itself is no template.
#[must_use]
pub fn find(json: &str) -> Vec<Template<'_>> {
    let mut found = Vec::new();
    if json.contains("\"containers\"") {
        search(json, &mut String::new(), 0, &mut found);
    }
    found
}

/// Whether an object has pod specs that no template object holds, such as `spec.template.containers` of an
/// LLMInferenceService: there is nothing to annotate.
#[must_use]
pub fn has_bare_pod_spec(json: &str) -> bool {
    json.contains("\"containers\"") && json.contains("\"image\"") && bare(json, 0)
}

fn members(json: &str) -> Option<Pairs<'_, Option<&RawValue>>> {
    json.starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
}

fn elements(json: &str) -> Option<List<Option<&RawValue>>> {
    json.starts_with('[').then(|| serde_json::from_str(json).ok()).flatten()
}

fn search<'a>(json: &'a str, pointer: &mut String, depth: usize, found: &mut Vec<Template<'a>>) {
    if depth > MAX_DEPTH || !json.contains("\"containers\"") {
        return;
    }
    if depth > 0 && is_template(json) {
        found.push(Template { pointer: pointer.clone(), json });
        return;
    }
    let mut descend = |step: &str, value: &'a RawValue| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(step);
        search(value.get(), pointer, depth + 1, found);
        pointer.truncate(length);
    };
    if let Some(object) = members(json) {
        for (key, value) in object.0 {
            if let Some(value) = value {
                descend(&token(&key), value);
            }
        }
    } else if let Some(list) = elements(json) {
        for (index, value) in list.0.into_iter().enumerate() {
            if let Some(value) = value {
                descend(&index.to_string(), value);
            }
        }
    }
}

#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow, default, deserialize_with = "mapping")]
    spec: Option<SpecShape<'a>>,
}

#[derive(Deserialize)]
struct SpecShape<'a> {
    #[serde(borrow, default)]
    containers: Option<Objects<ContainerShape<'a>>>,
}

#[derive(Default, Deserialize)]
struct ContainerShape<'a> {
    #[serde(borrow, default)]
    image: Option<Text<'a>>,
}

fn is_template(json: &str) -> bool {
    if !json.starts_with('{') {
        return false;
    }
    let Ok(shape) = serde_json::from_str::<Shape<'_>>(json) else { return false };
    let containers = shape.spec.and_then(|s| s.containers);
    containers.is_some_and(|c| c.iter().any(|c| c.image.as_deref().is_some_and(|i| !i.is_empty())))
}

fn bare(json: &str, depth: usize) -> bool {
    if depth > MAX_DEPTH || !json.contains("\"containers\"") {
        return false;
    }
    if let Some(object) = members(json) {
        return object.iter().any(|(key, value)| {
            let Some(value) = value else { return false };
            // Keys that controllers give pod specs; a list of containers elsewhere is something else.
            let names_pod = matches!(key, "template" | "worker" | "prefill" | "podSpec" | "podTemplate");
            let spec = serde_json::from_str::<SpecShape<'_>>(value.get()).ok().and_then(|s| s.containers);
            names_pod && spec.is_some_and(|c| c.iter().any(|c| c.image.is_some()))
                || bare(value.get(), depth + 1)
        });
    }
    elements(json).is_some_and(|list| list.iter().flatten().any(|value| bare(value.get(), depth + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(json: &str) -> Vec<String> {
        find(json).into_iter().map(|t| t.pointer).collect()
    }

    const POD: &str = r#"{"spec":{"containers":[{"name":"a","image":"x"}]}}"#;

    #[test]
    fn finds_templates_wherever_they_are() {
        assert_eq!(pointers(&format!(r#"{{"kind":"Job","spec":{{"template":{POD}}}}}"#)), ["/spec/template"]);
        let jobset =
            format!(r#"{{"spec":{{"replicatedJobs":[{{"template":{{"spec":{{"template":{POD}}}}}}}]}}}}"#);
        assert_eq!(pointers(&jobset), ["/spec/replicatedJobs/0/template/spec/template"]);
        let two = format!(
            r#"{{"spec":{{"mpiReplicaSpecs":{{"Launcher":{{"template":{POD}}},"Worker":{{"template":{POD}}}}}}}}}"#
        );
        assert_eq!(
            pointers(&two),
            ["/spec/mpiReplicaSpecs/Launcher/template", "/spec/mpiReplicaSpecs/Worker/template"]
        );
    }

    #[test]
    fn leaves_false_friends_alone() {
        for json in [
            r#"{"spec":{"engineRuntimes":[{"containers":[{"name":"a","image":"x"}]}]}}"#,
            r#"{"spec":{"patches":[{"spec":{"containers":[{"name":"node","env":[]}]}}]}}"#,
            r#"{"data":{"x":"{\"spec\":{\"containers\":[]}}"}}"#,
            r#"{"spec":{"containers":[{"name":"a","image":"x"}]}}"#,
        ] {
            assert!(pointers(json).is_empty(), "{json}");
        }
    }

    #[test]
    fn tells_pod_specs_without_metadata() {
        assert!(has_bare_pod_spec(r#"{"spec":{"template":{"containers":[{"name":"a","image":"x"}]}}}"#));
        assert!(!has_bare_pod_spec(
            r#"{"spec":{"engineRuntimes":[{"containers":[{"name":"a","image":"x"}]}]}}"#
        ));
    }
}
