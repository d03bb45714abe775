//! FAB304, FAB313: which NICs a SriovNetworkNodePolicy takes.

use super::node_policy_cel::{node_policy, node_policy_cel};
use super::{NODE_POLICY, supported_nics};
use crate::rules::cel::{self, Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB304.
pub(super) struct NicSelectorFields;

static NIC_SELECTOR_FIELDS: Meta = Meta {
    id: "FAB304",
    severity: Severity::Error,
    summary: "SriovNetworkNodePolicy whose nicSelector takes no NIC, or mixes netFilter with other fields",
    what: "An error where `spec.nicSelector` is there and has none of vendor, deviceID, pfNames, rootDevices and netFilter. A warning \
           where netFilter stands beside one of the others, beside eSwitchMode or bridge, or with a linkType that is not \
           Ethernet: the operator's webhook refuses that, and nobody does where it is off.",
    why: "A selector without a condition matches nothing, so no virtual function is made and pods stay Pending with \
          `Insufficient openshift.io/…`. netFilter is for machines in a cloud, whose NICs the operator does not set up.",
    fix: "Name the NICs: pfNames for single ports, rootDevices for PCI addresses. Leave netFilter alone.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {}
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
  nicSelector: {pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (IsEmpty)",
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-007", "SRP-008"],
    waiver: Waiver::Allowed,
};

impl Rule for NicSelectorFields {
    fn meta(&self) -> &'static Meta {
        &NIC_SELECTOR_FIELDS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let nics = &policy.nics;
        // Without the field the schema refuses the policy.
        let given =
            |pointer: &str| context.value().and_then(|v| v.pointer(pointer)).is_some_and(|v| !v.is_null());
        if nics.is_empty() && given("/spec/nicSelector") {
            findings.add(
                "/spec/nicSelector",
                "nicSelector has no condition: it takes no NIC, and no function is made",
                "name the NICs with pfNames or rootDevices",
            );
        }
        if nics.net_filter.is_none() {
            return;
        }
        let beside = [
            (nics.vendor.is_some(), "vendor"),
            (nics.device_id.is_some(), "deviceID"),
            (!nics.interfaces.is_empty(), "pfNames"),
            (!nics.addresses.is_empty(), "rootDevices"),
            (given("/spec/eSwitchMode"), "eSwitchMode"),
            (super::has_bridge(context), "bridge"),
            (policy.link == Some(crate::multus::LinkLayer::InfiniBand), "linkType ib"),
        ];
        for (_, field) in beside.iter().filter(|(set, _)| *set) {
            findings.add_as(
                Severity::Warning,
                "/spec/nicSelector/netFilter",
                format!("netFilter beside {field}: the operator's webhook refuses the policy"),
                format!("take out netFilter or {field}"),
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let nothing = "has(variables.spec.nicSelector) && variables.spec.nicSelector != null && !variables.byName &&\n\
                       variables.vendor == '' && variables.deviceID == '' && variables.netFilter == ''";
        let beside = "variables.netFilter != '' && (variables.vendor != '' || variables.deviceID != '' || variables.byName ||\n\
                      has(variables.spec.eSwitchMode) || variables.bridge || variables.infiniband)";
        let nothing = Check::error(
            node_policy(nothing),
            "nicSelector has no condition: it takes no NIC, and no function is made; name the NICs with pfNames or \
             rootDevices",
        );
        let beside = Check::warning(
            node_policy(beside),
            "netFilter beside other fields of nicSelector, eSwitchMode, bridge or linkType ib: the operator's webhook \
             refuses the policy; take out netFilter, or the others",
        );
        Some(node_policy_cel(vec![nothing, beside]))
    }
}

/// FAB313.
pub(super) struct WideNicSelector;

static WIDE_NIC_SELECTOR: Meta = Meta {
    id: "FAB313",
    severity: Severity::Warning,
    summary: "SriovNetworkNodePolicy that takes NICs by vendor or model alone",
    what: "Looks for a nicSelector without pfNames, rootDevices and netFilter: one with a vendor alone, or with a deviceID \
           whose virtual functions have the same identifier as those of other models.",
    why: "The device plugin tells functions apart by the identifier of the function, not of the NIC: ConnectX-6 Dx, \
          ConnectX-7, ConnectX-8 and BlueField-3 all have 101e. So the pool also takes functions of storage and \
          management NICs, and a rail of a training job may land on one of them.",
    fix: "Name the ports with pfNames, or their PCI addresses with rootDevices.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", deviceID: "1021"}
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
  nicSelector: {vendor: "15b3", deviceID: "1021", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator controllers/sriovnetworknodepolicy_controller.go (createDevicePluginResource)",
        "k8snetworkplumbingwg/sriov-network-operator deployment/sriov-network-operator-chart/templates/configmap.yaml",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-020"],
    waiver: Waiver::Allowed,
};

impl Rule for WideNicSelector {
    fn meta(&self) -> &'static Meta {
        &WIDE_NIC_SELECTOR
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let nics = &policy.nics;
        if !nics.interfaces.is_empty() || !nics.addresses.is_empty() || nics.net_filter.is_some() {
            return;
        }
        let vendor = nics.vendor.as_deref();
        let fix = "add pfNames or rootDevices";
        match (&nics.device_id, vendor) {
            (None, Some(vendor)) => findings.add(
                "/spec/nicSelector",
                format!("nicSelector names vendor {vendor} alone: the pool takes every NIC of that vendor, storage and management too"),
                fix,
            ),
            (Some(device), _) => {
                let Some(own) = supported_nics::of(vendor).find(|m| m.physical == device) else { return };
                let shares = |m: &&supported_nics::Model| shares_function(own, m);
                let others: Vec<&str> = supported_nics::of(Some(own.vendor)).filter(shares).map(|m| m.name).collect();
                let Some(other) = others.last() else { return };
                findings.add(
                    "/spec/nicSelector",
                    format!(
                        "nicSelector names model {device} alone: functions of {} are told by {}, as are those of {other} and others; the pool may take them",
                        own.name, own.function
                    ),
                    fix,
                );
            }
            (None, None) => {}
        }
    }
    fn cel(&self) -> Option<Cel> {
        let unnamed = "!variables.byName && variables.netFilter == ''";
        let vendor = format!("{unnamed} && variables.deviceID == '' && variables.vendor != ''");
        let model = format!(
            "{unnamed} && variables.deviceID != '' &&\nvariables.vendor + '/' + variables.deviceID in {}",
            cel::literals(&supported_nics::keys(|own| {
                supported_nics::MODELS.iter().any(|m| m.vendor == own.vendor && shares_function(own, m))
            }))
        );
        Some(node_policy_cel(vec![
            Check::warning(
                node_policy(&vendor),
                "nicSelector names a vendor alone: the pool takes every NIC of that vendor, storage and management too; \
                 add pfNames or rootDevices",
            ),
            Check::warning(
                node_policy(&model),
                "nicSelector names a model alone whose functions are told by the same identifier as those of other \
                 models: the pool may take them; add pfNames or rootDevices",
            ),
        ]))
    }
}

/// Whether functions of two models of a vendor cannot be told apart.
fn shares_function(own: &supported_nics::Model, other: &supported_nics::Model) -> bool {
    other.function == own.function && other.name != own.name
}
