//! FAB705: multi-node job without RDMA on nodes that offer it.

use crate::demands::Subject;
use crate::multus::NETWORKS_ANNOTATION;
use crate::nodes::{ClassSet, CompactClassSet, NodeView};
use crate::pod::PodView;
use crate::pod::nic_resource_names::is_rdma_device_by_name;
use crate::resolve::{Resolution, without_classes_lacking_accelerators};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::WorkloadContext;
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB705",
    severity: Severity::Warning,
    files: files!(),
    workload: Some(check),
    ..Rule::DEFAULT
};

/// Annotations by which a provider's own webhook attaches NICs.
const PROVIDERS: [&str; 2] = ["networking.gke.io/interfaces", "k8s.volcengine.com/pod-networks"];

fn check(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.snapshot.nodes_for_audience().is_empty() {
        return;
    }
    let mut offers = RdmaResourcesOfNodes::of(context.snapshot.nodes_for_audience());
    for (template, asked) in context.templates_in_scope() {
        if findings.must_stop_reporting() {
            return;
        }
        let pod = template.pod;
        let several =
            asked.subject.gang_of_pod_or_workload().or(context.gang).is_some_and(|gang| gang.several);
        let served = pod.host_network()
            || asked.subject.demands.claims_network_devices()
            || pod.annotation(NETWORKS_ANNOTATION).is_some()
            || PROVIDERS.iter().any(|key| pod.annotation(key).is_some())
            || asks_for_unknown_devices(pod);
        let without = matches!(asked.resolution, Resolution::NotApplicable { .. });
        if !several
            || served
            || !without
            || asked.subject.demands.whole_accelerators_taken_from_node().is_none_or(|n| n == 0)
        {
            continue;
        }
        let offered = offers.resources_of_nodes_for(asked.subject);
        let Some(first) = offered.first() else { continue };
        let more = match offered.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        findings.add(
            format!("{}/spec", template.pointer),
            format!(
                "the nodes offer {}{more}, but the pods request no RDMA device: NCCL runs over TCP",
                escaped_and_cut(first, 100)
            ),
            "Annotate the pod template with fabric-admission.dev/profile: NAME, or request the devices.",
        );
    }
}

/// Any resource besides those of the core and the accelerators may be a NIC under a site's own name.
fn asks_for_unknown_devices(pod: &PodView<'_>) -> bool {
    let known = |name: &str| {
        !name.contains('/') || name.ends_with("/gpu") || name.contains("gpu") || name.contains("/mig-")
    };
    pod.containers().iter().any(|c| c.resource_names().any(|name| !known(name)))
}

/// RDMA resources of the cluster, with the kinds of nodes that list them, and the answer for the last template: most
/// templates of a workload can run on the same nodes.
struct RdmaResourcesOfNodes<'s> {
    view: &'s NodeView,
    rdma: Vec<(&'s str, &'s CompactClassSet)>,
    last: Option<(ClassSet, Vec<&'s str>)>,
}

impl<'s> RdmaResourcesOfNodes<'s> {
    fn of(view: &'s NodeView) -> Self {
        let rdma =
            view.classes().resources_with_offering_classes().filter(|(name, _)| is_rdma_device_by_name(name));
        Self { view, rdma: rdma.collect(), last: None }
    }

    /// RDMA resources of the nodes that a pod can run on; none where one kind of those nodes has none.
    fn resources_of_nodes_for(&mut self, subject: &Subject<'_>) -> &[&'s str] {
        let (snapshot, constraints) = (subject.snapshot, &subject.constraints);
        if constraints.is_partial() {
            return &[];
        }
        let classes = self.view.classes();
        let mut accelerated = classes.empty_set();
        for name in &constraints.resources {
            if let Some(offering) = classes.classes_offering(name) {
                offering.add_to_set(&mut accelerated);
            }
        }
        accelerated.intersect_with(&without_classes_lacking_accelerators(
            subject.landing().clone(),
            constraints,
            snapshot,
        ));
        let last = self.last.take().filter(|(nodes, _)| *nodes == accelerated);
        let answer =
            last.map_or_else(|| self.rdma_resources_on_all_classes(&accelerated), |(_, names)| names);
        &self.last.insert((accelerated, answer)).1
    }

    fn rdma_resources_on_all_classes(&self, accelerated: &ClassSet) -> Vec<&'s str> {
        let mut without = accelerated.clone();
        self.rdma.iter().for_each(|(_, offering)| offering.remove_from_set(&mut without));
        if !without.is_clear() {
            return Vec::new();
        }
        let offered = self.rdma.iter().filter(|(_, offering)| offering.intersects(accelerated));
        offered.map(|(name, _)| *name).collect()
    }
}
