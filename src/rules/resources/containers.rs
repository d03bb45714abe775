//! FAB205, FAB206: quantities of one container that do not mean what they seem to.

use crate::facts::Server;
use crate::pod::view::Container;
use crate::rules::examples::{macvlan_network, pod, shared_pool};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB205.
pub(super) struct SharedQuantity;

static SHARED_QUANTITY: Meta = Meta {
    id: "FAB205",
    severity: Severity::Info,
    summary: "more than one unit of a shared RDMA device",
    what: "A container asks more than one unit of a resource that the RDMA shared device plugin serves.",
    why: "The plugin hands every device of the pool to the container whatever the quantity is. Further units bring no \
          further rail; they only use up places of `rdmaHcaMax`, and other pods stay Pending the sooner.",
    fix: "Ask one unit. For several rails ask one unit of the pool of each NIC.",
    bad: concat!(
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 8")
    ),
    good: concat!(
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 1")
    ),
    sources: &["Mellanox/k8s-rdma-shared-dev-plugin pkg/resources/server.go (Allocate)"],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-007"],
    waiver: Waiver::Allowed,
};

impl Rule for SharedQuantity {
    fn meta(&self) -> &'static Meta {
        &SHARED_QUANTITY
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let shared = context.devices().held.iter().filter(|h| h.fact.server == Server::SharedDevicePlugin);
        for held in shared {
            for (holder, units) in held.holders.iter().filter(|(_, units)| *units > 1) {
                findings.add(
                    format!("{}/resources/limits/{}", holder.path(), crate::text::token(held.name)),
                    format!(
                        "{units} units of {}, shared by {}: one unit gives every device of the pool",
                        printable(held.name, 80),
                        held.fact.told(context.tenant_view)
                    ),
                    "ask 1",
                );
            }
        }
    }
}

/// FAB206.
pub(super) struct HugePages;

static HUGE_PAGES: Meta = Meta {
    id: "FAB206",
    severity: Severity::Warning,
    summary: "huge pages without cpu or memory in the same container",
    what: "A container asks `hugepages-2Mi` or `hugepages-1Gi` and neither cpu nor memory, as guides for EFA have it.",
    why: "The API server refuses the pod (`HugePages require cpu or memory`) unless a LimitRange of the namespace adds \
          one of them. Inside a Job it shows only as FailedCreate events, and no pod ever appears.",
    fix: "Ask memory, or cpu, in the same container.",
    bad: pod!(metadata: "", spec: "", limits: ", hugepages-2Mi: 5120Mi", container: ""),
    good: pod!(metadata: "", spec: "", limits: ", hugepages-2Mi: 5120Mi, memory: 64Gi", container: ""),
    sources: &[
        "kubernetes/kubernetes pkg/apis/core/validation/validation.go (ValidateContainerResourceRequirements)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-011"],
    waiver: Waiver::Allowed,
};

impl Rule for HugePages {
    fn meta(&self) -> &'static Meta {
        &HUGE_PAGES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        // What the pod as a whole asks may count for its containers.
        if context.pod().spec.as_ref().is_some_and(|s| s.resources.is_some()) {
            return;
        }
        for (holder, container) in context.pod().holders().filter(|(_, c)| alone(c)) {
            findings.add(
                format!("{}/resources", holder.path()),
                format!("{} asks huge pages and neither cpu nor memory", printable(container.name(), 63)),
                "ask memory as well: without it the API server refuses the pod",
            );
        }
    }
}

/// Whether a container asks huge pages and neither cpu nor memory.
fn alone(container: &Container<'_>) -> bool {
    let names = || container.resource_names();
    names().any(|name| name.starts_with("hugepages-"))
        && !names().any(|name| matches!(name, "cpu" | "memory"))
}
