//! What an audit could not read, and what is therefore not decided.

use crate::pod::workload_kinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why objects of a kind are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Cause")]
pub enum WhyKindIsNotKnown {
    /// The API server refuses to list the kind.
    Forbidden,
    /// The list failed.
    Failed,
    /// The API server serves the kind only in versions that are not read.
    OtherVersion,
    /// The files have no object of the kind, and other objects need one.
    NotGiven,
}

/// A kind that is not known, or not completely.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Gap")]
pub struct KindNotKnown {
    /// API group and version; only the group if the version is not known.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// `forbidden`, `failed`, `other-version` or `not-given`.
    pub cause: WhyKindIsNotKnown,
    /// The reason: the API server's answer, its versions, or which objects need the kind.
    pub message: String,
    /// What the audit does not decide without it.
    pub effect: String,
}

impl KindNotKnown {
    /// Whether it is about a kind. Kinds of two groups may have one name, such as Job of batch and of Volcano.
    #[must_use]
    pub fn is_of(&self, group: &str, kind: &str) -> bool {
        self.kind == kind && self::group_of_api_version(&self.api_version) == group
    }
}

/// API group of an `apiVersion`; empty for the core group.
#[must_use]
pub fn group_of_api_version(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// What a missing kind affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only the workloads of this kind.
    Own,
    /// Any result.
    All,
}

/// How far the results depend on a kind.
#[must_use]
pub fn which_results_depend_on_kind(api_version: &str, kind: &str) -> Reach {
    let group = api_version.split_once('/').map_or(api_version, |(group, _)| group);
    let owns_only_itself = workload_kinds::find_workload_kind(group, kind).is_some()
        && !(group == "apps" && kind == "ReplicaSet");
    if owns_only_itself { Reach::Own } else { Reach::All }
}

/// What the audit does not decide without objects of a kind.
#[must_use]
pub fn what_is_undecided_without(api_version: &str, kind: &str) -> String {
    match kind {
        "Pod" => "running pods are not checked, and it is unknown which workloads would change on restart"
            .to_owned(),
        "Namespace" => "it is unknown which namespaces opted in, and which labels they have".to_owned(),
        "Node" => "profiles are not matched by nodes, and findings about nodes are missing".to_owned(),
        "ReplicaSet" => "pods of Deployments are listed by their ReplicaSet".to_owned(),
        "FabricProfile" => {
            "only the profiles of --profiles count; without a profile nothing is injected".to_owned()
        }
        "ResourceClaim" | "ResourceClaimTemplate" => {
            "it is unknown which devices their claims request, so pods may get no profile".to_owned()
        }
        "DeviceClass" => {
            "it is unknown of which driver the devices of their classes are, so pods may get no profile"
                .to_owned()
        }
        _ if which_results_depend_on_kind(api_version, kind) == Reach::Own => {
            "workloads of this kind are checked only through their pods".to_owned()
        }
        _ => "findings that need these objects are missing".to_owned(),
    }
}
