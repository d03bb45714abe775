//! FAB220: RoCE device without a network over the same NIC.

use super::rdma_driver::{UNKNOWN_DRIVER, is_ofed};
use crate::facts::Server;
use crate::facts::network::Rendered;
use crate::multus::{LinkLayer, Sharing};
use crate::rules::devices::{Attached, Held};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB220",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, POD_NETWORK),
        (Severity::Warning, OTHER_DEVICE),
        (Severity::Warning, UNKNOWN_DRIVER),
    ],
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const POD_NETWORK: &str = "the default pod network may use the same NIC";
const OTHER_DEVICE: &str = "the pod has other networks, and may not use this device";

/// Annotations by which another program, or Multus in place of the cluster's network, adds interfaces.
const OTHERS: [&str; 4] = [
    "networking.gke.io/interfaces",
    "k8s.volcengine.com/pod-networks",
    "v1.multus-cni.io/default-network",
    "cni.spidernet.io/rdma-resource-inject",
];

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let pod = context.pod();
    let claims = || pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    let roce = |held: &&Held<'_>| {
        held.fact.rdma == Some(true)
            && held.fact.link == Some(LinkLayer::Ethernet)
            && held.fact.server != Server::DeviceClass
    };
    let devices = context.devices();
    let mut held = devices.held.iter().filter(roce).peekable();
    if held.peek().is_none()
        || pod.host_network()
        || !claims().is_empty()
        || matches!(context.final_networks, Some(Err(_)))
        || OTHERS.iter().any(|key| pod.annotation(key).is_some())
    {
        return;
    }
    // A wrong prefix is reported.
    let reported = |held: &Held<'_>| devices.needs.iter().any(|need| need.namesake == Some(held.name));
    let held = held.filter(|held| !reported(held));
    for held in held.filter(|held| !devices.networks.iter().any(|network| may_be_over(network, held))) {
        report(context, held, devices.networks.is_empty(), findings);
    }
}

/// Whether a network gives an interface over the NIC of a device, or may do so.
fn may_be_over(network: &Attached<'_>, held: &Held<'_>) -> bool {
    let Some(known) = network.known else { return true };
    match (known.class.sharing, &known.fact.resource) {
        (None, _) => true,
        // Another rule checks which NIC it is over.
        (Some(Sharing::Shared), _) => held.fact.shared != Some(false),
        (Some(_), Some(resource)) => resource.matches(held.name),
        (Some(_), None) => true,
    }
}

fn report(context: &PodContext<'_>, held: &Held<'_>, bare: bool, findings: &mut Findings<'_>) {
    let snapshot = context.subject.snapshot;
    let mut over = snapshot.networks_over(held.fact).peekable();
    let is_known = over.peek().is_some();
    let own =
        over.find(|n| !context.subject.snapshot.is_for_tenant() || n.namespace == context.subject.namespace);
    let (severity, because, why) = if !is_known {
        (Severity::Warning, POD_NETWORK, " unless the default pod network uses the same NIC")
    } else if !bare {
        (Severity::Warning, OTHER_DEVICE, ": no network of the pod uses its NIC")
    } else if is_function(context, held) || is_ofed(snapshot, held.name) {
        (Severity::Error, "", ": no network of the pod uses its NIC")
    } else {
        (
            Severity::Warning,
            UNKNOWN_DRIVER,
            " if the driver is MLNX_OFED or DOCA: no network of the pod uses its NIC",
        )
    };
    let fix = match own {
        Some(network) => format!(
            "Add {}/{} to k8s.v1.cni.cncf.io/networks.",
            network.namespace,
            printable(&network.name, 63)
        ),
        None => "Add a network over this NIC to k8s.v1.cni.cncf.io/networks.".to_owned(),
    };
    findings.because(because).add_as(
        severity,
        held.path(),
        format!(
            "RoCE device {} ({}) has no GID{why}",
            printable(held.name, 63),
            held.fact.describe(context.subject.snapshot.is_for_tenant())
        ),
        fix,
    );
}

/// Whether a device is a VF. Its interface stays on the host without an address where no network attaches it, so there is
/// no GID to lend.
fn is_function(context: &PodContext<'_>, held: &Held<'_>) -> bool {
    let attaches_function = |network: &&Rendered| network.fact.class.sharing == Some(Sharing::ExclusiveVf);
    held.fact.server == Server::SriovOperator
        || context.subject.snapshot.networks_over(held.fact).any(|n| attaches_function(&n))
}
