//! The JobSet that Kubeflow Trainer makes of a TrainJob and its runtime, where the runtime is at hand, with the place of
//! each value in the TrainJob (kubeflow/trainer pkg/runtime/core/trainingruntime.go, `newRuntimeInfo`, and
//! pkg/runtime/framework/plugins/jobset/builder.go, `Trainer`).

use super::is_small_enough_to_copy::is_small_enough_to_copy;
use super::names_in_metadata::ObjectMeta;
use super::strategic_merge_patch::{Elements, MAX_ELEMENTS, SourcesOfMergedValues, merge_and_record_sources};
use super::workload_request::{Decide, distinct_findings_up_to_limit};
use super::{ScopeOfParts, WorkloadRequest};
use crate::decision_limits::DecisionLimits;
use crate::json::types_of_decoded_fields::{Pairs, Text, optional_struct};
use crate::pod::workload_kinds::JOB_SET;
use crate::rules::{Finding, Severity};
use crate::snapshot::Snapshot;
use crate::text::{escaped_and_cut, json_pointer_token, parse_document_within_limit};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Label of the jobs that the trainer's part is laid over (pkg/constants/constants.go).
const ANCESTOR: &str = "trainer.kubeflow.org/trainjob-ancestor-step";
/// Name of the container that it is laid over, and of the job of MPI's workers.
const NODE: &str = "node";
/// Most jobs of a runtime that is followed (count). Runtimes have one to four. A TrainJob of a few hundred bytes makes the
/// webhook check the templates of all jobs, twice for each version of the TrainJob.
const MAX_JOBS: usize = 8;
/// Most patches of a TrainJob that are followed (count).
const MAX_PATCHES: usize = 64;

/// Handling of the runtime's resources if the TrainJob sets `resourcesPerNode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuntimeResourceHandling {
    /// Trainer 2.3 and later keep what the TrainJob does not name (`MergeResourceRequirements`).
    Merged,
    /// Trainer before 2.3 drops it.
    Replaced,
}

/// The JobSet.
struct JobSetOfTrainJob {
    json: String,
    places: SourcesOfMergedValues,
    /// The runtime as messages name it.
    runtime: String,
    /// Names of its jobs.
    jobs: Vec<String>,
    /// Whether both have resources for one container.
    both_say_resources: bool,
}

/// Why a TrainJob is checked without its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutRuntime {
    /// The runtime is not known, or is none that makes a JobSet.
    Unknown,
    /// The TrainJob, the runtime, or what is copied between them, is over a limit; or a patch has directives.
    NotFollowed,
}

/// What is looked at and found in the pods of a TrainJob whose runtime is known.
///
/// # Errors
/// Why it is not followed.
pub(super) fn findings(
    request: WorkloadRequest<'_>,
    snapshot: &Snapshot,
    decide: Decide,
) -> Result<(ScopeOfParts, Vec<Finding>), WithoutRuntime> {
    let joined = build_job_set_of_train_job(request, snapshot, RuntimeResourceHandling::Merged)?;
    let (looked, mut found) = joined.findings(request, snapshot, decide);
    // The version of Trainer is not known: a problem of only some versions is not an error.
    if joined.both_say_resources && found.iter().any(|f| f.severity == Severity::Error) {
        let other = build_job_set_of_train_job(request, snapshot, RuntimeResourceHandling::Replaced)?
            .findings(request, snapshot, decide)
            .1;
        for finding in found.iter_mut().filter(|f| f.severity == Severity::Error) {
            let same = |o: &Finding| {
                (o.rule, &o.path, o.severity) == (finding.rule, &finding.path, finding.severity)
            };
            if !other.iter().any(same) {
                finding.severity = Severity::Warning;
                finding.because = Some("Trainer 2.3 and later keep the runtime's resources");
                finding
                    .message
                    .push_str(" (only with Kubeflow Trainer 2.3 or later, which keeps the resources of the TrainingRuntime)");
            }
        }
    }
    Ok((looked, found))
}

impl JobSetOfTrainJob {
    fn findings(
        &self,
        request: WorkloadRequest<'_>,
        snapshot: &Snapshot,
        decide: Decide,
    ) -> (ScopeOfParts, Vec<Finding>) {
        let inner = WorkloadRequest { group: JOB_SET.group, kind: JOB_SET.kind, json: &self.json, ..request };
        let decided = decide(inner, snapshot);
        let (mut looked, mut found) = (ScopeOfParts::default(), Vec::new());
        for (template, decision) in decided.templates {
            let Ok(decision) = decision else { continue };
            looked.add_scope_of(&decision);
            let of_template = |f: Finding| Finding { path: format!("{}{}", template.pointer, f.path), ..f };
            found.extend(decision.findings.into_iter().map(of_template));
        }
        if let Some(own) = decided.own {
            looked.add_scope_of(&own);
            found.extend(own.findings);
        }
        (
            looked,
            distinct_findings_up_to_limit(found.into_iter().map(|f| self.finding_at_place_in_train_job(f))),
        )
    }

    /// A finding at the place in the TrainJob that says the value, else at the runtime it names.
    fn finding_at_place_in_train_job(&self, finding: Finding) -> Finding {
        if let Some(path) = self.places.source_of(&finding.path) {
            return Finding { path, ..finding };
        }
        let index = finding.path.strip_prefix("/spec/replicatedJobs/");
        let index = index.and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
        let job = match index.and_then(|index| self.jobs.get(index)) {
            Some(job) => format!("job {job:?} of {}", self.runtime),
            None => self.runtime.clone(),
        };
        let message = format!("{} ({job})", finding.message);
        Finding { path: "/spec/runtimeRef".to_owned(), message, spot: None, ..finding }
    }
}

fn build_job_set_of_train_job(
    request: WorkloadRequest<'_>,
    snapshot: &Snapshot,
    reading: RuntimeResourceHandling,
) -> Result<JobSetOfTrainJob, WithoutRuntime> {
    use WithoutRuntime::{NotFollowed, Unknown};
    let job = crate::json::reader::read::<JobWithRawSpec<'_>>(request.json).map_err(|_| Unknown)?;
    let spec = job.spec.ok_or(Unknown)?.get();
    let reference = crate::json::reader::read::<JobSpec<'_>>(spec).ok().and_then(|spec| spec.runtime_ref);
    let reference = reference.ok_or(Unknown)?;
    let (kind, name, runtime) =
        find_stored_runtime(|key| reference.text(key), request.namespace, snapshot).ok_or(Unknown)?;
    if !is_small_enough_to_copy(runtime) {
        return Err(NotFollowed);
    }
    let spec = parse_document_within_limit(spec).map_err(|_| NotFollowed)?;
    let runtime = parse_document_within_limit(runtime).map_err(|_| NotFollowed)?;
    let mut set = runtime.pointer("/template/spec").filter(|s| s.is_object()).ok_or(Unknown)?.clone();
    let jobs = set.get("replicatedJobs").and_then(Value::as_array).ok_or(Unknown)?;
    if jobs.len() > MAX_JOBS {
        return Err(NotFollowed);
    }
    let mut places = SourcesOfMergedValues::default();
    apply_runtime_patches(&spec, &mut set, &mut places, request.deadline).ok_or(NotFollowed)?;
    let policy = runtime.get("mlPolicy").unwrap_or(&Value::Null);
    let trainer = spec.get("trainer").unwrap_or(&Value::Null);
    let jobs = set.get_mut("replicatedJobs").and_then(Value::as_array_mut).ok_or(Unknown)?;
    if jobs.len() > MAX_JOBS {
        return Err(NotFollowed);
    }
    let mut both_say_resources = false;
    for (index, job) in jobs.iter_mut().enumerate() {
        let at = format!("/spec/replicatedJobs/{index}");
        both_say_resources |=
            lay_trainer_over_job(job, &at, trainer, policy, reading, &mut places).ok_or(NotFollowed)?;
    }
    let name_of =
        |job: &Value| escaped_and_cut(job.get("name").and_then(Value::as_str).unwrap_or_default(), 63);
    let jobs = jobs.iter().map(name_of).collect();
    let metadata = runtime.pointer("/template/metadata").filter(|m| m.is_object()).cloned();
    let mut metadata = metadata.unwrap_or_else(|| json!({}));
    let names = job.metadata.unwrap_or_default();
    for (key, value) in [("name", names.name), ("generateName", names.generate_name)] {
        if let (Some(value), Some(object)) = (value, metadata.as_object_mut()) {
            object.insert(key.to_owned(), value.0.into());
        }
    }
    // Trainer suspends and resumes the JobSet with its TrainJob.
    if let (Some(suspend), Some(spec)) = (spec.get("suspend"), set.as_object_mut()) {
        spec.insert("suspend".to_owned(), suspend.clone());
    }
    let set = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": set,
    });
    let runtime = format!("{kind} {}", escaped_and_cut(name, 63));
    let json = set.to_string();
    // A patch may add fields that no JobSet has, with further templates in them.
    if memmem::find_iter(json.as_bytes(), b"\"containers\"").count() > MAX_JOBS {
        return Err(NotFollowed);
    }
    Ok(JobSetOfTrainJob { json, places, runtime, jobs, both_say_resources })
}

/// The runtime that the texts of a reference name, if it is known: kind, name and the JSON text of its `spec`.
fn find_stored_runtime<'r, 's>(
    text: impl Fn(&str) -> Option<&'r str>,
    namespace: &str,
    snapshot: &'s Snapshot,
) -> Option<(&'r str, &'r str, &'s str)> {
    if text("apiGroup").is_some_and(|group| group != "trainer.kubeflow.org") {
        return None;
    }
    let kind = text("kind").unwrap_or("ClusterTrainingRuntime");
    let namespace = match kind {
        "ClusterTrainingRuntime" => None,
        "TrainingRuntime" => Some(namespace),
        _ => return None,
    };
    let name = text("name")?;
    Some((kind, name, &snapshot.training_runtime(namespace, name)?.spec))
}

/// A TrainJob whose `spec` is read only if its runtime is known. Its labels and managed fields do not count for limits.
#[derive(Deserialize)]
struct JobWithRawSpec<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    metadata: Option<ObjectMeta<'a>>,
    #[serde(borrow, default)]
    spec: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Job<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    spec: Option<JobSpec<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobSpec<'a> {
    #[serde(borrow, default)]
    runtime_ref: Option<RuntimeReference<'a>>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct RuntimeReference<'a>(#[serde(borrow)] Pairs<'a, Option<Text<'a>>>);

impl RuntimeReference<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_deref().filter(|text| !text.is_empty())
    }
}

/// The stored runtime that the decision on a TrainJob reads as well.
pub(super) fn stored_runtime_of_train_job<'s>(
    json: &str,
    namespace: &str,
    snapshot: &'s Snapshot,
) -> Option<&'s str> {
    let reference = crate::json::reader::read::<Job<'_>>(json).ok()?.spec?.runtime_ref?;
    let runtime = find_stored_runtime(|key| reference.text(key), namespace, snapshot)?.2;
    is_small_enough_to_copy(runtime).then_some(runtime)
}

/// Lays the patches of the TrainJob over the JobSet: `runtimePatches`, and what older versions had in its place. `None`
/// where one cannot be followed.
fn apply_runtime_patches(
    spec: &Value,
    set: &mut Value,
    places: &mut SourcesOfMergedValues,
    deadline: &DecisionLimits<'_>,
) -> Option<()> {
    let list = |key: &str| spec.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
    for (index, patch) in list("runtimePatches") {
        if index >= MAX_PATCHES || deadline.is_over() {
            return None;
        }
        if let Some(patch) = patch.pointer("/trainingRuntimeSpec/template/spec") {
            let from = format!("/spec/runtimePatches/{index}/trainingRuntimeSpec/template/spec");
            merge_and_record_sources(set, patch, "/spec", &from, places)?;
        }
    }
    // v1alpha1 until 2.1: parts of a pod template for the jobs that are named (`mergePodTemplateOverrides`).
    for (key, inline) in [("podTemplateOverrides", false), ("podSpecOverrides", true)] {
        for (index, over) in list(key) {
            if index >= MAX_PATCHES || deadline.is_over() {
                return None;
            }
            let targets = over.get("targetJobs").and_then(Value::as_array).into_iter().flatten();
            let targets: BTreeSet<&str> = targets.filter_map(|target| target.get("name")?.as_str()).collect();
            let members = over.as_object().into_iter().flatten();
            let patch: Map<String, Value> = members
                .filter(|(key, _)| *key != "targetJobs")
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            let (below, patch) = (if inline { "/spec" } else { "" }, Value::Object(patch));
            let jobs = set.get_mut("replicatedJobs").and_then(Value::as_array_mut);
            for (number, job) in jobs.into_iter().flatten().enumerate() {
                if !job.get("name").and_then(Value::as_str).is_some_and(|name| targets.contains(name)) {
                    continue;
                }
                let at = format!("/template/spec/template{below}");
                let Some(part) = job.pointer_mut(&at) else { continue };
                let at = format!("/spec/replicatedJobs/{number}{at}");
                merge_and_record_sources(part, &patch, &at, &format!("/spec/{key}/{index}"), places)?;
            }
        }
    }
    Some(())
}

/// Lays `spec.trainer` over one job, and returns whether both had resources. `None` where there is more of it than is
/// followed.
fn lay_trainer_over_job(
    job: &mut Value,
    at: &str,
    trainer: &Value,
    policy: &Value,
    reading: RuntimeResourceHandling,
    places: &mut SourcesOfMergedValues,
) -> Option<bool> {
    let label = format!("/template/metadata/labels/{}", json_pointer_token(ANCESTOR));
    let is_trainer = job.pointer(&label).and_then(Value::as_str) == Some("trainer");
    let is_node = job.get("name").and_then(Value::as_str) == Some(NODE);
    let mpi = policy.get("mpi").filter(|m| m.is_object());
    let launcher_is_node =
        mpi.and_then(|m| m.get("runLauncherAsNode")).and_then(Value::as_bool) == Some(true);
    let nodes = trainer.get("numNodes").or_else(|| policy.get("numNodes")).and_then(Value::as_u64);
    // MPI starts its ranks on job `node`, whatever the label is (plugins/mpi/mpi.go, `EnforceMLPolicy`).
    let pods = match mpi {
        Some(_) if launcher_is_node => nodes.filter(|_| is_node).map(|n| n.saturating_sub(1).max(1)),
        Some(_) => nodes.filter(|_| is_node),
        None => nodes.filter(|_| is_trainer),
    };
    if let (Some(pods), Some(spec)) = (pods, job.pointer_mut("/template/spec").and_then(Value::as_object_mut))
    {
        spec.insert("parallelism".to_owned(), pods.into());
        spec.insert("completions".to_owned(), pods.into());
    }
    let of_node = is_trainer || launcher_is_node && is_node;
    let mut both_say_resources = false;
    let containers = job.pointer_mut("/template/spec/template/spec/containers").and_then(Value::as_array_mut);
    for (index, container) in containers.into_iter().flatten().enumerate().filter(|_| of_node) {
        let Some(container) = container.as_object_mut() else { continue };
        if container.get("name").and_then(Value::as_str) != Some(NODE) {
            continue;
        }
        let at = format!("{at}/template/spec/template/spec/containers/{index}");
        for key in ["image", "command", "args"] {
            if let Some(value) = trainer.get(key).filter(|v| is_trainer && !v.is_null()) {
                container.insert(key.to_owned(), places.counted_copy(value)?);
                places.record_source(format!("{at}/{key}"), format!("/spec/trainer/{key}"));
            }
        }
        set_variables_of_trainer(container, &at, trainer, places)?;
        both_say_resources |= set_resources_of_trainer(container, &at, trainer, reading, places)?;
    }
    Some(both_say_resources)
}

/// Each variable of the trainer in the place of the one of its name.
fn set_variables_of_trainer(
    container: &mut Map<String, Value>,
    at: &str,
    trainer: &Value,
    places: &mut SourcesOfMergedValues,
) -> Option<()> {
    let given = trainer.get("env").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if given.is_empty() {
        return Some(());
    }
    let slot = container.entry("env").or_insert(Value::Null);
    if !slot.is_array() {
        *slot = json!([]);
    }
    let env = slot.as_array_mut()?;
    if given.len().max(env.len()) > MAX_ELEMENTS {
        return None;
    }
    let mut elements = Elements::of(env, "name");
    for (number, variable) in given.iter().enumerate() {
        let place = elements.place_of_element_or_next(variable, env.len());
        match env.get_mut(place) {
            Some(own) => *own = places.counted_copy(variable)?,
            None => env.push(places.counted_copy(variable)?),
        }
        places.record_source(format!("{at}/env/{place}"), format!("/spec/trainer/env/{number}"));
    }
    Some(())
}

/// Each quantity of the trainer in the place of the one of its name, or all of them in the place of all; whether there
/// were any before.
fn set_resources_of_trainer(
    container: &mut Map<String, Value>,
    at: &str,
    trainer: &Value,
    reading: RuntimeResourceHandling,
    places: &mut SourcesOfMergedValues,
) -> Option<bool> {
    let Some(given) = trainer.get("resourcesPerNode").filter(|r| r.is_object()) else { return Some(false) };
    let slot = container.entry("resources").or_insert(Value::Null);
    let had = slot.as_object().is_some_and(|own| !own.is_empty());
    if !slot.is_object() || reading == RuntimeResourceHandling::Replaced {
        *slot = json!({});
    }
    merge_and_record_sources(
        slot,
        given,
        &format!("{at}/resources"),
        "/spec/trainer/resourcesPerNode",
        places,
    )?;
    Some(had)
}

#[cfg(test)]
mod tests;
