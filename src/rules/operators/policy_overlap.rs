//! FAB325, FAB328: two SriovNetworkNodePolicies on the virtual functions of one NIC.

use super::NODE_POLICY;
use super::nodes_in_common::{Common, common};
use super::other_policies::{Other, others};
use super::policy_nodes::requirements;
use crate::facts::NodePolicy;
use crate::facts::node_policy::{Functions, NicSelector};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::snapshot::Snapshot;

/// FAB325.
pub(super) struct PolicyOverlap;

static POLICY_OVERLAP: Meta = Meta {
    id: "FAB325",
    severity: Severity::Error,
    summary: "two SriovNetworkNodePolicies that take the same virtual functions of a NIC",
    what: "Compares the policy with every other known one whose nodes it can share: the same name in pfNames (also by other \
           names of the NIC, where a SriovNetworkNodeState lists them), or the same address in rootDevices, with ranges \
           of functions that meet. No range means all functions. An error where the two are certain to meet; a warning \
           where that depends on labels, or where a policy for fewer nodes with another priority takes the place of one \
           for more; also where selectors of different fields take the same NIC.",
    why: "The policy that is applied last (lower priority number, then name) takes the functions, and the group of the \
          other one is dropped as a whole: its resource has no devices on that node, and its pods stay Pending. The \
          operator's own webhook looks at the first pair of names only.",
    fix: "Give each policy a range of its own (`ens1f0np0#0-3` and `ens1f0np0#4-7`), or nodes of its own.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: training, namespace: sriov-network-operator}
spec:
  resourceName: training_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#0-4"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: storage, namespace: sriov-network-operator}
spec:
  resourceName: storage_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#4-7"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: training, namespace: sriov-network-operator}
spec:
  resourceName: training_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#0-3"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: storage, namespace: sriov-network-operator}
spec:
  resourceName: storage_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#4-7"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (mergeConfigs, ByPriority)",
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validatePfNames, validateRootDevices)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRX-001", "SRX-002", "SRX-007"],
    waiver: Waiver::Allowed,
};

/// Where two policies meet.
struct Meeting {
    /// Index of the entry below `nicSelector`, with its field.
    path: String,
    /// Name or address of the NIC, as the policy writes it.
    nic: String,
    /// Functions of either.
    ranges: [Option<(u32, u32)>; 2],
}

/// Whether a NIC could answer to both selectors, names of NICs aside.
fn compatible(a: &NicSelector, b: &NicSelector) -> bool {
    let same = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
    let addresses = a.addresses.is_empty()
        || b.addresses.is_empty()
        || a.addresses.iter().any(|address| b.addresses.contains(address));
    a.net_filter.is_none()
        && b.net_filter.is_none()
        && same(&a.vendor, &b.vendor)
        && same(&a.device_id, &b.device_id)
        && addresses
}

fn overlap(a: Option<(u32, u32)>, b: Option<(u32, u32)>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.0 <= b.1 && b.0 <= a.1)
}

/// An entry of pfNames: its index, the NIC's name and its range.
type Entry<'a> = (usize, &'a str, Option<(u32, u32)>);

fn names<'a>(policy: &'a NodePolicy, snapshot: &'a Snapshot) -> Vec<Entry<'a>> {
    let read = |(index, entry): (usize, &'a String)| {
        let functions = Functions::parse(entry)?;
        Some((index, snapshot.facts().interface_named(functions.interface), functions.range))
    };
    policy.nics.interfaces.iter().enumerate().filter_map(read).collect()
}

/// The first NIC that both policies name, with functions that both take. `ranges_matter` is off for what holds of a NIC
/// as a whole.
fn meeting(a: &NodePolicy, b: &NodePolicy, snapshot: &Snapshot, ranges_matter: bool) -> Option<Meeting> {
    if !compatible(&a.nics, &b.nics) {
        return None;
    }
    let (ours, theirs) = (names(a, snapshot), names(b, snapshot));
    if !ours.is_empty() && !theirs.is_empty() {
        return ours.iter().find_map(|(index, name, range)| {
            let same = theirs.iter().filter(|(_, other, _)| other == name);
            let mut ranges =
                same.map(|(_, _, other)| (a.functions(*range), b.functions(*other), *range, *other));
            let (_, _, ours, theirs) = ranges.find(|(x, y, _, _)| !ranges_matter || overlap(*x, *y))?;
            Some(Meeting {
                path: format!("/spec/nicSelector/pfNames/{index}"),
                nic: (*name).to_owned(),
                ranges: [ours, theirs],
            })
        });
    }
    // One of them takes NICs by address alone: all functions of them, whatever the other's names say.
    let (index, address) =
        a.nics.addresses.iter().enumerate().find(|(_, address)| b.nics.addresses.contains(address))?;
    let whole = |own: &[Entry<'_>]| own.first().and_then(|(_, _, range)| *range);
    let ranges = [whole(&ours), whole(&theirs)];
    let single = ours.len() <= 1 && theirs.len() <= 1;
    let meet = !ranges_matter || (single && overlap(a.functions(ranges[0]), b.functions(ranges[1])));
    meet.then(|| Meeting {
        path: format!("/spec/nicSelector/rootDevices/{index}"),
        nic: address.clone(),
        ranges,
    })
}

/// Whether a policy for fewer nodes takes the place of one for more, which is what priorities are for.
fn replaces(a: &NodePolicy, b: &NodePolicy, met: &Meeting) -> bool {
    met.ranges == [None, None] && a.priority != b.priority && a.nodes != b.nodes
}

fn wins(context: &ObjectContext<'_>, own: &NodePolicy, other: &Other<'_>) -> bool {
    // Sorted by falling priority, then by name; the last one wins (api/v1/helper.go, `ByPriority`).
    let (a, b) = (own.priority.unwrap_or(0), other.policy.priority.unwrap_or(0));
    a < b || (a == b && context.text("/metadata/name").unwrap_or_default() > other.name)
}

impl Rule for PolicyOverlap {
    fn meta(&self) -> &'static Meta {
        &POLICY_OVERLAP
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(own) = context.node_policy() else { return };
        if own.nics.is_empty() || own.num_vfs == Some(0) {
            return;
        }
        let nodes = requirements(own);
        for other in others(context) {
            let policy = other.policy;
            if policy.nics.is_empty() || policy.num_vfs == Some(0) {
                continue;
            }
            let met = meeting(own, policy, context.snapshot, true);
            let shared = common(&nodes, &requirements(policy), context.snapshot.nodes());
            if shared == Common::None {
                continue;
            }
            let lost = if wins(context, own, &other) { other.name } else { "this policy" };
            match met {
                Some(met) => {
                    let severity = match shared.certain() && !replaces(own, policy, &met) {
                        true => Severity::Error,
                        false => Severity::Warning,
                    };
                    findings.add_as(
                        severity,
                        met.path,
                        format!(
                            "functions of {} are also policy {}'s {}: {lost} loses its group of functions",
                            met.nic,
                            other.name,
                            shared.words()
                        ),
                        "give each policy a range of its own, or nodes of its own",
                    );
                }
                None => other_fields(context, own, &other, lost, findings),
            }
        }
    }
}

/// NICs that both take by different fields of their selectors, on nodes that are known.
fn other_fields(
    context: &ObjectContext<'_>,
    own: &NodePolicy,
    other: &Other<'_>,
    lost: &str,
    findings: &mut Findings<'_>,
) {
    let policy = other.policy;
    if !own.nics.interfaces.is_empty() && !policy.nics.interfaces.is_empty() {
        return;
    }
    let ranged = |policy: &NodePolicy| policy.nics.interfaces.iter().any(|name| name.contains('#'));
    if ranged(own) || ranged(policy) {
        return;
    }
    let theirs = requirements(policy);
    let (nodes, ours) = (context.snapshot.nodes(), requirements(own));
    let on_both =
        |node: &&str| nodes.selects(&ours, node) == Some(true) && nodes.selects(&theirs, node) == Some(true);
    let both = context.selected_nics().iter().find_map(|(_, set)| {
        let nic = set.interfaces().iter().find(|nic| own.nics.takes(nic) && policy.nics.takes(nic))?;
        Some((set.nodes().find(on_both)?, nic))
    });
    if let Some((node, nic)) = both {
        // Two numbers are an order that somebody has thought of.
        let severity = if own.priority == policy.priority { Severity::Warning } else { Severity::Info };
        findings.add_as(
            severity,
            "/spec/nicSelector",
            format!(
                "NIC {} of node {node} is also policy {}'s, by other fields of nicSelector: {lost} loses its functions there",
                nic.name, other.name
            ),
            "select NICs by pfNames in both",
        );
    }
}

/// FAB328.
pub(super) struct ExternallyManagedByHalf;

static EXTERNALLY_MANAGED_BY_HALF: Meta = Meta {
    id: "FAB328",
    severity: Severity::Error,
    summary: "two SriovNetworkNodePolicies of one NIC that differ in externallyManaged",
    what: "Compares the policy with every other known one that names the same NIC (pfNames or rootDevices) on nodes that \
           both select.",
    why: "Functions of a NIC are made by the operator or by somebody else, not by both. The policy that is applied last \
          decides for the whole NIC: the operator makes functions over those that are there, or makes none at all.",
    fix: "The same externallyManaged in all policies of the NIC.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: training, namespace: sriov-network-operator}
spec:
  resourceName: training_vf
  numVfs: 8
  priority: 90
  isRdma: true
  externallyManaged: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#0-3"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: storage, namespace: sriov-network-operator}
spec:
  resourceName: storage_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#4-7"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: training, namespace: sriov-network-operator}
spec:
  resourceName: training_vf
  numVfs: 8
  priority: 90
  isRdma: true
  externallyManaged: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#0-3"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: storage, namespace: sriov-network-operator}
spec:
  resourceName: storage_vf
  numVfs: 8
  priority: 90
  isRdma: true
  externallyManaged: true
  nicSelector: {vendor: "15b3", pfNames: ["ens1f0np0#4-7"]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validateExternallyManage)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRX-004"],
    waiver: Waiver::Allowed,
};

impl Rule for ExternallyManagedByHalf {
    fn meta(&self) -> &'static Meta {
        &EXTERNALLY_MANAGED_BY_HALF
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(own) = context.node_policy() else { return };
        let nodes = requirements(own);
        for other in others(context).filter(|o| o.policy.external != own.external) {
            let Some(met) = meeting(own, other.policy, context.snapshot, false) else { continue };
            let shared = common(&nodes, &requirements(other.policy), context.snapshot.nodes());
            if shared == Common::None {
                continue;
            }
            let severity = if shared.certain() { Severity::Error } else { Severity::Warning };
            findings.add_as(
                severity,
                "/spec/externallyManaged",
                format!(
                    "externallyManaged {} for NIC {}, and {} in policy {} {}",
                    own.external,
                    met.nic,
                    other.policy.external,
                    other.name,
                    shared.words()
                ),
                "the same in all policies of the NIC",
            );
        }
    }
}
