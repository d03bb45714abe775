//! How many pods work together in a workload, by its kind: the facts about a pod template before there are pods with
//! their controllers' labels.

use super::gang::Gang;
use crate::json::values::{Objects, Pairs, Text, mapping};
use crate::text::count;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;

/// What the object around a pod template shows. Ask [`super::gang::multi_node`] of the template first. `None`:
/// another kind, or a number that cannot be read.
#[must_use]
pub fn multi_node_workload(group: &str, kind: &str, json: &str) -> Option<Gang> {
    let pods = match (group, kind) {
        // k8s.io/api batch/v1.
        ("batch", "Job") => pods::<Job<'_>>(json),
        ("batch", "CronJob") => pods::<CronJob<'_>>(json),
        // kubernetes-sigs/jobset api/jobset/v1alpha2.
        ("jobset.x-k8s.io", "JobSet") => pods::<JobSet<'_>>(json),
        // kubernetes-sigs/lws api/leaderworkerset/v1.
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => pods::<LeaderWorkerSet>(json),
        // kubeflow/mpi-operator pkg/apis/kubeflow/v2beta1, kubeflow/training-operator pkg/apis/kubeflow.org/v1.
        ("kubeflow.org", "MPIJob") => pods::<MpiJob<'_>>(json),
        ("kubeflow.org", "PyTorchJob" | "TFJob" | "XGBoostJob" | "PaddleJob" | "JAXJob" | "MXJob") => {
            pods::<TrainingJob<'_>>(json)
        }
        // kubeflow/trainer pkg/apis/trainer/v1alpha1.
        ("trainer.kubeflow.org", "TrainJob") => pods::<TrainJob>(json),
        ("trainer.kubeflow.org", "TrainingRuntime" | "ClusterTrainingRuntime") => {
            pods::<TrainingRuntime>(json)
        }
        // volcano-sh/apis pkg/apis/batch/v1alpha1.
        ("batch.volcano.sh", "Job") => pods::<VolcanoJob>(json),
        // ray-project/kuberay ray-operator/apis/ray/v1.
        ("ray.io", "RayCluster") => pods::<RayCluster>(json),
        ("ray.io", "RayJob" | "RayService") => pods::<RayOwner>(json),
        // A StatefulSet, Deployment or DaemonSet with replicas is as often a set of independent servers as a gang.
        _ => None,
    }?;
    let number = count(usize::try_from(pods).unwrap_or(usize::MAX), "pod");
    let words = match (group, kind) {
        ("batch", _) => format!("indexed {kind} with {number}"),
        ("batch.volcano.sh", _) => format!("Volcano Job with {number}"),
        (_, "LeaderWorkerSet") => format!("{kind} with groups of {number}"),
        _ => format!("{kind} with {number}"),
    };
    Some(Gang { several: pods > 1, words })
}

/// The `spec` of a kind.
trait Counted {
    /// Pods that work together.
    fn pods(&self) -> Option<u64>;
}

#[derive(Deserialize)]
struct Whole<T> {
    #[serde(default = "none", deserialize_with = "mapping", bound(deserialize = "T: Deserialize<'de>"))]
    spec: Option<T>,
}

fn none<T>() -> Option<T> {
    None
}

fn pods<'a, T: Counted + Deserialize<'a>>(json: &'a str) -> Option<u64> {
    serde_json::from_str::<Whole<T>>(json).ok()?.spec?.pods()
}

/// A number of pods or nodes.
#[derive(Clone, Copy, Default)]
enum Number {
    #[default]
    Absent,
    Stated(u64),
    /// A placeholder, or a value that the API refuses.
    Unreadable,
}

impl Number {
    /// Absent replicas count as 1.
    fn or_one(self) -> Option<u64> {
        match self {
            Self::Absent => Some(1),
            Self::Stated(number) => Some(number),
            Self::Unreadable => None,
        }
    }
    fn stated(self) -> Option<u64> {
        if let Self::Stated(number) = self { Some(number) } else { None }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl<'de> Visitor<'de> for NumberVisitor {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Number, E> {
                Ok(Number::Stated(v))
            }
            fn visit_i64<E: de::Error>(self, _: i64) -> Result<Number, E> {
                Ok(Number::Unreadable)
            }
            fn visit_f64<E: de::Error>(self, _: f64) -> Result<Number, E> {
                Ok(Number::Unreadable)
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<Number, E> {
                Ok(Number::Unreadable)
            }
            fn visit_str<E: de::Error>(self, _: &str) -> Result<Number, E> {
                Ok(Number::Unreadable)
            }
            fn visit_unit<E: de::Error>(self) -> Result<Number, E> {
                Ok(Number::Absent)
            }
            // An unrendered `{{ x }}` reads as a mapping.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Number::Unreadable)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Number::Unreadable)
            }
        }
        d.deserialize_any(NumberVisitor)
    }
}

fn sum<T>(items: impl IntoIterator<Item = T>, count: impl Fn(T) -> Option<u64>) -> Option<u64> {
    items.into_iter().try_fold(0_u64, |total, item| Some(total.saturating_add(count(item)?)))
}

/// A part with `replicas`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(default)]
    replicas: Number,
    /// KubeRay: pods of each replica.
    #[serde(default)]
    num_of_hosts: Number,
}

impl Part {
    fn pods(&self) -> Option<u64> {
        Some(self.replicas.or_one()?.saturating_mul(self.num_of_hosts.or_one()?))
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Job<'a> {
    #[serde(default)]
    parallelism: Number,
    #[serde(default)]
    completions: Number,
    #[serde(borrow, default)]
    completion_mode: Option<Text<'a>>,
}

impl Job<'_> {
    /// Pods that run concurrently.
    fn at_once(&self) -> Option<u64> {
        let parallelism = self.parallelism.or_one()?;
        Some(self.completions.stated().map_or(parallelism, |c| c.min(parallelism)))
    }
}

impl Counted for Job<'_> {
    /// A Job without indexes is a queue of independent work.
    fn pods(&self) -> Option<u64> {
        self.at_once().filter(|_| self.completion_mode.as_deref() == Some("Indexed"))
    }
}

#[derive(Default, Deserialize)]
struct JobTemplate<'a> {
    #[serde(borrow, default, deserialize_with = "mapping")]
    spec: Option<Job<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CronJob<'a> {
    #[serde(borrow, default, deserialize_with = "mapping")]
    job_template: Option<JobTemplate<'a>>,
}

impl Counted for CronJob<'_> {
    fn pods(&self) -> Option<u64> {
        self.job_template.as_ref()?.spec.as_ref()?.pods()
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobSet<'a> {
    #[serde(borrow, default)]
    replicated_jobs: Option<Objects<ReplicatedJob<'a>>>,
}

#[derive(Default, Deserialize)]
struct ReplicatedJob<'a> {
    #[serde(default)]
    replicas: Number,
    #[serde(borrow, default, deserialize_with = "mapping")]
    template: Option<JobTemplate<'a>>,
}

impl Counted for JobSet<'_> {
    fn pods(&self) -> Option<u64> {
        sum(self.replicated_jobs.as_deref()?, |job| {
            let spec = job.template.as_ref().and_then(|t| t.spec.as_ref());
            Some(job.replicas.or_one()?.saturating_mul(spec.map_or(Some(1), Job::at_once)?))
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LeaderWorkerSet {
    #[serde(default, deserialize_with = "mapping")]
    leader_worker_template: Option<Group>,
}

#[derive(Default, Deserialize)]
struct Group {
    #[serde(default)]
    size: Number,
}

impl Counted for LeaderWorkerSet {
    fn pods(&self) -> Option<u64> {
        self.leader_worker_template.as_ref().map_or(Some(1), |t| t.size.or_one())
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MpiJob<'a> {
    #[serde(borrow, default)]
    mpi_replica_specs: Option<Pairs<'a, Part>>,
    #[serde(default)]
    run_launcher_as_worker: Option<bool>,
}

impl Counted for MpiJob<'_> {
    /// By default the launcher only starts the ranks and has none itself.
    fn pods(&self) -> Option<u64> {
        let workers = self.mpi_replica_specs.as_ref()?.get("Worker").map_or(Some(0), Part::pods)?;
        Some(workers.saturating_add(u64::from(self.run_launcher_as_worker == Some(true))))
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TrainingJob<'a> {
    #[serde(
        borrow,
        default,
        alias = "pytorchReplicaSpecs",
        alias = "tfReplicaSpecs",
        alias = "xgbReplicaSpecs",
        alias = "paddleReplicaSpecs",
        alias = "jaxReplicaSpecs",
        alias = "mxReplicaSpecs"
    )]
    replica_specs: Option<Pairs<'a, Part>>,
}

impl Counted for TrainingJob<'_> {
    fn pods(&self) -> Option<u64> {
        sum(self.replica_specs.as_ref()?.iter(), |(_, role)| role.pods())
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nodes {
    #[serde(default)]
    num_nodes: Number,
}

#[derive(Default, Deserialize)]
struct TrainJob {
    #[serde(default, deserialize_with = "mapping")]
    trainer: Option<Nodes>,
}

impl Counted for TrainJob {
    /// The job's number wins over the runtime's.
    fn pods(&self) -> Option<u64> {
        self.trainer.as_ref()?.num_nodes.stated()
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TrainingRuntime {
    #[serde(default, deserialize_with = "mapping")]
    ml_policy: Option<Nodes>,
}

impl Counted for TrainingRuntime {
    /// The default of its jobs; a job of a runtime for one node may request more.
    fn pods(&self) -> Option<u64> {
        self.ml_policy.as_ref()?.num_nodes.stated().filter(|n| *n > 1)
    }
}

#[derive(Default, Deserialize)]
struct VolcanoJob {
    #[serde(default)]
    tasks: Option<Objects<Part>>,
}

impl Counted for VolcanoJob {
    fn pods(&self) -> Option<u64> {
        sum(self.tasks.as_deref()?, Part::pods)
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RayCluster {
    #[serde(default)]
    worker_group_specs: Option<Objects<Part>>,
}

impl Counted for RayCluster {
    /// The head, and the workers.
    fn pods(&self) -> Option<u64> {
        let workers = sum(self.worker_group_specs.as_deref().unwrap_or_default(), Part::pods)?;
        Some(workers.saturating_add(1))
    }
}

/// A RayJob or a RayService.
#[derive(Default, Deserialize)]
struct RayOwner {
    #[serde(default, alias = "rayClusterSpec", alias = "rayClusterConfig", deserialize_with = "mapping")]
    cluster: Option<RayCluster>,
}

impl Counted for RayOwner {
    fn pods(&self) -> Option<u64> {
        self.cluster.as_ref()?.pods()
    }
}

#[cfg(test)]
mod tests;
