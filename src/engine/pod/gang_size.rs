//! How many pods of a workload work together, read from the `spec` of each kind.

use crate::json::types_of_decoded_fields::{Objects, Pairs, Text, optional_struct};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;

/// The `spec` of a kind.
pub(super) trait GangSize {
    /// Pods that work together.
    fn gang_size_of_object(&self) -> Option<u64>;
}

#[derive(Deserialize)]
struct Whole<T> {
    #[serde(
        default = "none",
        deserialize_with = "optional_struct",
        bound(deserialize = "T: Deserialize<'de>")
    )]
    spec: Option<T>,
}

fn none<T>() -> Option<T> {
    None
}

/// Pods of an object that work together; `None` where a number cannot be read.
pub(super) fn gang_size_of_object<'a, T: GangSize + Deserialize<'a>>(json: &'a str) -> Option<u64> {
    crate::json::reader::read::<Whole<T>>(json).ok()?.spec?.gang_size_of_object()
}

/// A number of pods or nodes.
#[derive(Clone, Copy, Default)]
enum Number {
    #[default]
    Absent,
    Stated(u64),
    /// A placeholder, or what the API refuses.
    Unreadable,
}

impl Number {
    /// Absent replicas are one.
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
    fn gang_size_of_object(&self) -> Option<u64> {
        Some(self.replicas.or_one()?.saturating_mul(self.num_of_hosts.or_one()?))
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Job<'a> {
    #[serde(default)]
    parallelism: Number,
    #[serde(default)]
    completions: Number,
    #[serde(borrow, default)]
    completion_mode: Option<Text<'a>>,
}

impl Job<'_> {
    /// Pods that run at once.
    fn at_once(&self) -> Option<u64> {
        let parallelism = self.parallelism.or_one()?;
        Some(self.completions.stated().map_or(parallelism, |c| c.min(parallelism)))
    }
}

impl GangSize for Job<'_> {
    /// A Job without indexes is a queue of independent work.
    fn gang_size_of_object(&self) -> Option<u64> {
        self.at_once().filter(|_| self.completion_mode.as_deref() == Some("Indexed"))
    }
}

#[derive(Default, Deserialize)]
struct JobTemplate<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    spec: Option<Job<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CronJob<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    job_template: Option<JobTemplate<'a>>,
}

impl GangSize for CronJob<'_> {
    fn gang_size_of_object(&self) -> Option<u64> {
        self.job_template.as_ref()?.spec.as_ref()?.gang_size_of_object()
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JobSet<'a> {
    #[serde(borrow, default)]
    replicated_jobs: Option<Objects<ReplicatedJob<'a>>>,
}

#[derive(Default, Deserialize)]
struct ReplicatedJob<'a> {
    #[serde(default)]
    replicas: Number,
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    template: Option<JobTemplate<'a>>,
}

impl GangSize for JobSet<'_> {
    fn gang_size_of_object(&self) -> Option<u64> {
        sum(self.replicated_jobs.as_deref()?, |job| {
            let spec = job.template.as_ref().and_then(|t| t.spec.as_ref());
            Some(job.replicas.or_one()?.saturating_mul(spec.map_or(Some(1), Job::at_once)?))
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LeaderWorkerSet {
    #[serde(default, deserialize_with = "optional_struct")]
    leader_worker_template: Option<Group>,
}

#[derive(Default, Deserialize)]
struct Group {
    #[serde(default)]
    size: Number,
}

impl GangSize for LeaderWorkerSet {
    fn gang_size_of_object(&self) -> Option<u64> {
        self.leader_worker_template.as_ref().map_or(Some(1), |t| t.size.or_one())
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MpiJob<'a> {
    #[serde(borrow, default)]
    mpi_replica_specs: Option<Pairs<'a, Part>>,
    #[serde(default)]
    run_launcher_as_worker: Option<bool>,
}

impl GangSize for MpiJob<'_> {
    /// The launcher starts the ranks and has none itself, unless it says so.
    fn gang_size_of_object(&self) -> Option<u64> {
        let workers =
            self.mpi_replica_specs.as_ref()?.get("Worker").map_or(Some(0), Part::gang_size_of_object)?;
        Some(workers.saturating_add(u64::from(self.run_launcher_as_worker == Some(true))))
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrainingJob<'a> {
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

impl GangSize for TrainingJob<'_> {
    fn gang_size_of_object(&self) -> Option<u64> {
        sum(self.replica_specs.as_ref()?.iter(), |(_, role)| role.gang_size_of_object())
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Nodes {
    #[serde(default)]
    num_nodes: Number,
}

#[derive(Default, Deserialize)]
pub(super) struct TrainJob {
    #[serde(default, deserialize_with = "optional_struct")]
    trainer: Option<Nodes>,
}

impl GangSize for TrainJob {
    /// The runtime's number stands where the job has none.
    fn gang_size_of_object(&self) -> Option<u64> {
        self.trainer.as_ref()?.num_nodes.stated()
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrainingRuntime {
    #[serde(default, deserialize_with = "optional_struct")]
    ml_policy: Option<Nodes>,
}

impl GangSize for TrainingRuntime {
    /// What its jobs have unless they say otherwise; a job of a runtime for one node may ask for more.
    fn gang_size_of_object(&self) -> Option<u64> {
        self.ml_policy.as_ref()?.num_nodes.stated().filter(|n| *n > 1)
    }
}

#[derive(Default, Deserialize)]
pub(super) struct VolcanoJob {
    #[serde(default)]
    tasks: Option<Objects<Part>>,
}

impl GangSize for VolcanoJob {
    fn gang_size_of_object(&self) -> Option<u64> {
        sum(self.tasks.as_deref()?, Part::gang_size_of_object)
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RayCluster {
    #[serde(default)]
    worker_group_specs: Option<Objects<Part>>,
}

impl GangSize for RayCluster {
    /// The head, and the workers.
    fn gang_size_of_object(&self) -> Option<u64> {
        let workers = sum(self.worker_group_specs.as_deref().unwrap_or_default(), Part::gang_size_of_object)?;
        Some(workers.saturating_add(1))
    }
}

/// A RayJob or a RayService.
#[derive(Default, Deserialize)]
pub(super) struct RayOwner {
    #[serde(
        default,
        alias = "rayClusterSpec",
        alias = "rayClusterConfig",
        deserialize_with = "optional_struct"
    )]
    cluster: Option<RayCluster>,
}

impl GangSize for RayOwner {
    fn gang_size_of_object(&self) -> Option<u64> {
        self.cluster.as_ref()?.gang_size_of_object()
    }
}
