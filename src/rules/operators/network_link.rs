//! FAB337, FAB344, FAB345: what a SriovNetwork writes into its functions.

use super::{IB_NETWORK, NETWORK};
use crate::rules::cel::{Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

fn number(context: &ObjectContext<'_>, pointer: &str) -> Option<i64> {
    context.value()?.pointer(pointer)?.as_i64()
}

/// FAB337.
pub(super) struct VlanFields;

static VLAN_FIELDS: Meta = Meta {
    id: "FAB337",
    severity: Severity::Error,
    summary: "SriovNetwork with vlanQoS or 802.1ad and no VLAN",
    what: "Looks for `vlanQoS` above 0, or `vlanProto: 802.1ad`, where `vlan` is absent or 0. The CRD's schema bounds each \
           field alone.",
    why: "sriov-cni refuses the configuration (`non-zero vlan id must be configured to set vlan QoS to a non-zero value`): \
          pods stay in ContainerCreating.",
    fix: "Write the VLAN, or take the field out. RoCE traffic classes need no VLAN: NCCL_IB_TC sets the DSCP.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
  vlanQoS: 3
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
  vlan: 100
  vlanQoS: 3
"#,
    sources: &["k8snetworkplumbingwg/sriov-cni pkg/config/config.go"],
    since: "0.1.0",
    kinds: &[NETWORK],
    also: &["SRN-006", "SRN-007"],
    waiver: Waiver::Allowed,
};

impl Rule for VlanFields {
    fn meta(&self) -> &'static Meta {
        &VLAN_FIELDS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if number(context, "/spec/vlan").is_some_and(|vlan| vlan != 0) {
            return;
        }
        if let Some(qos) = number(context, "/spec/vlanQoS").filter(|qos| *qos > 0) {
            findings.add(
                "/spec/vlanQoS",
                format!("vlanQoS {qos} without a vlan: sriov-cni refuses it, pods stay in ContainerCreating"),
                "write vlan, or take vlanQoS out",
            );
        }
        let proto = context.text("/spec/vlanProto").filter(|p| p.eq_ignore_ascii_case("802.1ad"));
        if let Some(proto) = proto {
            findings.add(
                "/spec/vlanProto",
                format!(
                    "vlanProto {proto} without a vlan: sriov-cni refuses it, pods stay in ContainerCreating"
                ),
                "write vlan, or take vlanProto out",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let alone = "variables.spec.?vlan.orValue(0) == 0";
        let qos = format!(
            "{alone} && type(variables.spec.?vlanQoS.orValue('')) == int && variables.spec.vlanQoS > 0"
        );
        let proto = format!(
            "{alone} && type(variables.spec.?vlanProto.orValue(0)) == string &&\n\
             variables.spec.vlanProto.lowerAscii() == '802.1ad'"
        );
        let checks = vec![
            Check::error(
                qos,
                "vlanQoS without a vlan: sriov-cni refuses it, pods stay in ContainerCreating; write vlan, or take \
                 vlanQoS out",
            ),
            Check::error(
                proto,
                "vlanProto 802.1ad without a vlan: sriov-cni refuses it, pods stay in ContainerCreating; write vlan, or \
                 take vlanProto out",
            ),
        ];
        Some(Cel { variables: Vec::new(), checks, beyond: None })
    }
}

/// FAB344.
pub(super) struct Rates;

static RATES: Meta = Meta {
    id: "FAB344",
    severity: Severity::Warning,
    summary: "SriovNetwork with a minTxRate above its maxTxRate",
    what: "Compares `spec.minTxRate` with `spec.maxTxRate`, where that is above 0, which means no limit.",
    why: "The driver refuses the rates, sriov-cni fails, and pods stay in ContainerCreating.",
    fix: "A minimum of at most the maximum. A rail for training has no limit at all.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
  minTxRate: 10000
  maxTxRate: 1000
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
  minTxRate: 1000
  maxTxRate: 10000
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-cni pkg/config/config.go",
        "k8snetworkplumbingwg/sriov-cni docs/configuration-reference.md",
    ],
    since: "0.1.0",
    kinds: &[NETWORK],
    also: &["SRN-008"],
    waiver: Waiver::Allowed,
};

impl Rule for Rates {
    fn meta(&self) -> &'static Meta {
        &RATES
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(least) = number(context, "/spec/minTxRate") else { return };
        let Some(most) = number(context, "/spec/maxTxRate").filter(|most| *most > 0) else { return };
        if least > most {
            findings.add(
                "/spec/minTxRate",
                format!("minTxRate {least} is above maxTxRate {most}: the driver refuses it"),
                "a minimum of at most the maximum",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let number = |field: &str| format!("type(variables.spec.?{field}.orValue('')) == int");
        let wrong = format!(
            "{} && {} &&\nvariables.spec.maxTxRate > 0 && variables.spec.minTxRate > variables.spec.maxTxRate",
            number("minTxRate"),
            number("maxTxRate")
        );
        let message = "minTxRate is above maxTxRate: the driver refuses it; a minimum of at most the maximum";
        Some(Cel { variables: Vec::new(), checks: vec![Check::warning(wrong, message)], beyond: None })
    }
}

/// FAB345.
pub(super) struct LinkDown;

static LINK_DOWN: Meta = Meta {
    id: "FAB345",
    severity: Severity::Warning,
    summary: "SriovNetwork or SriovIBNetwork with linkState disable",
    what: "Reads `spec.linkState`.",
    why: "The function's port stays down: NCCL finds no active port on it (`NET/IB : No device found` or a timeout) and \
          takes TCP, or fails.",
    fix: "`linkState: auto`, which follows the NIC's port, or `enable`.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
  linkState: disable
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
  linkState: auto
"#,
    sources: &["k8snetworkplumbingwg/sriov-cni docs/configuration-reference.md (link_state)"],
    since: "0.1.0",
    kinds: &[NETWORK, IB_NETWORK],
    also: &["SRN-016"],
    waiver: Waiver::Allowed,
};

impl Rule for LinkDown {
    fn meta(&self) -> &'static Meta {
        &LINK_DOWN
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if context.text("/spec/linkState") == Some("disable") {
            findings.add(
                "/spec/linkState",
                "linkState disable: the port of the function stays down, NCCL finds no active one",
                "linkState: auto",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let wrong = "variables.spec.?linkState.orValue('') == 'disable'";
        let message = "linkState disable: the port of the function stays down, NCCL finds no active one; linkState: auto";
        Some(Cel { variables: Vec::new(), checks: vec![Check::warning(wrong, message)], beyond: None })
    }
}
