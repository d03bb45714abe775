//! FAB247 to FAB249: SR-IOV functions by claim (dra-driver-sriov).

use crate::demands::claimed::look_up;
use crate::facts::DeviceClaim;
use crate::facts::device_class::is_function;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;
use std::collections::HashSet;

macro_rules! claimed {
    ($config:literal, $annotations:literal) => {
        concat!(
            "apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: vf, namespace: default}
spec:
  spec:
    devices:
      requests: [{name: vf, exactly: {deviceClassName: sriovnetwork.k8snetworkplumbingwg.io}}]
      config:
      - requests: [vf]
        opaque:
          driver: sriovnetwork.k8snetworkplumbingwg.io
          parameters: {apiVersion: sriovnetwork.k8snetworkplumbingwg.io/v1alpha1, kind: VfConfig, ",
            $config,
            "}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {",
            $annotations,
            "}
spec:
  resourceClaims: [{name: vf, resourceClaimTemplateName: vf}]
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}, claims: [{name: vf}]}
    securityContext: {capabilities: {add: [IPC_LOCK]}}
"
        )
    };
}

/// Claims of a pod on functions: their places, and what is known of them.
fn functions<'a>(context: &PodContext<'a>) -> Vec<(usize, &'a DeviceClaim)> {
    let claims = context.pod().spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    let known = claims
        .iter()
        .enumerate()
        .filter_map(|(index, claim)| Some((index, look_up(claim, context.namespace, context.snapshot)?)));
    let asks = |claim: &DeviceClaim| {
        let mut options = claim.requests.iter().flat_map(|r| &r.options);
        options.any(|ask| is_function(&ask.class, context.snapshot.device_class(&ask.class)))
    };
    known.filter(|(_, claim)| asks(claim)).collect()
}

/// FAB247.
pub(super) struct Unattached;

static UNATTACHED: Meta = Meta {
    id: "FAB247",
    severity: Severity::Warning,
    summary: "SR-IOV function by claim without a network",
    what: "The pod claims functions of dra-driver-sriov, no VfConfig of the claim names a NetworkAttachmentDefinition \
           (`netAttachDefName`), and the pod has no networks annotation.",
    why: "The driver attaches the network that the VfConfig names, or, set up with Multus, the one of the annotation. With \
          neither the function is allocated and no interface comes into the pod, or the claim cannot be prepared.",
    fix: "Set `netAttachDefName` in the VfConfig; under a driver in mode MULTUS, name the network in annotation \
          `k8s.v1.cni.cncf.io/networks`.",
    bad: claimed!("ifName: rail0", ""),
    good: claimed!("ifName: rail0, netAttachDefName: rail", ""),
    sources: &["k8snetworkplumbingwg/dra-driver-sriov README.md (configuration modes)"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-003"],
    waiver: Waiver::Allowed,
};

impl Rule for Unattached {
    fn meta(&self) -> &'static Meta {
        &UNATTACHED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if context.final_networks.is_some() {
            return;
        }
        for (index, claim) in functions(context) {
            // Functions on vfio-pci need no network.
            if !claim.functions.iter().any(|f| f.network.is_some() || f.vfio) {
                findings.add(
                    format!("/spec/resourceClaims/{index}"),
                    "the claim brings an SR-IOV function, and neither its VfConfig nor the pod names a network for it",
                    "set netAttachDefName in the VfConfig, or annotation k8s.v1.cni.cncf.io/networks under mode MULTUS",
                );
            }
        }
    }
}

/// FAB248.
pub(super) struct AttachedTwice;

static ATTACHED_TWICE: Meta = Meta {
    id: "FAB248",
    severity: Severity::Warning,
    summary: "network attached by dra-driver-sriov and by Multus",
    what: "A VfConfig of a claim of the pod names a network (`netAttachDefName`), and the networks annotation names the \
           same one.",
    why: "In its mode STANDALONE the driver calls the CNI plugin by itself, and Multus calls it again: the second call \
          finds no device (`VF pci addr is required`), or moves the function twice.",
    fix: "Drop the network from the annotation; under a driver in mode MULTUS drop it from the VfConfig.",
    bad: claimed!("ifName: rail0, netAttachDefName: rail", "k8s.v1.cni.cncf.io/networks: rail"),
    good: claimed!("ifName: rail0, netAttachDefName: rail", "k8s.v1.cni.cncf.io/networks: storage"),
    sources: &["k8snetworkplumbingwg/dra-driver-sriov README.md (configuration modes)"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-004"],
    waiver: Waiver::Allowed,
};

impl Rule for AttachedTwice {
    fn meta(&self) -> &'static Meta {
        &ATTACHED_TWICE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if context.final_networks.is_none() {
            return;
        }
        let claims = functions(context);
        if claims.is_empty() {
            return;
        }
        let named: HashSet<(&str, &str)> =
            context.devices().networks.iter().map(|n| (n.namespace, n.name)).collect();
        for function in claims.iter().flat_map(|(_, claim)| &claim.functions) {
            let Some(name) = function.network.as_deref() else { continue };
            let namespace = function.namespace.as_deref().unwrap_or(context.namespace);
            if named.contains(&(namespace, name)) {
                findings.add(
                    annotation_path(),
                    format!(
                        "network {} is named here and by the VfConfig of a claim: attached twice",
                        printable(name, 63)
                    ),
                    "drop it here; under a driver in mode MULTUS drop it from the VfConfig",
                );
            }
        }
    }
}

/// FAB249.
pub(super) struct ClaimedVfio;

static CLAIMED_VFIO: Meta = Meta {
    id: "FAB249",
    severity: Severity::Warning,
    summary: "SR-IOV function on vfio-pci for a pod with accelerators",
    what: "A pod with accelerators claims a function whose VfConfig says `driver: vfio-pci`.",
    why: "A function on vfio-pci has neither an interface nor an RDMA device: it is for DPDK and virtual machines. NCCL \
          finds no device and uses TCP.",
    fix: "Drop `driver` from the VfConfig: the function keeps its kernel driver.",
    bad: claimed!("driver: vfio-pci, netAttachDefName: rail", ""),
    good: claimed!("netAttachDefName: rail", ""),
    sources: &["k8snetworkplumbingwg/dra-driver-sriov README.md (kernel and VFIO)"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-005"],
    waiver: Waiver::Allowed,
};

impl Rule for ClaimedVfio {
    fn meta(&self) -> &'static Meta {
        &CLAIMED_VFIO
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if !context.demands.any() {
            return;
        }
        for (index, claim) in functions(context) {
            if claim.functions.iter().any(|function| function.vfio) {
                findings.add(
                    format!("/spec/resourceClaims/{index}"),
                    "the claim's function is bound to vfio-pci: it has no interface and no RDMA device for NCCL",
                    "drop driver: vfio-pci from the VfConfig of the claim",
                );
            }
        }
    }
}
