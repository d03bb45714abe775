//! NicClusterPolicy and NicNodePolicy: the device plugins and the driver that the NVIDIA Network Operator deploys.

use super::Kind;
use super::device_plugin::{ConfigFault, NVIDIA_PREFIX, shared, sriov};
use super::extended_resource::ResourceFact;
use super::object_shape::{Meta, Object, text};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::null_as_absent::mapping;
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default, deserialize_with = "mapping")]
    rdma_shared_device_plugin: Option<Plugin>,
    #[serde(default, deserialize_with = "mapping")]
    sriov_device_plugin: Option<Plugin>,
    #[serde(default, deserialize_with = "mapping")]
    ofed_driver: Option<Driver>,
}

/// Only whether it is there counts.
#[derive(Default, Deserialize)]
struct Driver {}

/// A policy as decisions read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicPolicy {
    /// The resources that its device plugins serve.
    pub pools: Vec<ResourceFact>,
    /// Whether it installs MLNX_OFED or DOCA-OFED on all nodes with an NVIDIA NIC: `ofedDriver` of the cluster's policy.
    /// A NicNodePolicy does so on some nodes.
    pub ofed_everywhere: bool,
}

#[derive(Default, Deserialize)]
struct Plugin {
    #[serde(default)]
    config: Option<String>,
}

/// A device plugin's configuration inside of a policy.
#[derive(Debug)]
pub struct ConfigText {
    /// JSON pointer of the text.
    pub pointer: &'static str,
    /// The resources that the plugin serves with it.
    pub pools: Result<Vec<ResourceFact>, ConfigFault>,
}

impl Spec {
    /// A missing or empty text leaves the plugin to a ConfigMap of its own.
    fn texts(self) -> Vec<ConfigText> {
        let config = |plugin: Option<Plugin>| text(plugin.and_then(|p| p.config));
        let shared_text = config(self.rdma_shared_device_plugin)
            .map(|c| ConfigText { pointer: "/spec/rdmaSharedDevicePlugin/config", pools: shared(&c) });
        let sriov_text = config(self.sriov_device_plugin).map(|c| ConfigText {
            pointer: "/spec/sriovDevicePlugin/config",
            pools: sriov(&c, NVIDIA_PREFIX),
        });
        shared_text.into_iter().chain(sriov_text).collect()
    }
}

/// The configurations inside of a policy.
///
/// # Errors
/// [`DecodeError`] when a field that is read has another type.
pub fn config_texts(json: &str) -> Result<Vec<ConfigText>, DecodeError> {
    let (_, spec) = decode::<Object<Spec>>(json)?.split();
    Ok(spec.unwrap_or_default().texts())
}

/// A configuration that a plugin cannot start with serves nothing.
pub(super) fn read(kind: Kind, json: &str) -> Result<(Meta, NicPolicy), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.split();
    // The operator ignores a NicClusterPolicy with any other name (Mellanox/network-operator
    // controllers/nicclusterpolicy_controller.go).
    let counts = kind != Kind::NicClusterPolicy || meta.name.as_deref() == Some("nic-cluster-policy");
    let spec = spec.filter(|_| counts).unwrap_or_default();
    let ofed_everywhere = kind == Kind::NicClusterPolicy && spec.ofed_driver.is_some();
    let pools = spec.texts().into_iter().filter_map(|c| c.pools.ok()).flatten().collect();
    Ok((meta, NicPolicy { pools, ofed_everywhere }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multus::ResourceName;

    fn policy(name: &str) -> String {
        format!(
            r#"{{"metadata":{{"name":"{name}"}},"spec":{{
                "rdmaSharedDevicePlugin":{{"config":"{{\"configList\":[{{\"resourceName\":\"a\",\"rdmaHcaMax\":63}}]}}"}},
                "sriovDevicePlugin":{{"config":"{{\"resourceList\":[{{\"resourceName\":\"b\"}}]}}"}},"nvIpam":7}}}}"#
        )
    }

    #[test]
    fn reads_both_plugins() {
        let read = |kind, json: &str| read(kind, json).unwrap().1.pools;
        let pools = read(Kind::NicClusterPolicy, &policy("nic-cluster-policy"));
        let names: Vec<_> = pools.into_iter().map(|p| p.name).collect();
        assert_eq!(names, [ResourceName::Full("rdma/a".into()), ResourceName::Full("nvidia.com/b".into())]);
        assert!(read(Kind::NicClusterPolicy, &policy("other")).is_empty());
        assert_eq!(read(Kind::NicNodePolicy, &policy("other")).len(), 2);
    }

    #[test]
    fn only_the_cluster_policy_installs_a_driver_everywhere() {
        let of = |kind, name: &str| {
            let json =
                format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"ofedDriver":{{"version":"1"}}}}}}"#);
            read(kind, &json).unwrap().1.ofed_everywhere
        };
        assert!(of(Kind::NicClusterPolicy, "nic-cluster-policy"));
        assert!(!of(Kind::NicClusterPolicy, "other") && !of(Kind::NicNodePolicy, "some-nodes"));
    }

    #[test]
    fn faults_have_a_place() {
        let texts = config_texts(r#"{"spec":{"sriovDevicePlugin":{"config":"{"}}}"#).unwrap();
        assert_eq!(texts[0].pointer, "/spec/sriovDevicePlugin/config");
        assert!(texts[0].pools.is_err());
        assert!(config_texts(r#"{"spec":{"sriovDevicePlugin":{"config":""}}}"#).unwrap().is_empty());
        assert_eq!(
            config_texts(r#"{"spec":{"sriovDevicePlugin":{"config":{}}}}"#).unwrap_err().pointer,
            "/spec/sriovDevicePlugin/config"
        );
    }
}
