//! Networks by GKE's own annotations, which its webhook and its CNI plugin read; they are not Multus'.

use super::ProfileError;
use super::resolved::Fail;
use super::schema::{INTERFACE, Spec};
use crate::multus::annotation::{is_interface, is_subdomain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Annotation that lists the interfaces of a pod.
const INTERFACES_ANNOTATION: &str = "networking.gke.io/interfaces";
/// Annotation that names the one with the default route.
const DEFAULT_ANNOTATION: &str = "networking.gke.io/default-interface";

/// Networks that GKE attaches, by its annotations `networking.gke.io/default-interface` and
/// `networking.gke.io/interfaces`; set where the pod has neither.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GkeNetworks {
    /// Interface with the default route; one of `interfaces`.
    #[schemars(length(max = 15), regex(pattern = INTERFACE))]
    pub default_interface: String,
    /// Every interface of the pod, that of the cluster network included, in GKE's own form.
    #[schemars(length(min = 1, max = 32))]
    pub interfaces: Vec<GkeInterface>,
}

/// One interface of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GkeInterface {
    /// Name in the pod, such as `eth2`.
    #[schemars(length(max = 15), regex(pattern = INTERFACE))]
    pub interface_name: String,
    /// GKE Network object, such as `rdma-0`; `default` is the cluster network.
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

pub(super) fn check(spec: &Spec, fail: &Fail<'_>) -> Result<(), ProfileError> {
    let Some(gke) = &spec.gke_networks else { return Ok(()) };
    if spec.rails.iter().flatten().next().is_some() {
        let message =
            "GKE attaches its networks by its own annotations: a profile with them has no rails".into();
        return Err(fail("/spec/gkeNetworks", message));
    }
    if gke.interfaces.is_empty() || gke.interfaces.len() > 32 {
        return Err(fail("/spec/gkeNetworks/interfaces", "1 to 32 interfaces are expected".into()));
    }
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (i, interface) in gke.interfaces.iter().enumerate() {
        let at = |field: &str| format!("/spec/gkeNetworks/interfaces/{i}/{field}");
        let name = interface.interface_name.as_str();
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
        if !is_interface(name) || !name.bytes().all(plain) {
            return Err(fail(&at("interfaceName"), format!("{name:?} is no interface name, such as eth2")));
        }
        if !names.insert(name) {
            return Err(fail(&at("interfaceName"), format!("{name:?} is given to two networks")));
        }
        if !is_subdomain(&interface.network) {
            let message = format!("{:?} is no Network of GKE, such as rdma-0", interface.network);
            return Err(fail(&at("network"), message));
        }
    }
    if !names.contains(gke.default_interface.as_str()) {
        let message = format!("{:?} is none of the interfaces", gke.default_interface);
        return Err(fail("/spec/gkeNetworks/defaultInterface", message));
    }
    Ok(())
}
