//! The metrics of the fabric from the pod, while the training runs.

use super::preflight_settings::IMAGE_PATTERN;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Port of the metrics where a profile says nothing.
const DEFAULT_PORT: u16 = 9406;

/// Native sidecar `fabric-monitor`, which exports the counters of the pod's RDMA devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Monitor {
    /// Image of fabric-admission, with its digest, such as `registry.example.com/fabric-admission@sha256:…`.
    #[schemars(length(max = 1024), regex(pattern = IMAGE_PATTERN))]
    pub image: String,
    /// Port of the metrics (1024 to 65535). Default: 9406.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1024, max = 65535))]
    pub port: u16,
    /// How Prometheus finds the port: `annotations` (default; the annotations `prometheus.io/scrape`, `port` and `path`) or
    /// `none` (a PodMonitor selects the port `fabric-metrics`).
    #[serde(default)]
    pub scrape: Scrape,
    /// Whether the monitor of rank 0 asks NCCL's RAS service once a minute for missing and stuck ranks. Default:
    /// false. Needs NCCL 2.24 or newer.
    // Profiles without it keep their fingerprint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ras: bool,
    /// Resources of the sidecar. Set these fields if a LimitRange requires higher values than the defaults.
    #[serde(default)]
    pub resources: MonitorResources,
}

fn default_port() -> u16 {
    DEFAULT_PORT
}

/// How Prometheus finds the port: `annotations` (default) or `none`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Scrape {
    /// By annotations that the webhook adds to the pod.
    #[default]
    Annotations,
    /// The webhook adds no annotations; a PodMonitor can select the port `fabric-metrics`.
    None,
}

/// Resources of the sidecar. The sidecar requests CPU only if every app container of the pod requests CPU. Memory,
/// ephemeral storage and limits follow the same rule, so that the pod keeps its quality-of-service class. If the pod has
/// `spec.resources` and its containers use them up, the sidecar requests 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MonitorResources {
    /// CPU of the sidecar. Default: `20m`.
    #[schemars(length(max = 32))]
    pub cpu: String,
    /// Memory of the sidecar, at least 32Mi. Default: `64Mi`.
    #[schemars(length(max = 32))]
    pub memory: String,
    /// Ephemeral storage of the sidecar, at least 1Mi: its log. Default: `16Mi`.
    // Profiles without it keep their fingerprint.
    #[schemars(length(max = 32))]
    #[serde(skip_serializing_if = "is_default_storage")]
    pub ephemeral_storage: String,
}

/// Ephemeral storage where a profile says nothing.
const DEFAULT_STORAGE: &str = "16Mi";

fn is_default_storage(text: &String) -> bool {
    text == DEFAULT_STORAGE
}

impl Default for MonitorResources {
    fn default() -> Self {
        Self {
            cpu: "20m".to_owned(),
            memory: "64Mi".to_owned(),
            ephemeral_storage: DEFAULT_STORAGE.to_owned(),
        }
    }
}
