//! FAB309: identifiers of NICs that the operator never meets.

use super::node_policy_cel::{node_policy, node_policy_cel};
use super::{NODE_POLICY, supported_nics};
use crate::rules::cel::{self, Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB309.
pub(super) struct DeviceId;

static DEVICE_ID: Meta = Meta {
    id: "FAB309",
    severity: Severity::Error,
    summary: "nicSelector with the identifier of a virtual function, or one that is written differently",
    what: "Compares `nicSelector.vendor` and `deviceID` with the identifiers that the operator supports. An error where \
           the deviceID is that of virtual functions, or where capitals or `0x` keep it from being equal: the operator \
           compares text. Other identifiers that are not in the list of operator 1.6 are information, since a cluster \
           may add its own (`supportedExtraNICs`).",
    why: "lspci shows a NIC and its functions side by side, and the functions' line is copied. The operator looks for \
          the NIC itself: it finds none, makes no function, and pods stay Pending.",
    fix: "The identifier of the physical function: for ConnectX-6 101b, ConnectX-6 Dx 101d, ConnectX-7 1021, BlueField-3 \
          a2dc.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", deviceID: "101c"}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", deviceID: "101b"}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator deployment/sriov-network-operator-chart/templates/configmap.yaml",
        "k8snetworkplumbingwg/sriov-network-operator#307",
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validateNicModel)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-015", "SRP-016"],
    waiver: Waiver::Allowed,
};

/// An identifier as the kernel writes it.
fn plain(id: &str) -> String {
    let id = id.trim().to_ascii_lowercase();
    id.strip_prefix("0x").map(str::to_owned).unwrap_or(id)
}

impl Rule for DeviceId {
    fn meta(&self) -> &'static Meta {
        &DEVICE_ID
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let nics = &policy.nics;
        if nics.net_filter.is_some() {
            return;
        }
        let given = [("vendor", nics.vendor.as_deref()), ("deviceID", nics.device_id.as_deref())];
        for (field, id) in given.into_iter().filter_map(|(field, id)| Some((field, id?))) {
            let plain = plain(id);
            if plain != id {
                findings.add(
                    format!("/spec/nicSelector/{field}"),
                    format!(
                        "{field} {} is compared as text with what the kernel says: it never equals {plain}",
                        printable(id, 40)
                    ),
                    format!("write {plain:?}"),
                );
            }
        }
        let vendor = nics.vendor.as_deref().map(plain);
        let Some(device) = nics.device_id.as_deref().map(plain) else { return };
        let known = || supported_nics::of(vendor.as_deref());
        if known().any(|m| m.physical == device) {
            return;
        }
        let mut physical: Vec<String> =
            known().filter(|m| m.function == device).map(|m| format!("{} {}", m.name, m.physical)).collect();
        physical.dedup();
        let path = "/spec/nicSelector/deviceID";
        if physical.is_empty() {
            findings.add_as(
                Severity::Info,
                path,
                format!(
                    "deviceID {} is not among the NICs of operator {}; it passes it over unless the cluster adds it",
                    printable(&device, 40),
                    supported_nics::OF
                ),
                "check supportedExtraNICs of the operator's chart",
            );
        } else {
            findings.add(
                path,
                format!("deviceID {device} is that of virtual functions: the operator looks for the NIC itself and finds none"),
                format!("the NIC's own: {}", physical.join(", ")),
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let odd = "variables.netFilter == '' &&\n\
                   [variables.vendor, variables.deviceID].exists(i, i != i.trim().lowerAscii() || i.startsWith('0x'))";
        // One identifier stands for NICs and functions alike with virtio and ENA.
        let physical = supported_nics::keys(|_| true);
        let functions = supported_nics::keys_of(|m| m.function, |_| true);
        let functions: Vec<String> = functions.into_iter().filter(|key| !physical.contains(key)).collect();
        let function = format!(
            "variables.netFilter == '' &&\n(variables.vendor + '/' + variables.deviceID).lowerAscii() in {}",
            cel::literals(&functions)
        );
        Some(node_policy_cel(vec![
            Check::error(
                node_policy(odd),
                "vendor and deviceID are compared as text with what the kernel says: one with capitals, blanks or 0x is \
                 never equal; write four hexadecimal digits in small letters",
            ),
            Check::error(
                node_policy(&function),
                "deviceID is that of virtual functions: the operator looks for the NIC itself and finds none; write the \
                 NIC's own, such as 101b, 101d, 1021 or a2dc",
            ),
        ]))
    }
}
