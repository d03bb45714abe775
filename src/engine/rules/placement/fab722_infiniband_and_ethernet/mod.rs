//! FAB722: RDMA over InfiniBand and over Ethernet in one pod.

use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB722", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    if pod.host_network() || context.final_networks.is_none() {
        return;
    }
    let (mut ethernet, mut infiniband) = (None, None);
    for network in &context.devices().networks {
        let Some(known) = network.known.filter(|known| known.class.rdma == Some(true)) else { continue };
        match known.class.link {
            Some(LinkLayer::Ethernet) => ethernet.get_or_insert(network),
            Some(LinkLayer::InfiniBand) => infiniband.get_or_insert(network),
            None => continue,
        };
    }
    let (Some(ethernet), Some(infiniband)) = (ethernet, infiniband) else { return };
    let mut containers = pod.containers().iter().enumerate();
    if containers.any(|(index, c)| context.overlay.variable(index, c, "NCCL_IB_HCA").is_some()) {
        return;
    }
    findings.add(
        networks_annotation(),
        format!(
            "network {} is RoCE and network {} is InfiniBand: NCCL treats both as one fabric, and hangs",
            ethernet.describe(),
            infiniband.describe()
        ),
        "Attach only RoCE or only InfiniBand networks, or name the devices in NCCL_IB_HCA.",
    );
}
