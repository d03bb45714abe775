//! The estimate as JSON, `fabric-admission.dev/estimate/v1`. Fields are only ever added.

use super::{Fabric, Step};
use schemars::JsonSchema;
use serde::Serialize;

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/estimate/v1";

/// The whole document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Always `fabric-admission.dev/estimate/v1`.
    pub schema: &'static str,
    /// Version of fabric-admission.
    pub tool_version: String,
    /// What was asked.
    pub step: StepEntry,
    /// The times on each fabric.
    pub fabrics: Vec<FabricEntry>,
    /// What the figures assume.
    pub assumptions: Vec<&'static str>,
}

/// A training step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepEntry {
    /// Parameters.
    pub parameters: f64,
    /// Number format of the gradients.
    pub precision: &'static str,
    /// Bytes of the gradients.
    pub gradient_bytes: f64,
    /// GPUs.
    pub gpus: u32,
    /// Compute time of a step (seconds).
    pub compute_seconds: f64,
    /// Steps of the training; null if not given.
    pub iterations: Option<u64>,
}

/// The times on a fabric.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FabricEntry {
    /// Name.
    pub id: String,
    /// Name in a table.
    pub title: String,
    /// Effective throughput (bytes per second).
    pub bytes_per_second: f64,
    /// All-reduce: gradients / throughput (seconds).
    pub simple_seconds: f64,
    /// All-reduce by a ring (seconds).
    pub ring_seconds: f64,
    /// All-reduce by a double binary tree (seconds).
    pub tree_seconds: f64,
    /// Share of time in which the GPUs compute, by the simple formulas, which assume no overlap.
    pub utilisation: f64,
    /// The same by the ring.
    pub ring_utilisation: f64,
    /// The same by the ring, with overlap of the backward pass.
    pub overlapped_utilisation: f64,
    /// Hours of the training, by the simple formulas; null without iterations.
    pub hours: Option<f64>,
    /// `compute-bound`, `network-bound`, `GPUs mostly idle` or `severely network-bound`, by the simple formulas.
    pub verdict: &'static str,
}

/// What the figures assume.
const ASSUMPTIONS: [&str; 6] = [
    "simple: each step sends the gradients once at the effective throughput; communication follows compute",
    "ring: each byte crosses the network 2(n-1)/n times; a tree sends it twice, with lower latency on many nodes",
    "overlap: communication runs beside the whole backward pass, which is two thirds of the compute time",
    "throughput: the bus bandwidth of all_reduce_perf; one NIC for the named fabrics; rails x line rate x share of the line rate for --rate",
    "share of the line rate: InfiniBand 0.95, RoCE 0.90, TCP 0.60, as published for all_reduce_perf",
    "not counted: latency, NVLink inside a node, other jobs on the fabric, sharded optimizers, gradient accumulation",
];

impl Document {
    /// The estimate of a step on some fabrics.
    #[must_use]
    pub fn new(step: &Step, fabrics: &[Fabric], iterations: Option<u64>) -> Self {
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            step: StepEntry {
                parameters: step.parameters,
                precision: step.precision.name(),
                gradient_bytes: step.bytes(),
                gpus: step.gpus,
                compute_seconds: step.compute,
                iterations,
            },
            fabrics: fabrics.iter().map(|fabric| entry(step, fabric, iterations)).collect(),
            assumptions: ASSUMPTIONS.to_vec(),
        }
    }
}

fn entry(step: &Step, fabric: &Fabric, iterations: Option<u64>) -> FabricEntry {
    let times = step.all_reduce(fabric.throughput);
    #[allow(clippy::cast_precision_loss)] // hours of a training need no 53 bits
    let hours = iterations.map(|n| n as f64 * (step.compute + times.simple) / 3600.0);
    FabricEntry {
        id: fabric.id.clone(),
        title: fabric.title.clone(),
        bytes_per_second: fabric.throughput,
        simple_seconds: times.simple,
        ring_seconds: times.ring,
        tree_seconds: times.tree,
        utilisation: step.utilisation(times.simple),
        ring_utilisation: step.utilisation(times.ring),
        overlapped_utilisation: step.busy_share_with_overlap(times.ring),
        hours,
        verdict: step.verdict(times.simple).name(),
    }
}
