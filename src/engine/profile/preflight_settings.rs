//! The check of the fabric in the pod, before the training starts.

use crate::json::maps_of_request::few_entries;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Images with a digest. A tag could name another program tomorrow, in the pods of every tenant.
pub(super) const IMAGE_PATTERN: &str = "^[a-zA-Z0-9][a-zA-Z0-9._:/-]*@sha256:[0-9a-f]{64}$";

/// A name, an IPv4 address or an IPv6 address in brackets, and a port.
pub(super) const PEER_PATTERN: &str =
    r"^([a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\]):[1-9][0-9]{0,4}$";

/// Init container `fabric-preflight`, which runs in the image of the training container and checks the fabric that the
/// pod has on its node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Preflight {
    /// Image of fabric-admission, with its digest, such as `registry.example.com/fabric-admission@sha256:…`.
    #[schemars(length(max = 1024), regex(pattern = IMAGE_PATTERN))]
    pub image: String,
    /// Effect of a failed check: `warn` (default; the training starts) or `fail` (the init container fails, and the
    /// training does not start).
    #[serde(default)]
    pub verdict: PreflightVerdict,
    /// Effect of individual checks, by the id of the check, such as `PF101: fail`. Values: `warn`, `fail` or `skip`
    /// (the check does not run).
    #[serde(
        default,
        deserialize_with = "few_entries::<CheckVerdict, 64, _>",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(extend("maxProperties" = 64))]
    pub checks: BTreeMap<String, CheckVerdict>,
    /// Minimum rate of each port of an RDMA device (Gbit/s), such as `400`. Without `rate`, preflight only compares the
    /// ports of the pod with each other.
    // Profiles without it keep their fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub rate: Option<u32>,
    /// Addresses that preflight connects to, as `HOST:PORT`, such as the rendezvous service of the cluster. An IPv6
    /// address needs brackets. A failed connection is only a warning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(max = 261), regex(pattern = PEER_PATTERN)))]
    pub peers: Vec<String>,
    /// How preflight gets into the container with the training image. With `copy` (default), the init container
    /// `fabric-install` copies the program to a volume. With `imageVolume`, the image of fabric-admission is mounted as
    /// a volume (Kubernetes 1.35, or 1.33 with the feature gate `ImageVolume`).
    #[serde(default)]
    pub install: PreflightInstall,
}

/// Effect of a failed check: `warn` (default) or `fail`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PreflightVerdict {
    /// The training starts.
    #[default]
    Warn,
    /// The training does not start.
    Fail,
}

// Not `off`: YAML 1.1, which kubectl reads, makes the boolean false of it.
/// Effect of one check: `warn`, `fail` or `skip`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// The training starts.
    Warn,
    /// The training does not start.
    Fail,
    /// The check does not run.
    Skip,
}

/// How the preflight program gets into the container with the training image: `copy` (default) or `imageVolume`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PreflightInstall {
    /// An init container copies the program to a volume.
    #[default]
    Copy,
    /// The image of fabric-admission is mounted as a volume.
    ImageVolume,
}
