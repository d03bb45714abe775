//! FAB114: names and labels of a NetworkAttachmentDefinition that others cannot use.

use crate::multus::annotation::is_label;
use crate::multus::{NODE_SELECTOR_ANNOTATION, NodeLabel};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::text::{printable, token};
use serde_json::Value;

/// FAB114.
pub(super) struct DefinitionNames;

static DEFINITION_NAMES: Meta = Meta {
    id: "FAB114",
    severity: Severity::Warning,
    summary: "a network with a name or node selector that pods cannot use",
    what: "A name that is no DNS label: dots are for the JSON form of the annotation only. An annotation \
           `k8s.v1.cni.cncf.io/nodeSelector` that is not one `key=value`.",
    why: "Multus refuses the name in `[namespace/]name` (`one or more items did not match comma-delimited format`). \
          network-resources-injector copies the node selector into pods, and refuses them where it is no label.",
    fix: "Rename the network; write the node selector as one `key=value`.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma.net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'
"#,
    sources: &[
        "k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go (parsePodNetworkObjectName)",
        "k8snetworkplumbingwg/network-resources-injector pkg/webhook/webhook.go",
    ],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition")],
    also: &["NAD-019", "NAD-021"],
    waiver: Waiver::Allowed,
};

impl Rule for DefinitionNames {
    fn meta(&self) -> &'static Meta {
        &DEFINITION_NAMES
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Ok(object) = serde_json::from_str::<Value>(context.json) else { return };
        let metadata = object.get("metadata");
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned)
        };
        if let Some(name) = text(metadata.and_then(|m| m.get("name"))).filter(|n| !is_label(n)) {
            findings.add(
                "/metadata/name",
                format!("pods can name {} only in the JSON form of the annotation", printable(&name, 100)),
                "rename it to lower-case letters, digits and `-`, at most 63 of them",
            );
        }
        let selector =
            metadata.and_then(|m| m.get("annotations")).and_then(|a| a.get(NODE_SELECTOR_ANNOTATION));
        if let Some(selector) = text(selector).filter(|s| NodeLabel::parse(s).is_none()) {
            findings.add(
                format!("/metadata/annotations/{}", token(NODE_SELECTOR_ANNOTATION)),
                format!(
                    "{:?} is no label; network-resources-injector refuses pods over it",
                    printable(&selector, 80)
                ),
                "write one key=value",
            );
        }
    }
}
