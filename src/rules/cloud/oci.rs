//! FAB605: the functions of OCI's cluster networks.

use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB605.
pub(super) struct RdmaVf;

/// Network and resource, as Oracle's quick start for OKE names both.
const NETWORK: (&str, &str) = ("default", "rdma-vf");
const RESOURCE: &str = "nvidia.com/rdma-vf";
/// Ports of the largest shapes (BM.GPU.H100.8, BM.GPU.B300.8).
const MOST: i64 = 16;

macro_rules! oci_pod {
    ($networks:literal, $units:literal) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {k8s.v1.cni.cncf.io/networks: '",
            $networks,
            "'}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/rdma-vf: ",
            $units,
            "}}
    securityContext: {capabilities: {add: [IPC_LOCK]}}
"
        )
    };
}

static RDMA_VF: Meta = Meta {
    id: "FAB605",
    severity: Severity::Warning,
    summary: "OCI functions and attachments that do not match",
    what: "The pod names network `default/rdma-vf` of Oracle's OKE stack another number of times than it asks units of \
           `nvidia.com/rdma-vf`, or more than 16 times. Where the NetworkAttachmentDefinition is known, FAB202 and \
           FAB204 compare the numbers.",
    why: "Each attachment takes one function. The one left without fails the sandbox (`VF pci addr is required`); functions \
          left over have no address, and NCCL stops with `Failed to modify QP to RTR`. No shape has more than 16 ports.",
    fix: "Repeat `default/rdma-vf` as often as the shape has ports (16 on BM.GPU.H100.8, 8 on BM.GPU.H200.8) and ask as \
          many units.",
    bad: oci_pod!("default/rdma-vf, default/rdma-vf", "1"),
    good: oci_pod!("default/rdma-vf, default/rdma-vf", "2"),
    sources: &["oracle-quickstart/oci-hpc-oke manifests and README.md"],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-020"],
    waiver: Waiver::Allowed,
};

impl Rule for RdmaVf {
    fn meta(&self) -> &'static Meta {
        &RDMA_VF
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some(Ok(networks)) = context.final_networks else { return };
        let is_it = |namespace: &str, name: &str| (namespace, name) == NETWORK;
        let named = networks.items.iter();
        let named = named.filter(|i| is_it(i.namespace.as_deref().unwrap_or(context.namespace), &i.name));
        let attachments = i64::try_from(named.count()).unwrap_or(i64::MAX);
        if attachments == 0 || context.pod().host_network() {
            return;
        }
        let mut add = |message: String, fix: String| findings.add(annotation_path(), message, fix);
        if attachments > MOST {
            add(
                format!("{attachments} times default/rdma-vf: no shape of OCI has more than {MOST} ports"),
                format!("name it at most {MOST} times"),
            );
        }
        let known = context.devices().needs.iter().any(|need| need.resource.matches(RESOURCE));
        if known {
            return;
        }
        let apps = context.pod().containers().iter().enumerate();
        let own = apps.map(|(index, container)| context.overlay.units(index, container, RESOURCE));
        let units = own.fold(0_i64, i64::saturating_add);
        // Of a network of its profile other rules tell.
        let profile = context.resolution.profile().map(|(p, _)| p);
        let of_profile = profile.and_then(|p| p.resource_of(NETWORK.0, NETWORK.1, context.namespace));
        if units > 0 && units != attachments && of_profile.is_none() {
            add(
                format!(
                    "{attachments} times default/rdma-vf, and {units} of {RESOURCE}: each attachment takes one"
                ),
                format!("name it {units} times, or ask {attachments}"),
            );
        }
    }
}
