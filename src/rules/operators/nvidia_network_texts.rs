//! FAB360: JSON inside of the NVIDIA Network Operator's networks.

use crate::json::go::CNI;
use crate::rules::embedded::{object, sequence, spot};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use serde_json::Value;

/// FAB360.
pub(super) struct NetworkTexts;

static NETWORK_TEXTS: Meta = Meta {
    id: "FAB360",
    severity: Severity::Error,
    summary: "ipam or metaPlugins of a Macvlan-, IPoIB- or HostDeviceNetwork that is no JSON",
    what: "Reads `spec.ipam` as one JSON object and `spec.metaPlugins` as JSON objects with commas between them and \
           nothing around, each with a `type`, as the operator pastes them into the CNI configuration.",
    why: "The operator cannot render the network, or renders one that Multus cannot read: the network is never made, and \
          pods wait with `cannot find a network-attachment-definition` or `error unmarshalling delegate config`.",
    fix: "Mend the JSON at the place that is named: no comma before a bracket, no comments, no brackets around \
          metaPlugins.",
    bad: r#"apiVersion: mellanox.com/v1alpha1
kind: HostDeviceNetwork
metadata: {name: hostdev-net}
spec:
  networkNamespace: default
  resourceName: hostdev
  ipam: |
    {"type": "nv-ipam", "poolName": "rdma",}
"#,
    good: r#"apiVersion: mellanox.com/v1alpha1
kind: HostDeviceNetwork
metadata: {name: hostdev-net}
spec:
  networkNamespace: default
  resourceName: hostdev
  ipam: |
    {"type": "nv-ipam", "poolName": "rdma"}
"#,
    sources: &[
        "Mellanox/network-operator manifests/state-hostdevice-network, state-macvlan-network, state-ipoib-network",
    ],
    since: "0.1.0",
    kinds: &[
        ("mellanox.com", "MacvlanNetwork"),
        ("mellanox.com", "IPoIBNetwork"),
        ("mellanox.com", "HostDeviceNetwork"),
    ],
    also: &["NVN-026"],
    waiver: Waiver::Allowed,
};

impl Rule for NetworkTexts {
    fn meta(&self) -> &'static Meta {
        &NETWORK_TEXTS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(whole) = context.value() else { return };
        let text = |pointer: &str| whole.pointer(pointer).and_then(Value::as_str).filter(|t| !t.is_empty());
        if let Some(Err(fault)) = text("/spec/ipam").map(|ipam| object(ipam, CNI)) {
            findings.add_within(
                "/spec/ipam",
                fault.spot,
                format!("ipam is no JSON object: {fault}; the network is never made"),
                "mend the JSON at that place",
            );
        }
        // IPoIBNetwork has no such field; the API server drops it.
        let Some(meta) = text("/spec/metaPlugins").filter(|_| context.kind != "IPoIBNetwork") else { return };
        match sequence(meta) {
            Err(fault) => findings.add_within(
                "/spec/metaPlugins",
                fault.spot,
                format!("metaPlugins are not JSON objects with commas between: {fault}"),
                "mend the JSON at that place",
            ),
            Ok(entries) => {
                let named = |v: Option<&Value>| v.and_then(Value::as_str).is_some_and(|t| !t.is_empty());
                for entry in entries.iter().filter(|e| !named(e.object.get("type"))) {
                    findings.add_within_as(
                        Severity::Error,
                        "/spec/metaPlugins",
                        || spot(meta, entry.at),
                        "a plugin without type: the chain cannot be called",
                        "write its type, such as \"type\": \"tuning\"",
                    );
                }
            }
        }
    }
}
