//! FAB365: unknown key in an object of the operators or of nv-ipam.

use crate::rules::finding::Severity;
use crate::rules::object_kinds::{
    CIDR_POOL, HOST_DEVICE_NETWORK, IP_POOL, IPOIB_NETWORK, MACVLAN_NETWORK, NETWORK_ATTACHMENT_DEFINITION,
    NIC_CLUSTER_POLICY, NIC_NODE_POLICY, OPERATOR_CONFIG, POOL_CONFIG,
};
use crate::rules::report_fields_crd_refuses::report_unknown_keys;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB365",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[
        NIC_CLUSTER_POLICY,
        NIC_NODE_POLICY,
        MACVLAN_NETWORK,
        IPOIB_NETWORK,
        HOST_DEVICE_NETWORK,
        IP_POOL,
        CIDR_POOL,
        POOL_CONFIG,
        OPERATOR_CONFIG,
        NETWORK_ATTACHMENT_DEFINITION,
    ],
    object: Some(report_unknown_keys),
    ..Rule::DEFAULT
};
