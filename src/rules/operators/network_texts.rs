//! FAB335, FAB340, FAB341: JSON texts of the networks of the SR-IOV operator.

use super::{IB_NETWORK, NETWORK, OVS_NETWORK};
use crate::json::go::CNI;
use crate::rules::embedded::{self, Fault};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use serde_json::Value;

/// FAB335.
pub(super) struct NetworkTexts;

static NETWORK_TEXTS: Meta = Meta {
    id: "FAB335",
    severity: Severity::Error,
    summary: "ipam, metaPlugins or capabilities of a network that are not the JSON they are pasted as",
    what: "Reads the texts of SriovNetwork, SriovIBNetwork and OVSNetwork: `ipam` as one JSON object, `capabilities` as one \
           of true and false, `metaPlugins` as objects with commas between them. The place in the text is named.",
    why: "The operator pastes the texts into the CNI configuration. What is no JSON then makes no \
          NetworkAttachmentDefinition, or one that the CNI plugins refuse: pods fail with `cannot find a \
          network-attachment-definition`, or stay in ContainerCreating.",
    fix: "JSON with double quotes, without comments and without a comma before a closing bracket; metaPlugins without \
          brackets around it.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: |
    {
      "type": "whereabouts",
      "range": "10.56.0.0/16",
    }
  metaPlugins: '[{"type": "rdma"}]'
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: |
    {
      "type": "whereabouts",
      "range": "10.56.0.0/16"
    }
  metaPlugins: '{"type": "rdma"}'
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (RenderNetAttDef)",
        "k8snetworkplumbingwg/sriov-network-operator bindata/manifests/cni-config/sriov/sriov-cni-config.yaml",
        "k8snetworkplumbingwg/sriov-network-operator controllers/helper.go (formatJSON)",
    ],
    since: "0.1.0",
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK],
    also: &["SRN-002", "SRN-003", "SRN-004"],
    waiver: Waiver::Allowed,
};

/// Reads a text.
type Read = fn(&str) -> Result<(), Fault>;

/// Reads `capabilities`, which the CNI library takes as a mapping of truth values
/// (containernetworking/cni pkg/types, `Capabilities map[string]bool`).
fn capabilities(text: &str) -> Result<(), Fault> {
    let object = embedded::object(text, &[])?;
    match object.iter().find(|(_, value)| !value.is_boolean()) {
        None => Ok(()),
        Some((key, _)) => Err(Fault {
            spot: embedded::spot_of(text, key),
            what: "a value that is neither true nor false".to_owned(),
            near: crate::text::printable(key, 40),
        }),
    }
}

impl Rule for NetworkTexts {
    fn meta(&self) -> &'static Meta {
        &NETWORK_TEXTS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let read: [(&str, Read, &str, &str); 3] = [
            ("ipam", |text| embedded::object(text, CNI).map(drop), "no JSON object", "one JSON object"),
            (
                "metaPlugins",
                |text| embedded::sequence(text).map(drop),
                "no sequence of JSON objects",
                "JSON objects with commas between them, without brackets around",
            ),
            ("capabilities", capabilities, "no JSON object of true and false", "{\"ips\": true}"),
        ];
        for (field, read, what, fix) in read {
            let path = format!("/spec/{field}");
            let Some(text) = context.text(&path) else { continue };
            if let Err(fault) = read(text) {
                findings.add_within(path, fault.spot, format!("{field} is {what}: {fault}"), fix);
            }
        }
    }
}

/// FAB340.
pub(super) struct RdmaAfterIbSriov;

static RDMA_AFTER_IB_SRIOV: Meta = Meta {
    id: "FAB340",
    severity: Severity::Error,
    summary: "SriovIBNetwork with the rdma plugin among its metaPlugins",
    what: "Looks for an object of type `rdma` in `spec.metaPlugins` of a SriovIBNetwork.",
    why: "ib-sriov moves the RDMA device itself (rdmaIsolation) and says not to chain rdma behind it: moving the device \
          again makes the IPoIB interface anew on the host, and the pod is left without it.",
    fix: "Take rdma out. For isolation write a NetworkAttachmentDefinition of type ib-sriov with `\"rdmaIsolation\": true`: \
          SriovIBNetwork has no field for it.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovIBNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: ib_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
  metaPlugins: '{"type": "rdma"}'
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovIBNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: ib_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
"#,
    sources: &[
        "k8snetworkplumbingwg/ib-sriov-cni README.md (rdmaIsolation)",
        "k8snetworkplumbingwg/ib-sriov-cni cmd/ib-sriov-cni/main.go",
    ],
    since: "0.1.0",
    kinds: &[IB_NETWORK],
    also: &["SRN-018"],
    waiver: Waiver::Allowed,
};

impl Rule for RdmaAfterIbSriov {
    fn meta(&self) -> &'static Meta {
        &RDMA_AFTER_IB_SRIOV
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let path = "/spec/metaPlugins";
        // A text that cannot be read is FAB335's.
        let Some(text) = context.text(path) else { return };
        let Ok(plugins) = embedded::sequence(text) else { return };
        let rdma =
            |entry: &&embedded::Entry| entry.object.get("type").and_then(Value::as_str) == Some("rdma");
        if let Some(entry) = plugins.iter().find(rdma) {
            findings.add_within(
                path,
                embedded::spot(text, entry.at),
                "metaPlugins has rdma behind ib-sriov, which moves the RDMA device itself: the pod loses its IPoIB interface",
                "take rdma out; rdmaIsolation needs a NetworkAttachmentDefinition of your own",
            );
        }
    }
}

/// FAB341.
pub(super) struct DhcpOnInfiniBand;

static DHCP_ON_INFINIBAND: Meta = Meta {
    id: "FAB341",
    severity: Severity::Error,
    summary: "SriovIBNetwork with DHCP",
    what: "Reads `type` in `spec.ipam` of a SriovIBNetwork.",
    why: "ib-sriov refuses it (`ipam type dhcp is not supported`): pods stay in ContainerCreating.",
    fix: "Another IPAM plugin: nv-ipam or whereabouts.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovIBNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: ib_vf
  ipam: '{"type": "dhcp"}'
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovIBNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: ib_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
"#,
    sources: &["k8snetworkplumbingwg/ib-sriov-cni cmd/ib-sriov-cni/main.go"],
    since: "0.1.0",
    kinds: &[IB_NETWORK],
    also: &["SRN-011"],
    waiver: Waiver::Allowed,
};

impl Rule for DhcpOnInfiniBand {
    fn meta(&self) -> &'static Meta {
        &DHCP_ON_INFINIBAND
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let path = "/spec/ipam";
        let Some(text) = context.text(path) else { return };
        let Ok(ipam) = embedded::object(text, CNI) else { return };
        if ipam.get("type").and_then(Value::as_str) == Some("dhcp") {
            findings.add_within(
                path,
                embedded::spot_of(text, "dhcp"),
                "ipam of type dhcp: ib-sriov refuses it, pods stay in ContainerCreating",
                "nv-ipam or whereabouts",
            );
        }
    }
}
