//! Networks by GKE's own annotations, which its webhook and its CNI plugin read; they are not Multus'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interface names; fewer characters than Linux takes, see `checks::rails`.
pub(super) const INTERFACE_PATTERN: &str = "^[a-z0-9._-]{1,15}$";
/// Annotation that lists the interfaces of a pod.
const INTERFACES_ANNOTATION: &str = "networking.gke.io/interfaces";
/// Annotation that names the one with the default route.
const DEFAULT_ANNOTATION: &str = "networking.gke.io/default-interface";

/// Networks that GKE attaches by its annotations `networking.gke.io/default-interface` and
/// `networking.gke.io/interfaces`. The webhook sets both annotations if the pod has neither of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GkeNetworks {
    /// Name of the interface with the default route; must be one of `interfaces`.
    #[schemars(length(max = 15), regex(pattern = INTERFACE_PATTERN))]
    pub default_interface: String,
    /// All interfaces of the pod, including the interface of the cluster network, as in GKE's annotation.
    #[schemars(length(min = 1, max = 32))]
    pub interfaces: Vec<GkeInterface>,
}

/// One interface of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GkeInterface {
    /// Name of the interface in the pod, such as `eth2`.
    #[schemars(length(max = 15), regex(pattern = INTERFACE_PATTERN))]
    pub interface_name: String,
    /// Name of the GKE Network object, such as `rdma-0`; `default` is the cluster network.
    #[schemars(length(max = 253), regex(pattern = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"))]
    pub network: String,
}

impl GkeNetworks {
    /// Keys and values of the annotations.
    #[must_use]
    pub fn annotations(&self) -> [(&'static str, String); 2] {
        let list = serde_json::to_string(&self.interfaces).unwrap_or_default();
        [(DEFAULT_ANNOTATION, self.default_interface.clone()), (INTERFACES_ANNOTATION, list)]
    }
}
