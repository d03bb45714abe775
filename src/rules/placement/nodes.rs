//! FAB720, FAB723: what the nodes that a pod can land on lack.

use super::landing::with_accelerators;
use crate::nodes::Requirement;
use crate::plan::{Edit, ResourceList};
use crate::pod::units::units;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{printable, token};
use std::collections::HashSet;

/// FAB720.
pub(super) struct NotListed;

macro_rules! on_node {
    ($labels:literal, $allocatable:literal, $limits:literal) => {
        concat!(
            "apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {kubernetes.io/hostname: gpu-1",
            $labels,
            "}}
status: {allocatable: {nvidia.com/gpu: '8'",
            $allocatable,
            "}}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1",
            $limits,
            "}}
    securityContext: {capabilities: {add: [IPC_LOCK]}}
"
        )
    };
}

static NOT_LISTED: Meta = Meta {
    id: "FAB720",
    severity: Severity::Warning,
    summary: "a resource that no node for the pod lists",
    what: "The pod asks an extended resource that none of the nodes lists which it can land on and which have the \
           accelerators it asks for. How many units there are is not looked at. Silent where no such node is known, and \
           for resources of the pod's profile, of which FAB801 tells.",
    why: "The pod stays Pending with `Insufficient RESOURCE`: the name has another prefix than the device plugin's, the \
          plugin does not run on these nodes, or they have NICs of another vendor.",
    fix: "Ask the resource as the nodes list it (`kubectl get node NODE -o jsonpath={.status.allocatable}`), or let the \
          pod onto nodes that have it.",
    bad: on_node!("", ", nvidia.com/rails: '8'", ", openshift.io/rails: 1"),
    good: on_node!("", ", nvidia.com/rails: '8'", ", nvidia.com/rails: 1"),
    sources: &["k8snetworkplumbingwg/sriov-network-device-plugin#189, #223"],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-009", "RES-017"],
    waiver: Waiver::Allowed,
};

impl Rule for NotListed {
    fn meta(&self) -> &'static Meta {
        &NOT_LISTED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if context.snapshot.nodes().is_empty() {
            return;
        }
        let accelerators = &context.snapshot.settings().accelerators;
        let profile = context.resolution.profile().map(|(p, _)| p);
        let facts = context.snapshot.facts();
        let judged = |name: &str| {
            let extended = name.split_once('/').is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io"));
            extended
                && !accelerators.contains(name)
                && facts.class_behind(name).is_none()
                && profile.is_none_or(|p| !p.serves_resource(name))
        };
        let mut seen: HashSet<&str> = HashSet::new();
        let mut first: Vec<(&str, String)> = Vec::new();
        for (holder, container) in context.pod().holders() {
            container.each_quantity(&mut |name, quantity| {
                let new = !seen.contains(name) && units(quantity) > 0 && seen.insert(name);
                if new && judged(name) {
                    first.push((name, format!("{}/resources/limits/{}", holder.path(), token(name))));
                }
            });
        }
        for change in &context.plan.changes {
            if let Edit::Quantity { list: ResourceList::Limits, name, container, .. } = &change.edit
                && seen.insert(name)
                && judged(name)
            {
                first.push((name, format!("/spec/containers/{container}/resources/limits/{}", token(name))));
            }
        }
        if first.is_empty() {
            return;
        }
        let Some(set) = with_accelerators(context) else { return };
        let classes = context.snapshot.nodes().classes();
        for (name, path) in first {
            let listed = classes.offering_of(name);
            if listed.is_some_and(|listed| !listed.is_disjoint(&set)) {
                continue;
            }
            let elsewhere = if listed.is_some() && !context.tenant_view { "; other nodes do" } else { "" };
            findings.add(
                path,
                format!(
                    "none of the nodes that the pod can land on and that have its accelerators lists {}{elsewhere}",
                    printable(name, 80)
                ),
                "ask the resource by the name that the nodes list, or let the pod onto nodes that have it",
            );
        }
    }
}

/// FAB723.
pub(super) struct DriverAwaited;

/// Label of the NVIDIA Network Operator (Mellanox/network-operator pkg/nodeinfo).
const DRIVER_WAIT: &str = "network.nvidia.com/operator.mofed.wait";

static DRIVER_AWAITED: Meta = Meta {
    id: "FAB723",
    severity: Severity::Warning,
    summary: "all nodes for the pod wait for the NIC driver",
    what: "Every node that the pod can land on and that has the accelerators it asks for carries \
           `network.nvidia.com/operator.mofed.wait=true`.",
    why: "The NVIDIA Network Operator is loading the NIC driver there: device plugins are not scheduled yet, and a pod \
          that runs loses its NICs when the driver is reloaded.",
    fix: "Wait for the driver, or see why it does not come up (`kubectl get pods -A -l nvidia.com/ofed-driver`).",
    bad: on_node!(", network.nvidia.com/operator.mofed.wait: 'true'", "", ""),
    good: on_node!(", network.nvidia.com/operator.mofed.wait: 'false'", "", ""),
    sources: &["Mellanox/network-operator pkg/nodeinfo/node_info.go, manifests/state-*/ (nodeAffinity)"],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-014"],
    waiver: Waiver::Allowed,
};

impl Rule for DriverAwaited {
    fn meta(&self) -> &'static Meta {
        &DRIVER_AWAITED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let classes = context.snapshot.nodes().classes();
        let mut waiting = classes.all().clone();
        classes.retain(&mut waiting, Requirement::equals(DRIVER_WAIT, "true"));
        if waiting.is_clear() {
            return;
        }
        let Some(set) = with_accelerators(context) else { return };
        if set.is_subset(&waiting) {
            findings.add(
                "/spec",
                format!("every node that the pod can land on waits for the NIC driver ({DRIVER_WAIT}=true)"),
                "wait for the driver of the NVIDIA Network Operator, or see why it does not come up",
            );
        }
    }
}
