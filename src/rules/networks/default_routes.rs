//! FAB133: default routes over secondary networks.

use super::attached::attached;
use super::network::IpamText;
use crate::multus::ipam::default_route;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, ObjectContext, PodContext, Rule, Severity, Waiver};

/// FAB133.
pub(super) struct DefaultRoutes;

static DEFAULT_ROUTES: Meta = Meta {
    id: "FAB133",
    severity: Severity::Warning,
    summary: "a default route over a secondary network",
    what: "`routes` with `0.0.0.0/0` or `::/0` in a network's `ipam`, `defaultGateway: true` in an IPPool or CIDRPool of \
           nv-ipam, and `default-route` in the networks annotation of a pod.",
    why: "The pod's traffic to services, DNS and the API server leaves by the fabric, where nobody answers: names do not \
          resolve (`Temporary failure in name resolution`), ranks do not find each other, and probes fail.",
    fix: "Route only what the fabric holds, such as the subnets of the other rails.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: |
    {"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/24", "gateway": "10.1.0.254",
      "routes": [{"dst": "0.0.0.0/0"}]}}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: |
    {"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/24", "gateway": "10.1.0.254",
      "routes": [{"dst": "10.0.0.0/8"}]}}
"#,
    sources: &[
        "k8snetworkplumbingwg/multus-cni #126, #349, #539, #584, #786, #847, #1400",
        "Mellanox/nvidia-k8s-ipam README.md (defaultGateway)",
    ],
    since: "0.1.0",
    kinds: &[
        ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
        ("mellanox.com", "MacvlanNetwork"),
        ("mellanox.com", "IPoIBNetwork"),
        ("mellanox.com", "HostDeviceNetwork"),
        ("sriovnetwork.openshift.io", "SriovNetwork"),
        ("sriovnetwork.openshift.io", "SriovIBNetwork"),
        ("sriovnetwork.openshift.io", "OVSNetwork"),
        ("nv-ipam.nvidia.com", "IPPool"),
        ("nv-ipam.nvidia.com", "CIDRPool"),
    ],
    also: &["IPM-004"],
    waiver: Waiver::Allowed,
};

const MESSAGE: &str =
    "a default route over this network takes the pod's way to services, DNS and the API server";
const FIX: &str = "route only what the fabric holds, such as the subnets of the other rails";

impl Rule for DefaultRoutes {
    fn meta(&self) -> &'static Meta {
        &DEFAULT_ROUTES
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if context.group == "nv-ipam.nvidia.com" {
            let gateway = context.value().and_then(|pool| pool.pointer("/spec/defaultGateway"));
            if gateway.and_then(serde_json::Value::as_bool) == Some(true) {
                findings.add("/spec/defaultGateway", MESSAGE, "set routes instead of defaultGateway");
            }
            return;
        }
        let Some(ipam) = IpamText::read(context) else { return };
        if let Some(index) = default_route(&ipam.object) {
            ipam.tell(findings, Severity::Warning, &format!("/routes/{index}"), MESSAGE, FIX);
        }
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let gateways = || attached(context).filter_map(|a| Some((a.place, a.item.requests.as_deref()?)));
        let of_family = |v4: bool| {
            let all = gateways().flat_map(|(_, r)| &r.default_routes);
            all.filter(|ip| ip.is_ipv4() == v4).count()
        };
        let first = gateways().find(|(_, r)| !r.default_routes.is_empty());
        // More than one is refused; FAB135 says so.
        if let Some((place, _)) = first.filter(|_| of_family(true) < 2 && of_family(false) < 2) {
            findings.add(
                annotation_path(),
                format!("item {place} asks for the default route: services, DNS and the API server are then behind it"),
                FIX,
            );
        }
    }
}
