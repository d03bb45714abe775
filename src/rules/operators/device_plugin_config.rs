//! FAB302: configurations of device plugins inside of network operator objects.

use crate::facts::config_texts;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB302.
pub(super) struct DevicePluginConfig;

static DEVICE_PLUGIN_CONFIG: Meta = Meta {
    id: "FAB302",
    severity: Severity::Error,
    summary: "device plugin configuration that the plugin cannot start with",
    what: "Reads the JSON text in `spec.rdmaSharedDevicePlugin.config` and `spec.sriovDevicePlugin.config` as the plugins \
           do: an object with `configList` or `resourceList`, and a `resourceName` in every entry.",
    why: "The plugin's pods end with an error and start again for ever; none of the resources is advertised, and pods \
          that ask for them stay Pending with `Insufficient rdma/…`.",
    fix: "Mend the JSON at the place that is named. Comments and commas before a closing bracket are no JSON.",
    bad: r#"apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  rdmaSharedDevicePlugin:
    image: k8s-rdma-shared-dev-plugin
    repository: registry.example.com/mellanox
    version: v1.5.3
    config: |
      {
        "configList": [
          {"resourceName": "shared_ib", "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"]}},
        ]
      }
"#,
    good: r#"apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  rdmaSharedDevicePlugin:
    image: k8s-rdma-shared-dev-plugin
    repository: registry.example.com/mellanox
    version: v1.5.3
    config: |
      {
        "configList": [
          {"resourceName": "shared_ib", "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"]}}
        ]
      }
"#,
    sources: &[
        "Mellanox/network-operator api/v1alpha1/validator",
        "Mellanox/k8s-rdma-shared-dev-plugin pkg/resources/resources_manager.go",
        "k8snetworkplumbingwg/sriov-network-device-plugin cmd/sriovdp/manager.go",
    ],
    since: "0.1.0",
    kinds: &[("mellanox.com", "NicClusterPolicy"), ("mellanox.com", "NicNodePolicy")],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for DevicePluginConfig {
    fn meta(&self) -> &'static Meta {
        &DEVICE_PLUGIN_CONFIG
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        // Values of other types than text are FAB809's.
        for text in config_texts(context.json).unwrap_or_default() {
            if let Err(fault) = text.pools {
                findings.add(
                    text.pointer,
                    format!("the device plugin cannot start with this configuration: {fault}"),
                    "mend the JSON at that place",
                );
            }
        }
    }
}
