//! Workloads that hold a part of a pod and no template: a TrainJob, whose runtime has the rest (where that is at hand,
//! both are judged together), and the bare pod specs
//! of an LLMInferenceService, which its controller lays over others. What they say is judged; what they do not say is
//! not, since the other part may say it.

use super::findings_on_train_job_with_runtime::{self, WithoutRuntime};
use super::workload_request::{Decide, distinct_findings_up_to_limit};
use super::{PodRequest, ScopeOfParts, WorkloadRequest, decide_pod};
use crate::decision_limits::DecisionLimits;
use crate::json::annotations_of_object::AnnotationsOfObject;
use crate::json::types_of_decoded_fields::optional_struct;
use crate::multus::NETWORKS_ANNOTATION;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::limits_of_template_search::MAX_BARE_SPECS;
use crate::pod::templates_by_shape;
use crate::pod::workload_kinds::{self, WherePodsAre};
use crate::rules::{Finding, NotChecked};
use crate::snapshot::Snapshot;
use crate::text::parse_document_within_limit;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A pod as far as a workload says it, and where its parts stand in the workload.
struct Part {
    /// Where it stands in the workload.
    pointer: String,
    json: String,
    /// Pointers in the pod, and the same places in the workload; the first that fits counts.
    places: Vec<(&'static str, String)>,
    /// Whether the pods belong to a job of several, where the part says so.
    gang: Option<MultiNodeEvidence>,
}

/// What is looked at in the parts of pods that an object holds in place of templates, and the findings on them.
pub(super) fn findings(
    request: WorkloadRequest<'_>,
    holds: WherePodsAre,
    snapshot: &Snapshot,
    decide: Decide,
) -> (ScopeOfParts, Vec<Finding>) {
    let mut looked = ScopeOfParts::default();
    if holds == WherePodsAre::Trainer {
        match findings_on_train_job_with_runtime::findings(request, snapshot, decide) {
            Ok(joined) => return joined,
            Err(WithoutRuntime::NotFollowed) => looked.not_checked = Some(NotChecked::Runtime),
            Err(WithoutRuntime::Unknown) => {}
        }
    }
    let (parts, left_out) = match holds {
        WherePodsAre::Templates => (Vec::new(), None),
        WherePodsAre::Trainer => partial_pod_of_train_job(request.json).unwrap_or_default(),
        WherePodsAre::BareSpecs => bare_specs(request.json, request.deadline),
    };
    let mut not_checked = left_out;
    let mut found = Vec::<Finding>::new();
    for part in parts.into_iter().take_while(|_| !request.deadline.is_over()) {
        let pod = PodRequest { gang: part.gang.as_ref(), writes_patch: false, ..request.pod_request() };
        let (decision, whole) =
            (decide_pod(&part.json, pod, snapshot), parse_document_within_limit(&part.json));
        let (Ok(decision), Ok(whole)) = (decision, whole) else {
            not_checked = not_checked.or(Some(part.pointer));
            continue;
        };
        looked.add_scope_of(&decision);
        found.extend(
            decision.findings.into_iter().filter_map(|f| part.finding_if_workload_says_it(f, &whole)),
        );
    }
    looked.not_checked = looked.not_checked.or(not_checked.map(NotChecked::Part));
    (looked, distinct_findings_up_to_limit(found.into_iter()))
}

impl Part {
    /// A finding on something that the part says, at its place in the workload.
    fn finding_if_workload_says_it(&self, finding: Finding, pod: &Value) -> Option<Finding> {
        let steps: Vec<&str> = finding.path.split('/').skip(1).collect();
        let said = matches!(
            steps.as_slice(),
            ["spec", "containers" | "initContainers", _, _, ..]
                | ["spec", "volumes", _, ..]
                | ["metadata", "annotations", _]
        );
        if !said || pod.pointer(&finding.path).is_none() {
            return None;
        }
        let (prefix, place) = self.places.iter().find(|(prefix, _)| finding.path.starts_with(prefix))?;
        let path = format!("{place}{}", finding.path.get(prefix.len()..)?);
        Some(Finding { path, ..finding })
    }
}

#[derive(Deserialize)]
struct TrainJob<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    spec: Option<TrainJobSpec<'a>>,
}

#[derive(Deserialize)]
struct TrainJobSpec<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    trainer: Option<Trainer<'a>>,
}

/// kubeflow/trainer pkg/apis/trainer/v1alpha1/trainjob_types.go: laid over container `node` of the runtime.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trainer<'a> {
    #[serde(borrow, default)]
    num_nodes: Option<&'a RawValue>,
    #[serde(borrow, default)]
    env: Option<&'a RawValue>,
    #[serde(borrow, default)]
    resources_per_node: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

/// Parts, and where the first one stands that is left out because it is too long.
type PartsAndLeftOut = (Vec<Part>, Option<String>);

fn partial_pod_of_train_job(json: &str) -> Option<PartsAndLeftOut> {
    let trainer = crate::json::reader::read::<TrainJob<'_>>(json).ok()?.spec?.trainer?;
    let mut container = json!({"name": "node"});
    let (mut places, mut left_out) = (Vec::new(), None);
    for (raw, key, prefix, place) in [
        (trainer.env, "env", "/spec/containers/0/env", "env"),
        (trainer.resources_per_node, "resources", "/spec/containers/0/resources", "resourcesPerNode"),
        (trainer.command, "command", "/spec/containers/0/command", "command"),
        (trainer.args, "args", "/spec/containers/0/args", "args"),
    ] {
        let place = format!("/spec/trainer/{place}");
        match raw.map(|raw| parse_document_within_limit(raw.get())) {
            None => {}
            Some(Ok(value)) => {
                container.as_object_mut()?.insert(key.to_owned(), value);
                places.push((prefix, place));
            }
            Some(Err(_)) => left_out = left_out.or(Some(place)),
        }
    }
    // Trainer runs one pod per node.
    let nodes: Option<u32> = trainer.num_nodes.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let gang =
        nodes.map(|nodes| MultiNodeEvidence { several: nodes > 1, words: format!("numNodes {nodes}") });
    let json = json!({"spec": {"containers": [container]}}).to_string();
    Some((vec![Part { pointer: "/spec/trainer".to_owned(), json, places, gang }], left_out))
}

/// Most bytes of the annotation in all of them together: each is a pod with the whole annotation.
const MAX_ANNOTATIONS: usize = 256 << 10;

/// Whether an update changes an annotation of the object that its controller hands on to its pods.
pub(super) fn changes_annotation_of_pods(group: &str, kind: &str, new: &str, old: Option<&str>) -> bool {
    let handed_on = workload_kinds::find_workload_kind(group, kind)
        .is_some_and(|kind| kind.holds == WherePodsAre::BareSpecs);
    let networks =
        |json| AnnotationsOfObject::read_or_empty(json).get(NETWORKS_ANNOTATION).map(str::to_owned);
    handed_on && networks(new) != old.and_then(networks)
}

/// The controller hands the networks annotation of the object on to its pods (kserve/kserve
/// pkg/controller/v1alpha2/llmisvc).
fn bare_specs(json: &str, deadline: &DecisionLimits<'_>) -> PartsAndLeftOut {
    let annotated = AnnotationsOfObject::read_or_empty(json);
    let metadata = match annotated.get(NETWORKS_ANNOTATION) {
        Some(networks) => json!({"annotations": {(NETWORKS_ANNOTATION): networks}}),
        None => json!({}),
    }
    .to_string();
    let most = (MAX_ANNOTATIONS / metadata.len()).clamp(1, MAX_BARE_SPECS);
    let mut specs = templates_by_shape::bare_specs(json, true, deadline).into_iter();
    let parts = specs.by_ref().take(most).map(|spec| Part {
        json: format!("{{\"metadata\":{metadata},\"spec\":{}}}", spec.json),
        places: vec![("/spec/", format!("{}/", spec.pointer)), ("/metadata/", "/metadata/".to_owned())],
        gang: None,
        pointer: spec.pointer,
    });
    (parts.collect(), specs.next().map(|spec| spec.pointer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_that_pods_get_are_more_than_metadata() {
        let changes = |kind, annotation: &str| {
            let of =
                |networks| format!(r#"{{"metadata":{{"annotations":{{"{annotation}":"{networks}"}}}}}}"#);
            changes_annotation_of_pods("serving.kserve.io", kind, &of("b/secret"), Some(&of("own")))
        };
        assert!(changes("LLMInferenceService", NETWORKS_ANNOTATION));
        assert!(!changes("LLMInferenceService", "other"));
        assert!(!changes("InferenceService", NETWORKS_ANNOTATION));
    }

    #[test]
    fn what_is_said_has_its_place_and_what_is_not_said_is_left_out() {
        let job = r#"{"spec":{"trainer":{"env":[{"name":"A","value":"1"}],"resourcesPerNode":{"limits":{"x/y":1}}}}}"#;
        let part = partial_pod_of_train_job(job).unwrap().0.remove(0);
        let pod: Value = serde_json::from_str(&part.json).unwrap();
        let at = |path: &str| {
            let finding = Finding {
                rule: "FAB402",
                severity: crate::rules::Severity::Warning,
                path: path.to_owned(),
                message: String::new(),
                fix: String::new(),
                spot: None,
                because: None,
                other: None,
            };
            part.finding_if_workload_says_it(finding, &pod).map(|f| f.path)
        };
        assert_eq!(at("/spec/containers/0/env/0/value").as_deref(), Some("/spec/trainer/env/0/value"));
        assert_eq!(
            at("/spec/containers/0/resources/limits/x~1y").as_deref(),
            Some("/spec/trainer/resourcesPerNode/limits/x~1y")
        );
        assert_eq!(at("/spec/containers/0/env/1/value"), None);
        assert_eq!(at("/spec/containers/0"), None);
        assert_eq!(at(""), None);
    }
}
