//! Whether a pod is one of several that work together on different nodes. What is looked at is the same on every pod
//! of a gang, so that all of them get one answer; an index or a rank never takes part.
//!
//! The object that makes the pods often says it more exactly than they do: a JobSet counts its pods, a pod of it knows
//! only that there is a JobSet. Where a pod cannot tell, what is made for work over several nodes counts as such: a
//! rail too many costs less than a gang that trains over TCP.

use super::view::PodView;
use crate::text::{count, printable};
use serde_json::Value;

/// Annotation that says it outright: `true` or `false`.
pub const MULTI_NODE_ANNOTATION: &str = "fabric-admission.dev/multi-node";

/// What is known, and from what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gang {
    /// Whether the pod is one of several.
    pub several: bool,
    /// The evidence, in a few words.
    pub words: String,
}

impl Gang {
    fn of(pods: u64, words: String) -> Self {
        Self { several: pods > 1, words }
    }
}

/// How a label or annotation speaks.
enum Sign {
    /// A number of pods or jobs above one.
    Above(&'static str),
    /// By being there.
    There(&'static str),
}

/// Labels and annotations that controllers put on pods, or that people put there for a scheduler. Numbers come first:
/// they say more.
const SIGNS: &[(&str, Sign)] = &[
    // kubernetes-sigs/lws api/leaderworkerset/v1/leaderworkerset_types.go: size of each group.
    ("leaderworkerset.sigs.k8s.io/size", Sign::Above("LeaderWorkerSet group of {} pods")),
    // kubernetes-sigs/kueue pkg/controller/constants: plain pods that are admitted together.
    ("kueue.x-k8s.io/pod-group-total-count", Sign::Above("Kueue pod group of {} pods")),
    // kubernetes-sigs/jobset api/jobset/v1alpha2/jobset_types.go: jobs of the whole set. Of the pods of each job, which
    // may be many where there is one job, nothing is on the pod.
    ("jobset.sigs.k8s.io/global-replicas", Sign::Above("JobSet with {} jobs")),
    ("jobset.sigs.k8s.io/jobset-name", Sign::There("pod of JobSet {}")),
    // kubeflow/training-operator pkg/apis/kubeflow.org/v1/common_types.go, kubeflow/mpi-operator pkg/apis/kubeflow:
    // on every replica, launcher and master too. The master of a job without workers is told by its world size.
    ("training.kubeflow.org/job-name", Sign::There("pod of training job {}")),
    // kubeflow/mpi-operator v1 pkg/controllers.
    ("mpi-job-name", Sign::There("pod of MPIJob {}")),
    // volcano-sh/apis pkg/apis/batch/v1alpha1/labels.go.
    ("volcano.sh/job-name", Sign::There("pod of Volcano Job {}")),
    // ray-project/kuberay ray-operator/controllers/ray/utils/constant.go.
    ("ray.io/cluster", Sign::There("pod of RayCluster {}")),
    // kubernetes-sigs/scheduler-plugins pkg/coscheduling, and its forerunner, which koordinator still reads.
    ("scheduling.x-k8s.io/pod-group", Sign::There("pod of PodGroup {}")),
    ("pod-group.scheduling.sigs.k8s.io/min-available", Sign::Above("pod group of {} pods")),
    // koordinator-sh/koordinator apis/extension/coscheduling.go.
    ("gang.scheduling.koordinator.sh/min-available", Sign::Above("Koordinator gang of {} pods")),
    // k8s.io/api batch/v1 JobCompletionIndexAnnotation: ranks by index. A Job without is a queue of independent work.
    ("batch.kubernetes.io/job-completion-index", Sign::There("pod of an indexed Job")),
];

/// What a pod, or the template of one, says. `None`: nothing.
#[must_use]
pub fn multi_node(pod: &PodView<'_>) -> Option<Gang> {
    match pod.annotation(MULTI_NODE_ANNOTATION) {
        Some("true") => return Some(Gang { several: true, words: "its annotation says so".to_owned() }),
        Some("false") => return Some(Gang { several: false, words: "its annotation says so".to_owned() }),
        _ => {}
    }
    world(pod).or_else(|| SIGNS.iter().find_map(|(key, sign)| speaks(pod, key, sign)))
}

fn speaks(pod: &PodView<'_>, key: &str, sign: &Sign) -> Option<Gang> {
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let value = labels.and_then(|l| l.get(key)).map(|v| &**v).or_else(|| pod.annotation(key))?;
    let words = match sign {
        Sign::Above(words) => words.replace("{}", &number(value).filter(|n| *n > 1)?.to_string()),
        Sign::There(_) if value.is_empty() => return None,
        Sign::There(words) => words.replace("{}", &printable(value, 63)),
    };
    Some(Gang { several: true, words })
}

/// The size of the world in a container's variables. `NNODES` and torchrun's `PET_NNODES` count nodes, whoever sets
/// them (kubeflow/training-operator pkg/controller.v1/pytorch/envvar.go, kubeflow/trainer
/// pkg/runtime/framework/plugins/torch); a range such as `1:4` is left open. `WORLD_SIZE` counts ranks, of which one
/// node has several, so that only 1 says something.
fn world(pod: &PodView<'_>) -> Option<Gang> {
    let literal = |name: &str| {
        pod.containers().iter().find_map(|c| {
            let (_, variable) = c.env_var(name)?;
            number(variable.value.as_deref().filter(|_| variable.value_from.is_none())?)
        })
    };
    for name in ["PET_NNODES", "NNODES"] {
        if let Some(nodes) = literal(name).filter(|n| *n > 0) {
            return Some(Gang::of(nodes, format!("{name}={nodes}")));
        }
    }
    literal("WORLD_SIZE").filter(|ranks| *ranks == 1).map(|_| Gang::of(1, "WORLD_SIZE=1".to_owned()))
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// What the object around a pod template says, by its kind: its pods do not carry their controllers' labels yet. Ask
/// [`multi_node`] of the template first. `None`: another kind, or a number that cannot be read.
#[must_use]
pub fn multi_node_workload(group: &str, kind: &str, json: &str) -> Option<Gang> {
    let count_pods = match (group, kind) {
        ("batch", "Job") => |o: &Value| indexed_job(o.pointer("/spec")?),
        ("batch", "CronJob") => |o: &Value| indexed_job(o.pointer("/spec/jobTemplate/spec")?),
        ("jobset.x-k8s.io", "JobSet") => job_set,
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => {
            |o: &Value| replicas(o.pointer("/spec/leaderWorkerTemplate/size"))
        }
        ("kubeflow.org", "MPIJob") => mpi_job,
        ("kubeflow.org", "PyTorchJob" | "TFJob" | "XGBoostJob" | "PaddleJob" | "JAXJob" | "MXJob") => {
            replica_specs
        }
        ("trainer.kubeflow.org", "TrainJob") => |o: &Value| stated(o.pointer("/spec/trainer/numNodes")),
        // A runtime's number is what its jobs have unless they say otherwise.
        ("trainer.kubeflow.org", "TrainingRuntime" | "ClusterTrainingRuntime") => {
            |o: &Value| stated(o.pointer("/spec/mlPolicy/numNodes")).filter(|n| *n > 1)
        }
        ("batch.volcano.sh", "Job") => {
            |o: &Value| sum(o.pointer("/spec/tasks")?, |task| replicas(task.get("replicas")))
        }
        ("ray.io", "RayCluster") => |o: &Value| ray_cluster(o.pointer("/spec")?),
        ("ray.io", "RayJob") => |o: &Value| ray_cluster(o.pointer("/spec/rayClusterSpec")?),
        ("ray.io", "RayService") => |o: &Value| ray_cluster(o.pointer("/spec/rayClusterConfig")?),
        // A StatefulSet, Deployment or DaemonSet with replicas is as often several servers as one gang.
        _ => return None,
    };
    let pods = count_pods(&serde_json::from_str(json).ok()?)?;
    let pods_words = count(usize::try_from(pods).unwrap_or(usize::MAX), "pod");
    let words = match kind {
        "Job" | "CronJob" if group == "batch" => format!("indexed {kind} with {pods_words}"),
        "Job" => format!("Volcano Job with {pods_words}"),
        "LeaderWorkerSet" => format!("{kind} with groups of {pods_words}"),
        _ => format!("{kind} with {pods_words}"),
    };
    Some(Gang::of(pods, words))
}

/// A number of replicas, 1 where it is absent. `None` for what is no number, such as a placeholder.
fn replicas(value: Option<&Value>) -> Option<u64> {
    stated(value).or_else(|| value.is_none_or(Value::is_null).then_some(1))
}

/// A number that is there.
fn stated(value: Option<&Value>) -> Option<u64> {
    value?.as_u64()
}

/// Adds up over the elements of a list or the members of an object.
fn sum(value: &Value, count: impl Fn(&Value) -> Option<u64>) -> Option<u64> {
    let mut total = 0_u64;
    let list = value.as_array().into_iter().flatten();
    let members = value.as_object().into_iter().flat_map(serde_json::Map::values);
    for item in list.chain(members) {
        total = total.saturating_add(count(item)?);
    }
    Some(total)
}

/// Pods of a Job that run at once.
fn at_once(spec: &Value) -> Option<u64> {
    let parallelism = replicas(spec.get("parallelism"))?;
    Some(stated(spec.get("completions")).map_or(parallelism, |c| c.min(parallelism)))
}

fn indexed_job(spec: &Value) -> Option<u64> {
    let indexed = spec.get("completionMode").and_then(Value::as_str) == Some("Indexed");
    at_once(spec).filter(|_| indexed)
}

fn job_set(object: &Value) -> Option<u64> {
    sum(object.pointer("/spec/replicatedJobs")?, |job| {
        // No spec is a Job with nothing set.
        let each = at_once(job.pointer("/template/spec").unwrap_or(&Value::Null))?;
        Some(replicas(job.get("replicas"))?.saturating_mul(each))
    })
}

/// The launcher starts the ranks and has none itself, unless it says so.
fn mpi_job(object: &Value) -> Option<u64> {
    let specs = object.pointer("/spec/mpiReplicaSpecs")?;
    let workers = specs.get("Worker").map_or(Some(0), |w| replicas(w.get("replicas")))?;
    let launcher = object.pointer("/spec/runLauncherAsWorker").and_then(Value::as_bool) == Some(true);
    Some(workers.saturating_add(u64::from(launcher)))
}

/// `spec.pytorchReplicaSpecs` and the like: the only member that ends so.
fn replica_specs(object: &Value) -> Option<u64> {
    let spec = object.get("spec")?.as_object()?;
    let (_, specs) = spec.iter().find(|(key, _)| key.ends_with("ReplicaSpecs"))?;
    sum(specs, |role| replicas(role.get("replicas")))
}

/// The head and the workers; a worker group of several hosts has that many pods a replica.
fn ray_cluster(spec: &Value) -> Option<u64> {
    let workers = spec.get("workerGroupSpecs").map_or(Some(0), |groups| {
        sum(groups, |g| Some(replicas(g.get("replicas"))?.saturating_mul(replicas(g.get("numOfHosts"))?)))
    })?;
    Some(workers.saturating_add(1))
}

#[cfg(test)]
#[path = "gang_tests.rs"]
mod tests;
