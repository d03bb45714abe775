//! FAB109: the annotation that replaces the cluster's network for one pod.

use super::annotation::short_form;
use crate::multus::{DEFAULT_NETWORK_ANNOTATION, parse};
use crate::rules::cel::{self, Cel, Check, Wrong};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{printable, token};

/// FAB109.
pub(super) struct DefaultNetwork;

static DEFAULT_NETWORK: Meta = Meta {
    id: "FAB109",
    severity: Severity::Error,
    summary: "default-network annotation that Multus refuses, or looks up elsewhere",
    what: "Reads `v1.multus-cni.io/default-network` as Multus does: one network, in either form. As a warning: a name \
           without a namespace, where the pod's namespace has a network of that name; Multus looks in its own namespace, \
           which is `kube-system` by default.",
    why: "The sandbox fails (`more than one default network is specified`, or the network is not found), and the pod \
          stays in ContainerCreating.",
    fix: "Name one network, as `namespace/name`; further ones belong into `k8s.v1.cni.cncf.io/networks`.",
    bad: r"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    v1.multus-cni.io/default-network: kube-system/calico, kube-system/macvlan
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    v1.multus-cni.io/default-network: kube-system/calico
    k8s.v1.cni.cncf.io/networks: kube-system/macvlan
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &["k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go (tryLoadK8sPodDefaultNetwork)"],
    since: "0.1.0",
    kinds: &[],
    also: &["ANN-013"],
    waiver: Waiver::Allowed,
};

impl Rule for DefaultNetwork {
    fn meta(&self) -> &'static Meta {
        &DEFAULT_NETWORK
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some(text) = context.pod().annotation(DEFAULT_NETWORK_ANNOTATION) else { return };
        if context.pod().host_network() || text.is_empty() {
            return;
        }
        let path = || format!("/metadata/annotations/{}", token(DEFAULT_NETWORK_ANNOTATION));
        match parse(text).as_ref().map(|n| n.items.as_slice()) {
            Err(error) => findings.add(
                path(),
                format!("Multus cannot read the default network: {error}"),
                "name one network as namespace/name",
            ),
            Ok([item]) => {
                let own = context.namespace;
                if item.namespace.is_none()
                    && own != "kube-system"
                    && context.snapshot.network(own, &item.name).is_some()
                {
                    let name = printable(&item.name, 100);
                    findings.add_as(
                        Severity::Warning,
                        path(),
                        format!("Multus looks for default network {name} in its own namespace, not in {own}"),
                        format!("write {own}/{name} if that one is meant"),
                    );
                }
            }
            Ok(items) => findings.add(
                path(),
                format!("{} default networks; Multus takes exactly one", items.len()),
                "name one network; further ones belong into k8s.v1.cni.cncf.io/networks",
            ),
        }
    }
    fn cel(&self) -> Option<Cel> {
        let text = "variables.annotations[?'v1.multus-cni.io/default-network'].orValue('')";
        let wrong = format!(
            "!object.spec.?hostNetwork.orValue(false) && variables.defaultNetwork.contains(',') &&\n\
             variables.defaultNetwork.size() <= 8000 &&\n\
             variables.defaultNetwork.matches({})",
            cel::literal(&short_form())
        );
        let check = Check {
            severity: Severity::Error,
            wrong: Wrong::Object(wrong.into()),
            message: "several default networks; Multus takes exactly one; further ones belong into \
                      k8s.v1.cni.cncf.io/networks",
        };
        Some(Cel {
            variables: vec![("defaultNetwork", text.into())],
            checks: vec![check],
            beyond: Some("JSON lists, text that Multus cannot read, and the namespace in which it looks"),
        })
    }
}
