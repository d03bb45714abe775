//! FAB511: privileged training container with an RDMA device of its own.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB511", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Only NCCL with accelerators takes all NICs that it sees. Agents, health checks and benchmarks name theirs. On the host's
/// network the addresses of all NICs are the pod's. Where networks move their devices, the kernel shows a container only
/// those of its own network namespace (Linux drivers/infiniband/core/device.c, rdma_dev_access_netns). Ranks over ssh have
/// the variables of their launcher.
fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let isolated = || {
        let networks = &context.devices().networks;
        networks.iter().any(|network| network.known.is_some_and(|known| known.class.isolation))
    };
    if context.pod().host_network() || context.subject.ranks_over_ssh || isolated() {
        return;
    }
    for (index, container) in context.app_containers_in_time() {
        let takes_all = context.subject.demands.of_app_container(index).any
            && !may_select_devices_for_nccl(context, index);
        if takes_all && container.privileged() && context.has_verbs_device(index) {
            findings.add(
                pointers_in_pod::in_container(index, "securityContext/privileged"),
                "a privileged container with an RDMA device sees every NIC of the node, including NICs of other pods",
                "Remove privileged and add IPC_LOCK, or name the devices in NCCL_IB_HCA.",
            );
        }
    }
}

/// Whether an app container selects devices for NCCL, itself or by the plan, or may do so in a place that is not known.
fn may_select_devices_for_nccl(context: &PodContext<'_>, index: usize) -> bool {
    let own = context.variables().iter().find(|variables| variables.index == index);
    own.is_some_and(|variables| !variables.is_surely_absent("NCCL_IB_HCA"))
        || context
            .pod()
            .containers()
            .get(index)
            .is_some_and(|container| context.overlay.variable(index, container, "NCCL_IB_HCA").is_some())
}
