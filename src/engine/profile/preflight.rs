//! The check of the fabric in the pod, before the training starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Images with a digest. A tag could name another program tomorrow, in the pods of every tenant.
pub(super) const IMAGE: &str = "^[a-zA-Z0-9][a-zA-Z0-9._:/-]*@sha256:[0-9a-f]{64}$";

/// Init container `fabric-preflight`, which runs in the image of the training container and checks the fabric that the
/// pod has on its node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Preflight {
    /// Image of fabric-admission, with its digest, such as `registry.example.com/fabric-admission@sha256:…`.
    #[schemars(length(max = 1024), regex(pattern = IMAGE))]
    pub image: String,
    /// Effect of a failed check: `warn` (default; the training starts) or `fail` (the init container fails, and the training
    /// does not start).
    #[serde(default)]
    pub verdict: PreflightVerdict,
    /// Effect of single checks, by their ids, such as `PF101: fail`. Values: `warn`, `fail` or `skip` (the check does not
    /// run).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub checks: BTreeMap<String, CheckVerdict>,
    /// How the program reaches the training image: `copy` (default; init container `fabric-install` copies it to a volume)
    /// or `imageVolume` (the image is mounted as a volume; Kubernetes 1.36, or 1.33 with the feature gate `ImageVolume`).
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

/// How the program reaches the training image: `copy` (default) or `imageVolume`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PreflightInstall {
    /// An init container copies it to a volume.
    #[default]
    Copy,
    /// The image is mounted as a volume.
    ImageVolume,
}
