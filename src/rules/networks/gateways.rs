//! FAB135: more default routes than one.

use super::attached::attached;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB135.
pub(super) struct Gateways;

static GATEWAYS: Meta = Meta {
    id: "FAB135",
    severity: Severity::Error,
    summary: "several default routes of one address family in the networks annotation",
    what: "Counts the gateways of `default-route` over all networks of the pod, IPv4 and IPv6 apart.",
    why: "Multus refuses the pod (`multus does not support ECMP for default-route`), and it stays in ContainerCreating.",
    fix: "Ask for one default route, on one network, or better for none.",
    bad: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: |
      [{"name": "rail-a", "default-route": ["10.1.0.1"]}, {"name": "rail-b", "default-route": ["10.2.0.1"]}]
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "rail-a"}, {"name": "rail-b"}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["k8snetworkplumbingwg/multus-cni pkg/types/conf.go (CheckGatewayConfig)"],
    since: "0.1.0",
    kinds: &[],
    also: &["IPM-013"],
    waiver: Waiver::Allowed,
};

impl Rule for Gateways {
    fn meta(&self) -> &'static Meta {
        &GATEWAYS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (family, v4) in [("IPv4", true), ("IPv6", false)] {
            let gateways = attached(context).filter_map(|a| Some((a.place, a.item.requests.as_deref()?)));
            let mut places = gateways.flat_map(|(place, requests)| {
                requests.default_routes.iter().filter(|ip| ip.is_ipv4() == v4).map(move |_| place)
            });
            if let (Some(first), Some(second)) = (places.next(), places.next()) {
                findings.add(
                    annotation_path(),
                    format!("items {first} and {second} both ask for the default route of {family}; Multus takes one"),
                    "ask for one default route, on one network, or for none",
                );
            }
        }
    }
}
