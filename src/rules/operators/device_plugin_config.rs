//! FAB302: configurations of device plugins inside of network operator objects.

use super::device_plugin_texts::{Concern, Fault, shared, sriov};
use crate::facts::config_texts;
use crate::json::go::DEVICE_PLUGIN;
use crate::rules::embedded;
use crate::rules::locate::Places;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use serde_json::Value;

/// FAB302.
pub(super) struct DevicePluginConfig;

static DEVICE_PLUGIN_CONFIG: Meta = Meta {
    id: "FAB302",
    severity: Severity::Error,
    summary: "device plugin configuration that the plugin cannot start with",
    what: "Reads the JSON text in `spec.rdmaSharedDevicePlugin.config` and `spec.sriovDevicePlugin.config` as the plugins \
           do: an object with `configList` or `resourceList`, and a `resourceName` in every entry, of letters, digits \
           and `_`, each once. Of the shared plugin: `selectors` or `devices`, not both, and no `rdmaHcaMax` below zero. \
           Of the SR-IOV plugin: a known `deviceType`, and not `isRdma` with `vdpaType`.",
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
    also: &["NVN-005", "NVN-006", "NVN-007", "NVN-008", "NVN-011", "NVN-013", "NVN-014"],
    waiver: Waiver::Allowed,
};

impl Rule for DevicePluginConfig {
    fn meta(&self) -> &'static Meta {
        &DEVICE_PLUGIN_CONFIG
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        // Values of other types than text are FAB809's.
        let Some(object) = context.value() else { return };
        for text in config_texts(context.json).unwrap_or_default() {
            let config = object.pointer(text.pointer).and_then(Value::as_str).unwrap_or_default();
            let Err(fault) = text.pools else { continue };
            let message =
                |what: &str| format!("the device plugin cannot start with this configuration: {what}");
            match embedded::object(config, DEVICE_PLUGIN) {
                Err(place) => {
                    findings.add_within(
                        text.pointer,
                        place.spot,
                        message(&place.to_string()),
                        "mend the JSON at that place",
                    );
                }
                Ok(_) => {
                    findings.add(text.pointer, message(&fault.to_string()), "mend the JSON at that place")
                }
            }
        }
        tell(context, Concern::Start, findings);
    }
}

/// FAB355.
pub(super) struct DevicePluginPools;

static DEVICE_PLUGIN_POOLS: Meta = Meta {
    id: "FAB355",
    severity: Severity::Warning,
    summary: "a device plugin's pool without devices, or with others than meant",
    what: "In the configurations of device plugins: selectors that the shared plugin does not know, `rdmaHcaMax` missing or \
           0, and a pool of the SR-IOV plugin of which an earlier one takes all devices. As information: a pool that is \
           selected by vendor alone.",
    why: "The plugin starts, and the resource has no units or the wrong ones: pods stay Pending with `Insufficient …`, or \
          get NICs of storage and management. The log says `Cannot add device […]. Already allocated`.",
    fix: "Select by `ifNames` or `pfNames`, narrow pools first, and set `rdmaHcaMax`.",
    bad: r#"apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  rdmaSharedDevicePlugin:
    image: k8s-rdma-shared-dev-plugin
    repository: registry.example.com/mellanox
    version: v1.5.3
    config: |
      {"configList": [
        {"resourceName": "shared_ib", "rdmaHcaMax": 0, "selectors": {"ifNames": ["ibs1f0"]}}
      ]}
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
      {"configList": [
        {"resourceName": "shared_ib", "rdmaHcaMax": 63, "selectors": {"ifNames": ["ibs1f0"]}}
      ]}
"#,
    sources: &[
        "Mellanox/k8s-rdma-shared-dev-plugin pkg/types/types.go, pkg/resources/server.go",
        "k8snetworkplumbingwg/sriov-network-device-plugin cmd/sriovdp/manager.go (excludeAllocatedDevices)",
    ],
    since: "0.1.0",
    kinds: &[("mellanox.com", "NicClusterPolicy"), ("mellanox.com", "NicNodePolicy")],
    also: &["NVN-009", "NVN-015", "NVN-016"],
    waiver: Waiver::Allowed,
};

impl Rule for DevicePluginPools {
    fn meta(&self) -> &'static Meta {
        &DEVICE_PLUGIN_POOLS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        tell(context, Concern::Devices, findings);
    }
}

/// FAB356.
pub(super) struct OperatorRefuses;

static OPERATOR_REFUSES: Meta = Meta {
    id: "FAB356",
    severity: Severity::Info,
    summary: "a device plugin configuration that only the operator's own webhook refuses",
    what: "In the configurations of device plugins: a `resourcePrefix` without a dot, a `-` in a `resourceName` of the \
           SR-IOV plugin, and its selectors `pKeys` and `acpiIndexes`.",
    why: "The plugins take them; the webhook of the NVIDIA Network Operator, which is off by default, does not. Once it \
          is on, the next change of the object is refused.",
    fix: "Write a form that both take, before the webhook is turned on.",
    bad: r#"apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  sriovDevicePlugin:
    image: sriov-network-device-plugin
    repository: registry.example.com/mellanox
    version: v3.9.0
    config: |
      {"resourceList": [
        {"resourcePrefix": "rdma", "resourceName": "ib", "selectors": {"linkTypes": ["infiniband"], "isRdma": true}}
      ]}
"#,
    good: r#"apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy}
spec:
  sriovDevicePlugin:
    image: sriov-network-device-plugin
    repository: registry.example.com/mellanox
    version: v3.9.0
    config: |
      {"resourceList": [
        {"resourcePrefix": "example.com", "resourceName": "ib", "selectors": {"linkTypes": ["infiniband"], "isRdma": true}}
      ]}
"#,
    sources: &[
        "Mellanox/network-operator api/v1alpha1/validator/nicpolicy_webhook.go, webhook-schemas/net_device.json",
        "Azure/aks-rdma-infiniband configs/nicclusterpolicy",
    ],
    since: "0.1.0",
    kinds: &[("mellanox.com", "NicClusterPolicy"), ("mellanox.com", "NicNodePolicy")],
    also: &["NVN-010", "NVN-012"],
    waiver: Waiver::Allowed,
};

impl Rule for OperatorRefuses {
    fn meta(&self) -> &'static Meta {
        &OPERATOR_REFUSES
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        tell(context, Concern::Operator, findings);
    }
}

/// Finds the faults of a configuration.
type Reader = fn(&serde_json::Map<String, Value>) -> Vec<Fault>;

/// Tells the faults of one concern, each at its place in the text.
fn tell(context: &ObjectContext<'_>, concern: Concern, findings: &mut Findings<'_>) {
    let Some(object) = context.value() else { return };
    let plugins: [(&str, Reader); 2] =
        [("/spec/rdmaSharedDevicePlugin/config", shared), ("/spec/sriovDevicePlugin/config", sriov)];
    for (pointer, read) in plugins {
        let Some(text) = object.pointer(pointer).and_then(Value::as_str) else { continue };
        let Ok(config) = embedded::object(text, DEVICE_PLUGIN) else { continue };
        let places = Places::default();
        for fault in read(&config).into_iter().filter(|f| f.concern == concern) {
            let place = || places.locate(text, &fault.pointer, DEVICE_PLUGIN);
            findings.add_within_as(fault.severity, pointer, place, fault.message, fault.fix);
        }
    }
}
