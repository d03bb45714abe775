//! FAB339: network objects that make one NetworkAttachmentDefinition.

use super::{HOST_DEVICE_NETWORK, IB_NETWORK, IPOIB_NETWORK, MACVLAN_NETWORK, NETWORK, OVS_NETWORK};
use crate::facts::Kind;
use crate::facts::network::{NetworkObject, render};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB339.
pub(super) struct SameDefinition;

static SAME_DEFINITION: Meta = Meta {
    id: "FAB339",
    severity: Severity::Error,
    summary: "two network objects that make the same NetworkAttachmentDefinition",
    what: "Compares the namespace and name of the definition that the object is rendered to with those of every other known \
           network of the SR-IOV and NVIDIA operators. The name is the object's own, whatever its kind; the namespace is \
           `networkNamespace`, else the object's own, for kinds of the cluster `default`.",
    why: "The second one stays at Ready False (`already exists and is owned by …`); older operators overwrite each \
          other's definition for ever, and pods get the one or the other network.",
    fix: "Give each its own name, or its own networkNamespace.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: mellanox.com/v1alpha1
kind: MacvlanNetwork
metadata: {name: rail0}
spec:
  networkNamespace: team
  master: ens1f0np0
  mode: bridge
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: mellanox.com/v1alpha1
kind: MacvlanNetwork
metadata: {name: shared0}
spec:
  networkNamespace: team
  master: ens1f0np0
  mode: bridge
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator controllers/generic_network_controller.go",
        "Mellanox/network-operator pkg/state/state_macvlan_network.go",
    ],
    since: "0.1.0",
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK, MACVLAN_NETWORK, IPOIB_NETWORK, HOST_DEVICE_NETWORK],
    also: &["SRN-013"],
    waiver: Waiver::Allowed,
};

impl Rule for SameDefinition {
    fn meta(&self) -> &'static Meta {
        &SAME_DEFINITION
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(kind) = Kind::of(context.group, context.kind) else { return };
        // Values of other types are FAB809's.
        let Ok(object) = crate::json::decode::object::<NetworkObject>(context.json) else { return };
        let own = object.namespace();
        // Whose own namespace is not written may be made anywhere.
        if kind.namespaced() && own.is_none() && context.text("/spec/networkNamespace").is_none() {
            return;
        }
        let Some(made) = render(kind, &object, own.unwrap_or("default")) else { return };
        let same = |origin: &&crate::facts::index::Origin| {
            origin.kind == kind
                && Some(origin.name.as_str()) == object.name()
                && (!kind.namespaced() || own.is_none_or(|n| n == origin.namespace))
        };
        let origins = context.snapshot.facts().origins(&made.namespace, &made.name);
        if let Some(other) = origins.iter().find(|o| !same(o)) {
            let place = match other.namespace.as_str() {
                "" => other.name.clone(),
                namespace => format!("{namespace}/{}", other.name),
            };
            findings.add(
                "/metadata/name",
                format!(
                    "makes the NetworkAttachmentDefinition {}/{}, as {} {place} does: one of them never becomes ready",
                    made.namespace,
                    made.name,
                    other.kind.name()
                ),
                "a name or a networkNamespace of its own",
            );
        }
    }
}
