//! FAB220: RoCE device without a network over the same NIC.

use super::rdma_driver::{UNKNOWN_DRIVER, do_all_nodes_with_resource_have_ofed};
use crate::demands::answers_per_fact::PerFact;
use crate::facts::network_of_one_object::NetworkFromObject;
use crate::facts::{ResourceFact, ResourceProvider};
use crate::multus::{LinkLayer, ResourceName, Sharing};
use crate::rules::devices_of_pod::{HeldResource, NetworkOfPod};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB220",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, POD_NETWORK),
        (Severity::Warning, OTHER_DEVICE),
        (Severity::Warning, UNKNOWN_DRIVER),
    ],
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const POD_NETWORK: &str = "the default pod network may use the same NIC";
const OTHER_DEVICE: &str = "the pod has other networks, and may work without this device";

/// Annotations with which another program adds interfaces, or with which Multus replaces the cluster's network.
const OTHERS: [&str; 4] = [
    "networking.gke.io/interfaces",
    "k8s.volcengine.com/pod-networks",
    "v1.multus-cni.io/default-network",
    "cni.spidernet.io/rdma-resource-inject",
];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let claims = || pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    let roce = |held: &&HeldResource<'_>| {
        held.fact.rdma == Some(true)
            && held.fact.link == Some(LinkLayer::Ethernet)
            && held.fact.server != ResourceProvider::DeviceClass
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
    // FAB202 reports names with a wrong prefix.
    let reported: HashSet<&str> = devices.needs.iter().filter_map(|need| need.namesake).collect();
    let networks = DevicesOfNetworks::of(&devices.networks);
    // A pod may request one resource under thousands of names, if only the part after the slash is known.
    let mut around = PerFact::default();
    let held = held.filter(|held| !reported.contains(held.name) && !networks.may_be_over(held));
    for held in held {
        if findings.must_stop_reporting() {
            return;
        }
        let around = around.get(held.fact, || NetworksOverResource::of(context, held.fact));
        report(context, held, (around, devices.networks.is_empty()), findings);
    }
}

/// The devices that the pod's networks may be over.
#[derive(Default)]
struct DevicesOfNetworks<'a> {
    any: bool,
    shared: bool,
    names: HashSet<&'a str>,
    suffixes: HashSet<&'a str>,
}

impl<'a> DevicesOfNetworks<'a> {
    fn of(networks: &'a [NetworkOfPod<'a>]) -> Self {
        let mut found = Self::default();
        for network in networks {
            let known = network.known.and_then(|k| Some((k.class.sharing?, &k.fact.resource)));
            match known {
                // FAB227 checks which NIC a shared network uses.
                Some((Sharing::Shared, _)) => found.shared = true,
                Some((_, Some(ResourceName::Full(name)))) => drop(found.names.insert(name)),
                Some((_, Some(ResourceName::Suffix(name)))) => drop(found.suffixes.insert(name)),
                Some((_, None)) | None => found.any = true,
            }
        }
        found
    }

    /// Whether a network gives, or may give, an interface over the device's NIC.
    fn may_be_over(&self, held: &HeldResource<'_>) -> bool {
        self.any
            || self.shared && held.fact.shared != Some(false)
            || self.names.contains(held.name)
            || held.name.split_once('/').is_some_and(|(_, suffix)| self.suffixes.contains(suffix))
    }
}

/// The networks over the devices of a resource.
struct NetworksOverResource<'a> {
    /// Whether any network over the devices is known.
    is_known: bool,
    /// The first of these networks that the pod's author may know.
    own: Option<&'a NetworkFromObject>,
    /// Whether the devices are VFs. If no network attaches a VF, its interface stays on the host without an address, so
    /// the VF has no GID that the pod could use.
    is_function: bool,
}

impl<'a> NetworksOverResource<'a> {
    fn of(context: &'a PodContext<'_>, fact: &'a ResourceFact) -> Self {
        let (snapshot, namespace) = (context.subject.snapshot, context.subject.namespace);
        let mut found =
            Self { is_known: false, own: None, is_function: fact.server == ResourceProvider::SriovOperator };
        for network in snapshot.networks_attaching_resource(fact) {
            found.is_known = true;
            // Anyone may claim a namespace, but has to know the names of its networks.
            let may_be_named = !snapshot.is_not_for_operator()
                || network.namespace == namespace && !snapshot.is_for_anyone();
            if found.own.is_none() && may_be_named {
                found.own = Some(network);
            }
            found.is_function |= network.fact.class.sharing == Some(Sharing::ExclusiveVf);
            if found.own.is_some() && found.is_function {
                break;
            }
        }
        found
    }
}

/// The cause where it is certain.
const WITHOUT_NETWORK: &str = ": the pod has no network on this NIC";

fn report(
    context: &PodContext<'_>,
    held: &HeldResource<'_>,
    (around, bare): (&NetworksOverResource<'_>, bool),
    findings: &mut FindingsOfRule<'_>,
) {
    let snapshot = context.subject.snapshot;
    let (severity, because, why) = if !around.is_known {
        (Severity::Warning, POD_NETWORK, " unless the default pod network uses the same NIC")
    } else if !bare {
        (Severity::Warning, OTHER_DEVICE, WITHOUT_NETWORK)
    } else if around.is_function || do_all_nodes_with_resource_have_ofed(snapshot, held.name) {
        (Severity::Error, "", WITHOUT_NETWORK)
    } else {
        (
            Severity::Warning,
            UNKNOWN_DRIVER,
            " if the driver is MLNX_OFED or DOCA: the pod has no network on this NIC",
        )
    };
    let fix = match around.own {
        Some(network) => format!(
            "Add {}/{} to k8s.v1.cni.cncf.io/networks.",
            network.namespace,
            escaped_and_cut(&network.name, 63)
        ),
        None => "Add a network over this NIC to k8s.v1.cni.cncf.io/networks.".to_owned(),
    };
    findings.with_reason_for_lower_severity(because).add_with_severity(
        severity,
        held.pointer_of_first_holder(),
        format!(
            "RoCE device {} ({}) has no GID{why}",
            escaped_and_cut(held.name, 63),
            held.fact.describe_provider(context.subject.snapshot.is_not_for_operator())
        ),
        fix,
    );
}
