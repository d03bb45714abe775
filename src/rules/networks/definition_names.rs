//! FAB114: names of NetworkAttachmentDefinitions that the short form of the annotation cannot hold.

use crate::multus::annotation::is_label;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::text::printable;
use serde_json::Value;

/// FAB114.
pub(super) struct DefinitionNames;

static DEFINITION_NAMES: Meta = Meta {
    id: "FAB114",
    severity: Severity::Warning,
    summary: "a network with a name that the short form of the annotation cannot hold",
    what: "The name of a NetworkAttachmentDefinition that is no DNS label: with dots, pods can ask for it only in the JSON \
           form of the annotation.",
    why: "Multus refuses the name in `[namespace/]name` (`one or more items did not match comma-delimited format`), and \
          the pod stays in ContainerCreating.",
    fix: "Rename the network, or ask for it in the JSON form.",
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
    sources: &["k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go (parsePodNetworkObjectName)"],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition")],
    also: &["NAD-019"],
    waiver: Waiver::Allowed,
};

impl Rule for DefinitionNames {
    fn meta(&self) -> &'static Meta {
        &DEFINITION_NAMES
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(object) = context.value() else { return };
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
    }
}
