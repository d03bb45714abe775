//! FAB111: the plugin that moves RDMA devices, at a place where it cannot.

use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB111.
pub(super) struct RdmaChain;

static RDMA_CHAIN: Meta = Meta {
    id: "FAB111",
    severity: Severity::Error,
    summary: "the rdma plugin by itself, first, or behind a plugin without a device of the pod's own",
    what: "Looks where `rdma` stands in the chain. It must come after `sriov` or `host-device`; behind `macvlan`, \
           `ipvlan`, `ipoib` and `bridge`, whose NIC stays with the node, it has no device to move. Together with \
           `rdmaIsolation: true` of ib-sriov there are two who move one device; ib-sriov with `rdma` alone is a warning.",
    why: "The attachment fails: `RDMA-CNI is expected to be called as part of a plugin chain`, `failed to get RDMA \
          device`. With two movers the second does not find the device.",
    fix: "Put `rdma` behind `sriov` or `host-device`. For ib-sriov write `\"rdmaIsolation\": true` and leave `rdma` out; \
          for shared NICs leave it out.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
spec:
  config: |
    {"cniVersion": "1.0.0", "name": "rdma-net", "plugins": [
      {"type": "macvlan", "master": "ens1f0np0", "ipam": {"type": "nv-ipam", "poolName": "rdma"}},
      {"type": "rdma"}
    ]}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: |
    {"cniVersion": "1.0.0", "name": "rdma-net", "plugins": [
      {"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}},
      {"type": "rdma"}
    ]}
"#,
    sources: &[
        "k8snetworkplumbingwg/rdma-cni cmd/rdma/main.go, README.md",
        "k8snetworkplumbingwg/ib-sriov-cni README.md (rdmaIsolation)",
    ],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition")],
    also: &["NAD-006", "NAD-007", "NAD-008"],
    waiver: Waiver::Allowed,
};

impl Rule for RdmaChain {
    fn meta(&self) -> &'static Meta {
        &RDMA_CHAIN
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(definition) = context.definition() else { return };
        let plugins = definition.plugins();
        let Some(index) = plugins.iter().position(|p| p.cni_type == "rdma") else { return };
        let Some(rdma) = plugins.get(index) else { return };
        let mut tell =
            |severity, message: String, fix| definition.tell(findings, severity, &rdma.pointer, message, fix);
        if index == 0 {
            let message =
                "rdma moves the device that a plugin before it brought; here nothing stands before it";
            tell(Severity::Error, message.to_owned(), "put it behind sriov or host-device");
            return;
        }
        let before = plugins.iter().take(index).map(|p| p.cni_type);
        if let Some(shared) = before.clone().find(|t| matches!(*t, "macvlan" | "ipvlan" | "ipoib" | "bridge"))
        {
            let message =
                format!("rdma stands behind {shared}, whose NIC the node keeps: there is no device to move");
            tell(Severity::Error, message, "leave rdma out; pods ask for a shared RDMA device instead");
        } else if let Some(ib) = plugins.iter().take(index).find(|p| p.cni_type == "ib-sriov") {
            let isolates = ib.object.get("rdmaIsolation").and_then(serde_json::Value::as_bool) == Some(true);
            let (severity, message) = if isolates {
                (
                    Severity::Error,
                    "ib-sriov with rdmaIsolation moves the RDMA device already, and rdma finds none",
                )
            } else {
                (
                    Severity::Warning,
                    "ib-sriov has rdmaIsolation for this, and is not meant to be chained with rdma",
                )
            };
            tell(
                severity,
                message.to_owned(),
                "write \"rdmaIsolation\": true in ib-sriov and leave rdma out",
            );
        }
    }
}
