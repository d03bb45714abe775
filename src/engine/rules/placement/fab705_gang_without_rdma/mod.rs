//! FAB705: multi-node job without RDMA on nodes that offer it.

use crate::demands::Subject;
use crate::multus::NETWORKS_ANNOTATION;
use crate::pod::PodView;
use crate::pod::nic::names_rdma_device;
use crate::resolve::{Resolution, without_others};
use crate::rules::finding::{Findings, Severity};
use crate::rules::rule::{Rule, files};
use crate::rules::workload::WorkloadContext;
use crate::text::printable;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB705",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

/// Annotations by which a provider's own webhook attaches NICs.
const PROVIDERS: [&str; 2] = ["networking.gke.io/interfaces", "k8s.volcengine.com/pod-networks"];

fn check(context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
    if context.snapshot.nodes().is_empty() {
        return;
    }
    for (template, asked) in context.asked() {
        let pod = template.pod;
        let several = asked.subject.multi_node().or(context.gang).is_some_and(|gang| gang.several);
        let served = pod.host_network()
            || asked.subject.demands.network_claim()
            || pod.annotation(NETWORKS_ANNOTATION).is_some()
            || PROVIDERS.iter().any(|key| pod.annotation(key).is_some())
            || asks_for_devices(pod);
        let without = matches!(asked.resolution, Resolution::NotApplicable { .. });
        if !several || served || !without || asked.subject.demands.whole().is_none_or(|n| n == 0) {
            continue;
        }
        let offered = offered(asked.subject);
        let Some(first) = offered.first() else { continue };
        let more = match offered.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        findings.add(
            format!("{}/spec", template.pointer),
            format!(
                "the nodes offer {}{more}, but the pods request no RDMA device: NCCL runs over TCP",
                printable(first, 100)
            ),
            "Annotate the pod template with fabric-admission.dev/profile: NAME, or request the devices.",
        );
    }
}

/// Any resource besides those of the core and the accelerators may be a NIC under a site's own name.
fn asks_for_devices(pod: &PodView<'_>) -> bool {
    let known = |name: &str| {
        !name.contains('/') || name.ends_with("/gpu") || name.contains("gpu") || name.contains("/mig-")
    };
    pod.containers().iter().any(|c| c.resource_names().any(|name| !known(name)))
}

/// RDMA resources of the nodes that a pod can run on; none where one kind of those nodes has none.
fn offered(subject: &Subject<'_>) -> BTreeSet<String> {
    let (snapshot, constraints) = (subject.snapshot, &subject.constraints);
    if constraints.is_partial() {
        return BTreeSet::new();
    }
    let view = snapshot.nodes();
    let set = without_others(subject.landing().clone(), constraints, snapshot);
    let mut having = view.classes().none();
    for name in &constraints.resources {
        if let Some(offering) = view.classes().offering_of(name) {
            having.union_with(offering);
        }
    }
    let mut names = BTreeSet::new();
    for (number, class, _) in view.members(&set) {
        let accelerated = having.contains(number);
        let devices: Vec<&str> =
            class.resources.iter().map(|name| &**name).filter(|name| names_rdma_device(name)).collect();
        if accelerated && devices.is_empty() {
            return BTreeSet::new();
        }
        if accelerated {
            names.extend(devices.into_iter().map(str::to_owned));
        }
    }
    names
}
