//! NicClusterPolicy and NicNodePolicy: the device plugins and the driver that the NVIDIA Network Operator deploys.

use super::FactKind;
use super::extended_resource::ResourceFact;
use super::object_shape::{Meta, Object, non_empty};
use super::resources_in_device_plugin_config::{
    ConfigFault, NVIDIA_SRIOV_PLUGIN_PREFIX, resources_of_shared_plugin_config,
    resources_of_sriov_plugin_config,
};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::types_of_decoded_fields::optional_struct;
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default, deserialize_with = "optional_struct")]
    rdma_shared_device_plugin: Option<Plugin>,
    #[serde(default, deserialize_with = "optional_struct")]
    sriov_device_plugin: Option<Plugin>,
    #[serde(default, deserialize_with = "optional_struct")]
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
pub struct DevicePluginConfigInPolicy {
    /// JSON pointer of the text.
    pub pointer: &'static str,
    /// The resources that the plugin serves with it.
    pub pools: Result<Vec<ResourceFact>, ConfigFault>,
}

impl Spec {
    /// A missing or empty text leaves the plugin to a ConfigMap of its own.
    fn texts(self) -> Vec<DevicePluginConfigInPolicy> {
        let config = |plugin: Option<Plugin>| non_empty(plugin.and_then(|p| p.config));
        let shared_text = config(self.rdma_shared_device_plugin).map(|c| DevicePluginConfigInPolicy {
            pointer: "/spec/rdmaSharedDevicePlugin/config",
            pools: resources_of_shared_plugin_config(&c),
        });
        let sriov_text = config(self.sriov_device_plugin).map(|c| DevicePluginConfigInPolicy {
            pointer: "/spec/sriovDevicePlugin/config",
            pools: resources_of_sriov_plugin_config(&c, NVIDIA_SRIOV_PLUGIN_PREFIX),
        });
        shared_text.into_iter().chain(sriov_text).collect()
    }
}

/// The configurations inside of a policy.
///
/// # Errors
/// [`DecodeError`] when a field that is read has another type.
pub fn device_plugin_configs_in_policy(json: &str) -> Result<Vec<DevicePluginConfigInPolicy>, DecodeError> {
    let (_, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    Ok(spec.unwrap_or_default().texts())
}

/// A configuration that a plugin cannot start with serves nothing.
pub(super) fn read(kind: FactKind, json: &str) -> Result<(Meta, NicPolicy), DecodeError> {
    let (meta, spec) = decode::<Object<Spec>>(json)?.into_meta_and_spec();
    // The operator ignores a NicClusterPolicy with any other name (Mellanox/network-operator
    // controllers/nicclusterpolicy_controller.go).
    let counts = kind != FactKind::NicClusterPolicy || meta.name.as_deref() == Some("nic-cluster-policy");
    let spec = spec.filter(|_| counts).unwrap_or_default();
    let ofed_everywhere = kind == FactKind::NicClusterPolicy && spec.ofed_driver.is_some();
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
        let pools = read(FactKind::NicClusterPolicy, &policy("nic-cluster-policy"));
        let names: Vec<_> = pools.into_iter().map(|p| p.name).collect();
        assert_eq!(names, [ResourceName::Full("rdma/a".into()), ResourceName::Full("nvidia.com/b".into())]);
        assert!(read(FactKind::NicClusterPolicy, &policy("other")).is_empty());
        assert_eq!(read(FactKind::NicNodePolicy, &policy("other")).len(), 2);
    }

    #[test]
    fn only_the_cluster_policy_installs_a_driver_everywhere() {
        let of = |kind, name: &str| {
            let json =
                format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"ofedDriver":{{"version":"1"}}}}}}"#);
            read(kind, &json).unwrap().1.ofed_everywhere
        };
        assert!(of(FactKind::NicClusterPolicy, "nic-cluster-policy"));
        assert!(!of(FactKind::NicClusterPolicy, "other") && !of(FactKind::NicNodePolicy, "some-nodes"));
    }

    #[test]
    fn faults_have_a_place() {
        let texts =
            device_plugin_configs_in_policy(r#"{"spec":{"sriovDevicePlugin":{"config":"{"}}}"#).unwrap();
        assert_eq!(texts[0].pointer, "/spec/sriovDevicePlugin/config");
        assert!(texts[0].pools.is_err());
        assert!(
            device_plugin_configs_in_policy(r#"{"spec":{"sriovDevicePlugin":{"config":""}}}"#)
                .unwrap()
                .is_empty()
        );
        assert_eq!(
            device_plugin_configs_in_policy(r#"{"spec":{"sriovDevicePlugin":{"config":{}}}}"#)
                .unwrap_err()
                .pointer,
            "/spec/sriovDevicePlugin/config"
        );
    }
}
